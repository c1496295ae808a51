package emit

import (
	"crypto/sha1" //nolint:gosec // version 5 UUIDs are made of SHA-1 (RFC 9562); nothing is kept secret by it
	"encoding/hex"
	"strconv"
)

// idNamespace separates the ids of converted resources from all other version 5 UUIDs.
const idNamespace = "\x2c\x8a\x4e\x0b\x6f\x3d\x51\xb2\x9e\x47\xd1\x70\x35\xc6\x88\x1f"

// Derive returns the version 5 UUID for a list of parts. Each part is hashed with its length so that different lists
// never produce the same hash input.
func Derive(parts ...string) string {
	name := make([]byte, 0, 256)
	name = append(name, idNamespace...)
	for _, part := range parts {
		name = strconv.AppendInt(name, int64(len(part)), 10)
		name = append(append(name, ':'), part...)
	}
	return formatUUID(version5(name))
}

// version5 returns the version 5 UUID for the concatenation of a namespace and a name (RFC 9562, 5.5).
func version5(namespaceAndName []byte) (uuid [16]byte) {
	sum := sha1.Sum(namespaceAndName) //nolint:gosec // as above
	sum[6] = sum[6]&0x0F | 0x50
	sum[8] = sum[8]&0x3F | 0x80
	copy(uuid[:], sum[:])
	return uuid
}

// formatUUID formats a UUID in lower case.
func formatUUID(uuid [16]byte) string {
	text := hex.EncodeToString(uuid[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
