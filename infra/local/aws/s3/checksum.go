package s3

import (
	"crypto/sha1" //nolint:gosec // G505: a checksum that S3 offers, not a protection
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strconv"
	"strings"
)

// nvme is the reversed polynomial of CRC-64/NVME, which the SDKs use besides CRC-32.
const nvme = 0x9a6c_9329_ac4b_c9b5

// algorithm is one of S3's additional checksums, as S3 spells it. The zero value means none.
type algorithm string

const (
	crc32IEEE algorithm = "CRC32"
	crc32C    algorithm = "CRC32C"
	crc64NVME algorithm = "CRC64NVME"
	sha1Sum   algorithm = "SHA1"
	sha256Sum algorithm = "SHA256"
)

func algorithms() []algorithm {
	return []algorithm{crc32IEEE, crc32C, crc64NVME, sha1Sum, sha256Sum}
}

// parseAlgorithm reads an x-amz-checksum-algorithm header; "" gives none.
func parseAlgorithm(name string) (algorithm, error) {
	for _, a := range algorithms() {
		if strings.EqualFold(name, string(a)) {
			return a, nil
		}
	}
	if name != "" {
		return "", refuse("InvalidRequest", "checksum algorithm provided is unsupported: %s", name)
	}
	return "", nil
}

// newHash is nil for no algorithm.
func (a algorithm) newHash() hash.Hash {
	switch a {
	case crc32IEEE:
		return crc32.NewIEEE()
	case crc32C:
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case crc64NVME:
		return crc64.New(crc64.MakeTable(nvme))
	case sha1Sum:
		return sha1.New() //nolint:gosec // G401: as above
	case sha256Sum:
		return sha256.New()
	default:
		return nil
	}
}

// header is the canonical name of the header that carries the checksum.
func (a algorithm) header() string {
	return http.CanonicalHeaderKey("X-Amz-Checksum-" + string(a))
}

// canBeWhole tells whether the checksum of a whole object is defined for uploads in parts: only CRCs can be combined.
func (a algorithm) canBeWhole() bool {
	return a == crc32IEEE || a == crc32C || a == crc64NVME
}

// checksum is a value that S3 verified, base64 as in the headers; a composite one ends in "-" and the part count.
type checksum struct {
	Algorithm algorithm `json:"algorithm"`
	Value     string    `json:"value"`
}

func (c checksum) kind() string {
	if strings.Contains(c.Value, "-") { // no base64 character of the standard alphabet
		return "COMPOSITE"
	}
	return "FULL_OBJECT"
}

// setHeaders announces the checksum of an object or a part.
func (c checksum) setHeaders(h http.Header) {
	if c.Algorithm != "" {
		h.Set(c.Algorithm.header(), c.Value)
		h.Set("X-Amz-Checksum-Type", c.kind())
	}
}

// compositeChecksum is the checksum of the parts' raw checksums, in the order of the parts.
func compositeChecksum(a algorithm, parts []content) checksum {
	sum := a.newHash()
	for _, part := range parts {
		raw, err := base64.StdEncoding.DecodeString(part.Checksum.Value)
		if err == nil { // we made the value ourselves
			sum.Write(raw)
		}
	}
	return checksum{Algorithm: a, Value: encodeSum(sum) + "-" + strconv.Itoa(len(parts))}
}

func encodeSum(h hash.Hash) string { return base64.StdEncoding.EncodeToString(h.Sum(nil)) }

// xmlChecksums is a checksum in S3's XML: one element per algorithm, in both directions.
type xmlChecksums struct {
	ChecksumCRC32     string `xml:",omitempty"`
	ChecksumCRC32C    string `xml:",omitempty"`
	ChecksumCRC64NVME string `xml:",omitempty"`
	ChecksumSHA1      string `xml:",omitempty"`
	ChecksumSHA256    string `xml:",omitempty"`
}

func (x *xmlChecksums) field(a algorithm) *string {
	switch a {
	case crc32IEEE:
		return &x.ChecksumCRC32
	case crc32C:
		return &x.ChecksumCRC32C
	case crc64NVME:
		return &x.ChecksumCRC64NVME
	case sha1Sum:
		return &x.ChecksumSHA1
	case sha256Sum:
		return &x.ChecksumSHA256
	default:
		return new(string)
	}
}

func (c checksum) xml() xmlChecksums {
	var x xmlChecksums
	*x.field(c.Algorithm) = c.Value
	return x
}
