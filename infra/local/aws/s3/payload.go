package s3

import (
	"bytes"
	"crypto/md5" //nolint:gosec // G501: ETag and Content-MD5 are defined as MD5
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	maxBody      = 5 << 30 // one PutObject or UploadPart
	maxDocument  = 4 << 20 // an XML body; the largest is a CompleteMultipartUpload of 10,000 parts
	chunkedBody  = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
	unsignedBody = "UNSIGNED-PAYLOAD"
)

// payload is a request body on its way in, together with everything its headers promise about it.
type payload struct {
	src    io.Reader
	chunks *chunkReader // src, when the body is aws-chunked
	size   int64
	md5    hash.Hash
	sha256 hash.Hash // nil unless the payload is signed
	sum    hash.Hash // of the declared algorithm; nil without one

	wantMD5    string // Content-MD5, "" without
	wantSHA256 string // hex, "" when the payload is not signed
	declared   checksum
	computed   bool // the checksum is ours, and nobody promised it
}

// openPayload checks what the headers of r promise about its body. Nothing of the body is read yet.
func openPayload(r *request) (*payload, error) {
	p, err := openDocument(r)
	if err != nil {
		return nil, err
	}
	if p.declared, err = declaredChecksum(r.Header); err != nil {
		return nil, err
	}
	p.sum = p.declared.Algorithm.newHash()
	return p, nil
}

// openDocument is openPayload for a body that x-amz-checksum-* headers do not speak of.
func openDocument(r *request) (*payload, error) {
	p := &payload{src: r.body, size: r.ContentLength, md5: md5.New()} //nolint:gosec // G401: see the import
	if err := p.readContentHash(r); err != nil {
		return nil, err
	}
	if p.size < 0 {
		return nil, refuse("MissingContentLength", "you must provide the Content-Length HTTP header")
	}
	if p.size > maxBody {
		return nil, refuse("EntityTooLarge", "your proposed upload exceeds the maximum allowed size of %d bytes", int64(maxBody))
	}
	if values, sent := r.Header["Content-Md5"]; sent {
		p.wantMD5 = strings.Join(values, ",")
		if raw, err := base64.StdEncoding.DecodeString(p.wantMD5); err != nil || len(raw) != md5.Size {
			return nil, refuse("InvalidDigest", "the Content-MD5 you specified is not valid").with("Content-MD5", p.wantMD5)
		}
	}
	return p, nil
}

// readContentHash understands x-amz-content-sha256. A presigned request may come without it.
func (p *payload) readContentHash(r *request) error {
	switch value := r.Header.Get("X-Amz-Content-Sha256"); {
	case value == "" || value == unsignedBody:
	case value == chunkedBody:
		size, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
		if err != nil || size < 0 {
			return refuse("MissingContentLength", "you must provide the x-amz-decoded-content-length HTTP header")
		}
		p.chunks = newChunkReader(r.body)
		p.src, p.size = p.chunks, size
	case strings.HasPrefix(value, "STREAMING-"):
		return refuse("NotImplemented", "the embedded S3 does not verify %s", value)
	default:
		if raw, err := hex.DecodeString(value); err != nil || len(raw) != sha256.Size {
			return refuse("InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, %s or a SHA-256 in hex", chunkedBody)
		}
		p.wantSHA256, p.sha256 = strings.ToLower(value), sha256.New()
	}
	return nil
}

// requireDigest refuses a document that nothing protects.
func requireDigest(h http.Header) error {
	declared, err := declaredChecksum(h)
	if err != nil {
		return err
	}
	if _, sent := h["Content-Md5"]; !sent && declared.Algorithm == "" {
		return refuse("InvalidRequest", "missing required header for this request: Content-MD5 or x-amz-checksum-*")
	}
	return nil
}

// declaredChecksum finds the one x-amz-checksum-* header, or the announcement of one in the trailer, which leaves the
// value open.
func declaredChecksum(h http.Header) (checksum, error) {
	var declared checksum
	trailer := h.Get("X-Amz-Trailer")
	for _, a := range algorithms() {
		value := h.Get(a.header())
		if value == "" && !strings.EqualFold(trailer, a.header()) {
			continue
		}
		if declared.Algorithm != "" {
			return checksum{}, refuse("InvalidRequest", "expecting a single x-amz-checksum- header")
		}
		if raw, err := base64.StdEncoding.DecodeString(value); value != "" && (err != nil || len(raw) != a.newHash().Size()) {
			return checksum{}, refuse("InvalidRequest", "value for %s header is invalid", strings.ToLower(a.header()))
		}
		declared = checksum{Algorithm: a, Value: value}
	}
	if trailer != "" && declared.Algorithm == "" {
		return checksum{}, refuse("InvalidRequest", "the value specified in the x-amz-trailer header is not supported")
	}
	return declared, checkAnnounced(h, declared)
}

// checkAnnounced holds the checksum against x-amz-sdk-checksum-algorithm, with which SDKs announce it.
func checkAnnounced(h http.Header, declared checksum) error {
	announced, err := parseAlgorithm(h.Get("X-Amz-Sdk-Checksum-Algorithm"))
	switch {
	case err != nil:
		return err
	case announced != "" && declared.Algorithm == "":
		return refuse("InvalidRequest", "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or "+
			"x-amz-trailer headers were found")
	case announced != "" && announced != declared.Algorithm:
		return refuse("BadDigest", "the checksum is not of the algorithm that x-amz-sdk-checksum-algorithm names")
	default:
		return nil
	}
}

// copyTo streams the body into dst and then holds it against its promises.
func (p *payload) copyTo(dst io.Writer) error {
	writers := []io.Writer{dst, p.md5}
	for _, sum := range []hash.Hash{p.sha256, p.sum} {
		if sum != nil {
			writers = append(writers, sum)
		}
	}
	copied, err := io.Copy(io.MultiWriter(writers...), io.LimitReader(p.src, p.size+1))
	switch {
	case errors.Is(err, errChunks), errors.Is(err, io.ErrUnexpectedEOF), err == nil && copied != p.size:
		return refuse("IncompleteBody", "the body is not as long or not as framed as its headers say")
	case err != nil:
		return err
	}
	return p.verify()
}

func (p *payload) verify() error {
	if p.wantSHA256 != "" && hex.EncodeToString(p.sha256.Sum(nil)) != p.wantSHA256 {
		return refuse("XAmzContentSHA256Mismatch", "the provided 'x-amz-content-sha256' header does not match what was computed")
	}
	if p.wantMD5 != "" && encodeSum(p.md5) != p.wantMD5 {
		return refuse("BadDigest", "the Content-MD5 you specified did not match what we received").
			with("ExpectedDigest", p.wantMD5).with("CalculatedDigest", encodeSum(p.md5))
	}
	if p.sum == nil {
		return nil
	}
	if p.computed {
		p.declared.Value = encodeSum(p.sum)
		return nil
	}
	if p.declared.Value == "" && p.chunks != nil {
		p.declared.Value = p.chunks.trailer.Get(p.declared.Algorithm.header())
	}
	if p.declared.Value == "" {
		return refuse("MalformedTrailerError", "the announced trailer %s is missing", p.declared.Algorithm.header())
	}
	if encodeSum(p.sum) != p.declared.Value {
		return refuse("BadDigest", "the %s you specified did not match the calculated checksum", p.declared.Algorithm)
	}
	return nil
}

// readXML verifies the body of a configuring call and decodes it into v.
func readXML(r *request, v any) error {
	p, err := openPayload(r)
	if err != nil {
		return err
	}
	return p.decodeXML(v)
}

func (p *payload) decodeXML(v any) error {
	body, err := p.readAll()
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(body, v); err != nil { //nolint:gosec // G709: into our own structs; encoding/xml expands no entities
		return errMalformedXML()
	}
	return nil
}

func (p *payload) readAll() ([]byte, error) {
	if p.size > maxDocument {
		return nil, refuse("MaxMessageLengthExceeded", "your request was too big")
	}
	var body bytes.Buffer
	if err := p.copyTo(&body); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}
