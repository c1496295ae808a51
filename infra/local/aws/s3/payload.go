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
	"hash/crc32"
	"io"
	"strings"
)

const (
	maxBody      = 5 << 30 // maximum body size of one PutObject or UploadPart, in bytes
	maxDocument  = 4 << 20 // maximum size of an XML body; the largest is a CompleteMultipartUpload with 10,000 parts
	unsignedBody = "UNSIGNED-PAYLOAD"
)

// payload is a request body being received, with the size and hashes that its headers declare.
type payload struct {
	src    io.Reader
	size   int64
	md5    hash.Hash
	sha256 hash.Hash // hash of the payload; nil if the payload is not signed
	sum    hash.Hash32

	wantMD5    string // Content-MD5, or "" if absent
	wantSHA256 string // declared hash in hex, or "" if the payload is not signed
	declared   crc
}

// openPayload validates the headers that describe r's body, without reading it.
func openPayload(r *request) (*payload, error) {
	//nolint:gosec // G401: see the import
	p := &payload{src: r.body, size: r.ContentLength, md5: md5.New(), sum: crc32.NewIEEE()}
	if err := p.readContentHash(r.Header.Get("X-Amz-Content-Sha256")); err != nil {
		return nil, err
	}
	if p.size < 0 {
		return nil, refuse("MissingContentLength", "you must provide the Content-Length HTTP header")
	}
	if p.size > maxBody {
		return nil, refuse("EntityTooLarge", "your proposed upload exceeds the maximum allowed size of %d bytes",
			int64(maxBody))
	}
	if values, sent := r.Header["Content-Md5"]; sent {
		p.wantMD5 = strings.Join(values, ",")
		if raw, err := base64.StdEncoding.DecodeString(p.wantMD5); err != nil || len(raw) != md5.Size {
			return nil, refuse("InvalidDigest", "the Content-MD5 you specified is not valid").with("Content-MD5", p.wantMD5)
		}
	}
	var err error
	p.declared, err = declaredCRC(r.Header)
	return p, err
}

// readContentHash parses x-amz-content-sha256. A presigned request may omit this header. Chunked bodies are not
// supported: SDKs send them only over TLS, and the embedded AWS uses plain HTTP.
func (p *payload) readContentHash(value string) error {
	switch {
	case value == "" || value == unsignedBody:
	case strings.HasPrefix(value, "STREAMING-"):
		return refuse("NotImplemented", "the embedded S3 does not read %s", value)
	default:
		if raw, err := hex.DecodeString(value); err != nil || len(raw) != sha256.Size {
			return refuse("InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a SHA-256 in hex")
		}
		p.wantSHA256, p.sha256 = strings.ToLower(value), sha256.New()
	}
	return nil
}

// copyTo streams the body into dst and then verifies its size and hashes.
func (p *payload) copyTo(dst io.Writer) error {
	writers := []io.Writer{dst, p.md5, p.sum}
	if p.sha256 != nil {
		writers = append(writers, p.sha256)
	}
	copied, err := io.Copy(io.MultiWriter(writers...), io.LimitReader(p.src, p.size+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && copied != p.size:
		return refuse("IncompleteBody", "the body is not as long as its headers say")
	case err != nil:
		return err
	}
	return p.verify()
}

func (p *payload) verify() error {
	if p.wantSHA256 != "" && hex.EncodeToString(p.sha256.Sum(nil)) != p.wantSHA256 {
		return refuse("XAmzContentSHA256Mismatch",
			"the provided 'x-amz-content-sha256' header does not match what was computed")
	}
	if p.wantMD5 != "" && encodeSum(p.md5) != p.wantMD5 {
		return refuse("BadDigest", "the Content-MD5 you specified did not match what we received").
			with("ExpectedDigest", p.wantMD5).with("CalculatedDigest", encodeSum(p.md5))
	}
	if p.declared != "" && encodeSum(p.sum) != string(p.declared) {
		return refuse("BadDigest", "the %s you specified did not match the calculated checksum", crcName)
	}
	return nil
}

func readXML(r *request, v any) error {
	p, err := openPayload(r)
	if err != nil {
		return err
	}
	if p.size > maxDocument {
		return refuse("MaxMessageLengthExceeded", "your request was too big")
	}
	var body bytes.Buffer
	if err := p.copyTo(&body); err != nil {
		return err
	}
	if err := xml.Unmarshal(body.Bytes(), v); err != nil {
		return errMalformedXML()
	}
	return nil
}
