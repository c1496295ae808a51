package s3

import (
	"encoding/base64"
	"hash"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
)

// crc is a verified CRC32 in base64. A multipart upload's checksum ends in "-" and the number of parts. An empty crc
// means no checksum.
type crc string

const (
	crcName   = "CRC32"
	crcHeader = "X-Amz-Checksum-Crc32"
	crcKind   = "X-Amz-Checksum-Type"
	composite = "COMPOSITE"
)

func (c crc) kind() string {
	switch {
	case c == "":
		return ""
	case strings.Contains(string(c), "-"): // "-" is not in the standard base64 alphabet
		return composite
	default:
		return "FULL_OBJECT"
	}
}

func (c crc) algorithm() string {
	if c == "" {
		return ""
	}
	return crcName
}

func (c crc) setHeaders(h http.Header) {
	if c != "" {
		h.Set(crcHeader, string(c))
		h.Set(crcKind, c.kind())
	}
}

// declaredCRC returns the CRC32 that the headers declare, or an empty crc if they declare none.
func declaredCRC(h http.Header) (crc, error) {
	value := h.Get(crcHeader)
	if raw, err := base64.StdEncoding.DecodeString(value); value != "" && (err != nil || len(raw) != crc32.Size) {
		return "", refuse("InvalidRequest", "value for %s header is invalid", strings.ToLower(crcHeader))
	}
	announced := h.Get("X-Amz-Sdk-Checksum-Algorithm")
	if err := checkAlgorithm(announced); err != nil {
		return "", err
	}
	if announced != "" && value == "" {
		return "", refuse("InvalidRequest", "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* "+
			"headers were found")
	}
	return crc(value), nil
}

// checkAlgorithm accepts CRC32, which is the only supported algorithm, and an empty name.
func checkAlgorithm(name string) error {
	if name != "" && !strings.EqualFold(name, crcName) {
		return refuse("NotImplemented", "the embedded S3 has no checksum but %s", crcName)
	}
	return nil
}

// compositeCRC concatenates the parts' raw checksums and returns their checksum.
func compositeCRC(parts []content) crc {
	sum := crc32.NewIEEE()
	for _, part := range parts {
		raw, err := base64.StdEncoding.DecodeString(string(part.CRC))
		if err == nil { // always valid because this package created the value
			_, _ = sum.Write(raw) // a hash's Write never fails
		}
	}
	return crc(encodeSum(sum) + "-" + strconv.Itoa(len(parts)))
}

func encodeSum(h hash.Hash) string { return base64.StdEncoding.EncodeToString(h.Sum(nil)) }
