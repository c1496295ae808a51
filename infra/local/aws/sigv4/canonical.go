package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// canonicalRequest renders r as the signer had to render it, restricted to the headers that sig lists.
func canonicalRequest(r *http.Request, query url.Values, sig *signature) string {
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		path = r.URL.Path
	}
	var headers strings.Builder
	for _, name := range sig.signedHeaders {
		headers.WriteString(name + ":" + canonicalHeader(r, name) + "\n")
	}
	return strings.Join([]string{
		r.Method,
		strings.ReplaceAll(escape(path), "%2F", "/"), // S3 encodes the path once and leaves it unnormalised
		canonicalQuery(query),
		headers.String(),
		strings.Join(sig.signedHeaders, ";"),
		sig.payload,
	}, "\n")
}

// canonicalHeader joins the values of one header and squeezes their spaces. Two headers live outside http.Header.
func canonicalHeader(r *http.Request, name string) string {
	switch values := r.Header.Values(name); {
	case name == "host":
		return host(r)
	case name == "content-length" && len(values) == 0:
		return strconv.FormatInt(r.ContentLength, 10)
	default:
		squeezed := make([]string, len(values))
		for i, value := range values {
			squeezed[i] = strings.Join(strings.Fields(value), " ")
		}
		return strings.Join(squeezed, ",")
	}
}

// canonicalQuery sorts the parameters by name, then by value. The signature cannot sign itself, so it is left out.
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

// escape is RFC 3986 percent-encoding: net/url's encoders leave other characters alone, and write a space as "+".
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// compute derives the day's signing key from the secret and signs the canonical request with it.
func (s *signature) compute(canonical, secret string) string {
	digest := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{algorithm, s.date, s.scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(s.scope, "/") {
		key = sign(key, part)
	}
	return hex.EncodeToString(sign(key, toSign))
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
