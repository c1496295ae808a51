// Package ids makes and reads identifiers: random and derived UUIDs and the two spellings of a task id.
// It owns no secrets; those are package secret's.
package ids

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// Source makes a new UUID, lower case and dashed. Production uses Random; tests pass a counting one.
type Source func() string

// Random makes a random (version 4) UUID.
func Random() string { return uuid.NewString() }

// namespace sets our derived ids apart from everybody else's version 5 UUIDs.
const namespace = "9f4d0c1e-6b1c-5d55-9a3c-6e0f4b1f2d77"

// Derive returns the version 5 UUID of parts: the same parts always give the same id, so one fact cannot get two
// ids. Parts are length-prefixed, so no two lists of parts collide.
func Derive(parts ...string) string {
	var name strings.Builder
	for _, part := range parts {
		//nolint:gosec // parts are short; the prefix only separates them
		name.WriteString(hex.EncodeToString([]byte{byte(len(part) >> 8), byte(len(part))}))
		name.WriteString(part)
	}
	return uuid.NewSHA1(uuid.MustParse(namespace), []byte(name.String())).String()
}

// ParseUUID reads a dashed UUID of either case and returns it in lower case; ok is false for anything else.
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

// ParseRandom is ParseUUID for random (version 4) UUIDs alone (RFC 9562 section 5.4).
func ParseRandom(text string) (id string, ok bool) {
	id, ok = ParseUUID(text)
	return id, ok && id[14] == '4' && strings.ContainsAny(id[19:20], "89ab")
}

// TaskID writes a UUID as a task id: 32 hex digits.
func TaskID(id string) string { return strings.ReplaceAll(id, "-", "") }

// ParseTask reads a task id, as 32 hex digits or as a dashed UUID, and returns the 32 digits.
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
