package ids_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"recordbridge/shared/words/ids"
)

func TestDeriveIsDeterministic(t *testing.T) {
	t.Parallel()
	// IDs are stored and sent to customers, so the value below must never change.
	if got, want := ids.Derive("event", "test#org", "subject", "0"), "6b4a1c0c-19fa-52e9-a894-f75be29cd944"; got != want {
		t.Errorf("Derive = %s, want %s", got, want)
	}
	lists := [][]string{
		{},
		{""},
		{"", ""},
		{"a"},
		{"ab"},
		{"a", "b"},
		{"", "ab"},
		{"a", "", "b"},
		{"b", "a"},
		{"0001a"},
		{"a0001b"},
	}
	seen := map[string][]string{}
	for _, parts := range lists {
		id := ids.Derive(parts...)
		if other, taken := seen[id]; taken {
			t.Errorf("%q and %q have the same id", parts, other)
		}
		seen[id] = parts
		if parsed, err := uuid.Parse(id); err != nil || parsed.Version() != 5 {
			t.Errorf("Derive(%q) = %s, want a version 5 UUID", parts, id)
		}
	}
}

func TestRandomIDsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := ids.Random()
		if parsed, ok := ids.ParseUUID(id); !ok || parsed != id || seen[id] {
			t.Fatalf("id %q: parsed as %q, seen before: %v", id, parsed, seen[id])
		}
		seen[id] = true
	}
}

func TestParseTaskAcceptsBothSpellings(t *testing.T) {
	t.Parallel()
	const dashed, bare = "7a0b0c0d-0000-4000-8000-0000000000ef", "7a0b0c0d0000400080000000000000ef"
	for _, text := range []string{dashed, bare, strings.ToUpper(dashed), strings.ToUpper(bare)} {
		if got, ok := ids.ParseTask(text); !ok || got != bare {
			t.Errorf("ParseTask(%q) = %q, %v; want %q", text, got, ok, bare)
		}
	}
	if got := ids.TaskID(dashed); got != bare {
		t.Errorf("TaskID = %q, want %q", got, bare)
	}
	for _, text := range []string{
		"", bare[:31], bare + "0", dashed[:35], "{" + dashed + "}", "urn:uuid:" + dashed, strings.Replace(bare, "7", "g", 1),
		strings.Replace(dashed, "-", "_", 1), strings.ReplaceAll(dashed, "-", " "), bare[:30] + "é",
	} {
		if got, ok := ids.ParseTask(text); ok {
			t.Errorf("ParseTask(%q) = %q, want it refused", text, got)
		}
	}
}

func TestParseUUIDRejectsFormWithoutDashes(t *testing.T) {
	t.Parallel()
	const dashed = "7a0b0c0d-0000-4000-8000-0000000000ef"
	if got, ok := ids.ParseUUID(strings.ToUpper(dashed)); !ok || got != dashed {
		t.Errorf("ParseUUID of upper case = %q, %v; want %q", got, ok, dashed)
	}
	for _, text := range []string{
		"", ids.TaskID(dashed), dashed + " ", "{" + dashed + "}", dashed[:35] + "#",
		dashed[1:] + "-",
	} {
		if got, ok := ids.ParseUUID(text); ok {
			t.Errorf("ParseUUID(%q) = %q, want it refused", text, got)
		}
	}
}

func TestParseRandomRejectsOtherVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"3A1D5C90-2B7E-4C1F-8A52-7D0E9F6B4C21": "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21",
		"3a1d5c90-2b7e-4c1f-ba52-7d0e9f6b4c21": "3a1d5c90-2b7e-4c1f-ba52-7d0e9f6b4c21",
	} {
		if id, ok := ids.ParseRandom(text); !ok || id != want {
			t.Errorf("%s: %s %v", text, id, ok)
		}
	}
	for _, text := range []string{
		"", "00000000-0000-0000-0000-000000000000", "3a1d5c90-2b7e-1c1f-8a52-7d0e9f6b4c21",
		"3a1d5c90-2b7e-4c1f-ca52-7d0e9f6b4c21",
		"3a1d5c902b7e4c1f8a527d0e9f6b4c21", "{3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21}", ids.Derive("a"),
	} {
		if id, ok := ids.ParseRandom(text); ok {
			t.Errorf("%q is taken as %s", text, id)
		}
	}
}
