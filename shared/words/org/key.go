package org

import (
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Format of a private key: "private_<mode>_", 43 base62 digits (256 random bits), and 6 base62 digits with the CRC32 of
// all preceding characters. The checksum lets a mistyped key be rejected without a database read.
const (
	digits      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	keyDigits   = 43
	checkDigits = 6
)

// NewPrivateKey generates a private key for mode from random.
func NewPrivateKey(mode Mode, random io.Reader) (secret.Text, error) {
	body := make([]byte, 0, keyDigits)
	for buffer := make([]byte, 1); len(body) < keyDigits; {
		if _, err := io.ReadFull(random, buffer); err != nil {
			return secret.Text{}, fmt.Errorf("random bytes for a private key: %w", err)
		}
		// 248 is the largest multiple of 62 that fits in a byte. Larger bytes are discarded, because they would make
		// the first digits more likely.
		if buffer[0] < 248 {
			body = append(body, digits[buffer[0]%62])
		}
	}
	text := "private_" + string(mode) + "_" + string(body)
	return secret.New(text + checksum(text)), nil
}

// ParsePrivateKey checks a private key's format and checksum and returns its mode.
func ParsePrivateKey(text string) (Mode, bool) {
	rest, ok := strings.CutPrefix(text, "private_")
	if !ok {
		return "", false
	}
	name, body, _ := strings.Cut(rest, "_")
	mode, ok := ParseMode(name)
	if !ok || len(body) != keyDigits+checkDigits || strings.Trim(body, digits) != "" {
		return "", false
	}
	end := len(text) - checkDigits
	return mode, checksum(text[:end]) == text[end:]
}

// ParsePublicID parses either "public_<mode>_<uuid>" or a bare UUID. The mode of a bare UUID is empty, because the
// credential's row determines it.
func ParsePublicID(text string) (id string, mode Mode, ok bool) {
	if rest, found := strings.CutPrefix(text, "public_"); found {
		name, bare, _ := strings.Cut(rest, "_")
		if mode, ok = ParseMode(name); !ok {
			return "", "", false
		}
		text = bare
	}
	id, ok = ids.ParseUUID(text)
	return id, mode, ok
}

func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	check := make([]byte, checkDigits)
	for i := range check {
		check[checkDigits-1-i] = digits[sum%62]
		sum /= 62
	}
	return string(check)
}
