package sigv4

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// canonicalRequest returns the canonical form of r, with only the headers listed in sig.
func canonicalRequest(r *http.Request, query url.Values, sig *signature) string {
	var out strings.Builder
	out.Grow(1024)
	out.WriteString(r.Method + "\n" + canonicalPath(r, sig.service) + "\n" + canonicalQuery(query) + "\n")
	for _, name := range sig.signedHeaders {
		for _, piece := range []string{name, ":", canonicalHeader(r, name), "\n"} {
			out.WriteString(piece)
		}
	}
	out.WriteString("\n" + strings.Join(sig.signedHeaders, ";") + "\n" + sig.payload)
	return out.String()
}

// canonicalPath returns the path in the canonical form that is signed. For S3, the path is encoded once. For other
// services, the path is normalised as sent and then encoded a second time ("Create a canonical request" in the IAM user
// guide).
func canonicalPath(r *http.Request, service string) string {
	sent := r.URL.EscapedPath()
	if service != serviceS3 {
		clean := path.Clean("/" + sent)
		if strings.HasSuffix(sent, "/") && clean != "/" {
			clean += "/"
		}
		return escapePath(clean)
	}
	decoded, err := url.PathUnescape(sent)
	if err != nil {
		decoded = r.URL.Path
	}
	return escapePath(decoded)
}

func escapePath(s string) string { return strings.ReplaceAll(escape(s), "%2F", "/") }

// canonicalHeader joins a header's values and collapses spaces. Host and Content-Length may be missing from
// http.Header, so they are read from the request.
func canonicalHeader(r *http.Request, name string) string {
	switch values := r.Header.Values(name); {
	case name == "host":
		return host(r)
	case name == "content-length" && len(values) == 0:
		return strconv.FormatInt(r.ContentLength, 10)
	case len(values) == 1 && !strings.Contains(values[0], "  "):
		return strings.TrimSpace(values[0])
	default:
		squeezed := make([]string, len(values))
		for i, value := range values {
			squeezed[i] = strings.Join(strings.Fields(value), " ")
		}
		return strings.Join(squeezed, ",")
	}
}

// canonicalQuery sorts the parameters by name, then by value, and omits the signature, which can't cover itself.
func canonicalQuery(query url.Values) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if name == "X-Amz-Signature" {
			continue
		}
		for _, value := range slices.Sorted(slices.Values(query[name])) {
			pairs = append(pairs, escape(name)+"="+escape(value))
		}
	}
	return strings.Join(pairs, "&")
}

// escape percent-encodes s according to RFC 3986. net/url has no such encoder: url.QueryEscape writes a space as "+",
// and url.PathEscape leaves some reserved characters unescaped.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// host returns the Host of a received request. If Host is empty, as in an SDK client's in-process request, host returns
// the URL's host.
func host(r *http.Request) string { return cmp.Or(r.Host, r.URL.Host) }

// stringToSign returns the text to be signed with the signing key.
func (s *signature) stringToSign(canonical string) string {
	digest := sha256.Sum256([]byte(canonical))
	return algorithm + "\n" + s.date + "\n" + s.scope + "\n" + hex.EncodeToString(digest[:])
}

// body is a request body that has been read for hashing and can be read again.
type body struct {
	bytes.Reader

	content []byte
}

// Bytes returns the complete body, so that middleware need not read and restore it.
func (b *body) Bytes() []byte { return b.content }

// Close implements io.Closer.
func (b *body) Close() error { return nil }

// hashBody reads r's body, makes it readable again, and returns its SHA-256 in hex.
func hashBody(r *http.Request) (string, error) {
	var read bytes.Buffer
	if r.Body != nil {
		read.Grow(int(min(max(r.ContentLength, 0), 1<<20)) + bytes.MinRead)
		if _, err := io.Copy(&read, r.Body); err != nil {
			return "", fmt.Errorf("read the body: %w", err)
		}
	}
	kept := &body{content: read.Bytes()}
	kept.Reset(kept.content)
	r.Body = kept
	digest := sha256.Sum256(kept.content)
	return hex.EncodeToString(digest[:]), nil
}
