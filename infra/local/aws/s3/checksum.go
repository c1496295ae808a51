package s3

import (
	"encoding/base64"
	"hash"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
)

// crc is a CRC32 that S3 verified, in base64; that of an upload ends in "-" and the number of its parts. "" is none.
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
	case strings.Contains(string(c), "-"): // no base64 character of the standard alphabet
		return composite
	default:
		return "FULL_OBJECT"
	}
}

// algorithm names what c is, "" for none.
func (c crc) algorithm() string {
	if c == "" {
		return ""
	}
	return crcName
}

// setHeaders announces the checksum of an object or a part.
func (c crc) setHeaders(h http.Header) {
	if c != "" {
		h.Set(crcHeader, string(c))
		h.Set(crcKind, c.kind())
	}
}

// declaredCRC finds the checksum that the headers promise.
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

// checkAlgorithm takes the one checksum that the embedded S3 has; "" is none.
func checkAlgorithm(name string) error {
	if name != "" && !strings.EqualFold(name, crcName) {
		return refuse("NotImplemented", "the embedded S3 has no checksum but %s", crcName)
	}
	return nil
}

// compositeCRC is the checksum of the parts' raw checksums, in the order of the parts.
func compositeCRC(parts []content) crc {
	sum := crc32.NewIEEE()
	for _, part := range parts {
		raw, err := base64.StdEncoding.DecodeString(string(part.CRC))
		if err == nil { // we made the value ourselves
			_, _ = sum.Write(raw) // never fails
		}
	}
	return crc(encodeSum(sum) + "-" + strconv.Itoa(len(parts)))
}

func encodeSum(h hash.Hash) string { return base64.StdEncoding.EncodeToString(h.Sum(nil)) }
