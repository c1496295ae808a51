// Package ids creates and parses identifiers: random and derived UUIDs, and both formats of task IDs. Secrets belong in
// package secret.
package ids

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// Source returns a new UUID, in lower case with dashes. Production uses Random; tests use a counter.
type Source func() string

// Random returns a random (version 4) UUID.
func Random() string { return uuid.NewString() }

// namespace distinguishes IDs derived by this service from other version 5 UUIDs.
const namespace = "9f4d0c1e-6b1c-5d55-9a3c-6e0f4b1f2d77"

// Derive returns a version 5 UUID computed from parts. The same parts always yield the same ID. Parts are
// length-prefixed, so different lists can't produce the same input.
func Derive(parts ...string) string {
	var name strings.Builder
	for _, part := range parts {
		//nolint:gosec // parts are short; the prefix only separates them
		name.WriteString(hex.EncodeToString([]byte{byte(len(part) >> 8), byte(len(part))}))
		name.WriteString(part)
	}
	return uuid.NewSHA1(uuid.MustParse(namespace), []byte(name.String())).String()
}

// ParseUUID parses a UUID with dashes, in upper or lower case, and returns it in lower case. ok is false for any other
// text.
func ParseUUID(text string) (id string, ok bool) {
	if len(text) != 36 {
		return "", false
	}
	parsed, err := uuid.Parse(text)
	if err != nil {
		return "", false
	}
	return parsed.String(), true
}

// ParseRandom is like ParseUUID but accepts only random (version 4) UUIDs (RFC 9562 section 5.4).
func ParseRandom(text string) (id string, ok bool) {
	id, ok = ParseUUID(text)
	return id, ok && id[14] == '4' && strings.ContainsAny(id[19:20], "89ab")
}

// TaskID formats a UUID as a task ID: 32 hex digits.
func TaskID(id string) string { return strings.ReplaceAll(id, "-", "") }

// ParseTask parses a task ID and returns its 32 hex digits. The task ID may be 32 hex digits or a UUID with dashes.
func ParseTask(text string) (id string, ok bool) {
	if len(text) != 32 && len(text) != 36 {
		return "", false
	}
	parsed, err := uuid.Parse(text)
	if err != nil {
		return "", false
	}
	return TaskID(parsed.String()), true
}
