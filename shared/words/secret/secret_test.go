package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"recordbridge/shared/words/secret"
)

const value = "sentinel-5f1d"

// leaks reports whether text contains the secret as plain text, decimal numbers or hexadecimal digits.
func leaks(text string) bool {
	text = strings.ToLower(text)
	hex := fmt.Sprintf("%x", value)
	return strings.Contains(text, value) || strings.Contains(text, hex) ||
		strings.Contains(text, "115 101 110") ||
		strings.Contains(text, "0x73, 0x65, 0x6e") || strings.Contains(text, "73 65 6e")
}

// TestTextIsRedactedWhenPrinted checks that printing a Text, alone or in a struct, reveals no part of its value.
func TestTextIsRedactedWhenPrinted(t *testing.T) {
	t.Parallel()
	text := secret.New(value)
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + value + strings.Repeat("x", 32) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	type exported struct{ Token secret.Text }
	type hidden struct {
		token secret.Text
		ring  secret.Keyring
	}
	things := map[string]any{
		"text": text, "pointer": &text, "slice": []secret.Text{text}, "map": map[string]secret.Text{"a": text},
		"exported field": exported{Token: text}, "pointer to a structure": &exported{Token: text},
		"unexported field":               hidden{token: text, ring: ring},
		"pointer to an unexported field": &hidden{token: text, ring: ring},
		"keyring":                        ring, "pointer to a keyring": &ring, "error": fmt.Errorf("refused %v", text),
	}
	verbs := []string{
		"v", "+v", "#v", "s", "q", "x", "X", "# x", "d", "c", "b", "o", "O", "U", "#U", "e", "g", "t", "p",
		"T", "10s", ".3s",
	}
	for name, thing := range things {
		for _, verb := range verbs {
			if got := fmt.Sprintf("%"+verb, thing); leaks(got) {
				t.Errorf("%%%s of %s shows %q", verb, name, got)
			}
		}
		if got := fmt.Sprint(thing) + fmt.Sprintln(thing); leaks(got) {
			t.Errorf("Sprint of %s shows %q", name, got)
		}
		if got, err := json.Marshal(thing); err == nil && leaks(string(got)) {
			t.Errorf("JSON of %s shows %q", name, got)
		}
		var out bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("message", slog.Any("thing", thing))
		}
		if leaks(out.String()) {
			t.Errorf("the log of %s shows %q", name, out.String())
		}
	}
	for _, verb := range verbs {
		// For these verbs, fmt doesn't call the value's methods.
		if got := fmt.Sprintf("%"+verb, text); got != "[redacted]" && verb != "T" && verb != "p" {
			t.Errorf("%%%s = %q, want it redacted", verb, got)
		}
	}
	if got := text.String(); got != "[redacted]" {
		t.Errorf("String = %q", got)
	}
}

func TestLeaksDetectsPlainString(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"%v", "%x", "%X", "%d", "%#v", "% x"} {
		if got := fmt.Sprintf(verb, struct{ b []byte }{[]byte(value)}); !leaks(got) {
			t.Errorf("%s shows %q, which the test above would not see", verb, got)
		}
	}
}

func TestRevealReturnsValue(t *testing.T) {
	t.Parallel()
	var none secret.Text
	if none.Reveal() != "" || !none.Empty() || !secret.New("").Empty() || !none.Equal(secret.New("")) {
		t.Error("the zero Text is not the empty secret")
	}
	text := secret.New(value)
	if text.Reveal() != value || text.Empty() {
		t.Errorf("Reveal = %q", text.Reveal())
	}
	if !text.Equal(secret.New(value)) || text.Equal(secret.New(value+"x")) || text.Equal(none) {
		t.Error("Equal does not compare the values")
	}
}

func ring(t *testing.T, document string) secret.Keyring {
	t.Helper()
	parsed, err := secret.ParseKeyring(secret.New(document))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

var (
	one = strings.Repeat("1", 32)
	two = strings.Repeat("2", 43)
)

func TestCheckAcceptsMACAfterRotation(t *testing.T) {
	t.Parallel()
	before := ring(t, `{"current":"1","1":"`+one+`"}`)
	after := ring(t, `{"current":"2","1":"`+one+`","2":"`+two+`"}`)
	last := ring(t, `{"current":"2","2":"`+two+`"}`)
	message := []byte("private key")

	old, fresh := before.Sign(message), after.Sign(message)
	if old.Version != 1 || fresh.Version != 2 || len(fresh.Sum) != 32 || bytes.Equal(old.Sum, fresh.Sum) {
		t.Errorf("marks %d and %d with %d bytes", old.Version, fresh.Version, len(fresh.Sum))
	}
	tests := []struct {
		name    string
		ring    secret.Keyring
		message string
		mark    secret.Mark
		want    bool
	}{
		{"its own", before, "private key", old, true},
		{"an old one after the rotation", after, "private key", old, true},
		{"a new one", after, "private key", fresh, true},
		{"an old one whose version is gone", last, "private key", old, false},
		{"another message", after, "private keY", fresh, false},
		{"the sum of another version", after, "private key", secret.Mark{Version: 1, Sum: fresh.Sum}, false},
		{"a short sum", after, "private key", secret.Mark{Version: 2, Sum: fresh.Sum[:31]}, false},
		{"no sum", after, "private key", secret.Mark{Version: 2}, false},
		{"no keyring", secret.Keyring{}, "private key", fresh, false},
		{"no keyring, no version", secret.Keyring{}, "private key", secret.Mark{}, false},
	}
	for _, test := range tests {
		if got := test.ring.Check([]byte(test.message), test.mark); got != test.want {
			t.Errorf("Check of %s = %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDeriveReturnsDistinctKeysPerUseAndVersion(t *testing.T) {
	t.Parallel()
	keys := ring(t, `{"current":"2","1":"`+one+`","2":"`+two+`"}`)
	seen := map[string]string{}
	for _, use := range []string{"download", "cursor"} {
		for _, version := range []int{1, 2} {
			key, used, ok := keys.Derive(use, version)
			if !ok || used != version || len(key) != 32 {
				t.Fatalf("Derive(%s, %d) = %d bytes of version %d, %v", use, version, len(key), used, ok)
			}
			name := fmt.Sprint(use, version)
			if other, taken := seen[string(key)]; taken {
				t.Errorf("%s and %s have the same key", name, other)
			}
			seen[string(key)] = name
		}
	}
	current, used, ok := keys.Derive("cursor", 0)
	if second, _, _ := keys.Derive("cursor", 2); !ok || used != 2 || !bytes.Equal(current, second) {
		t.Errorf("the current version is %d (%v), want 2", used, ok)
	}
	if key, _, ok := keys.Derive("cursor", 3); ok || key != nil {
		t.Error("a version that does not exist gave a key")
	}
	if _, _, ok := (secret.Keyring{}).Derive("cursor", 0); ok {
		t.Error("an empty keyring gave a key")
	}
}

func TestParseKeyringErrorDoesNotQuoteDocument(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"nothing":                    "",
		"no JSON":                    value,
		"no object":                  `["` + value + one + `"]`,
		"a number":                   `{"current":1,"1":"` + value + one + `"}`,
		"no current":                 `{"1":"` + value + one + `"}`,
		"a current without a key":    `{"current":"2","1":"` + value + one + `"}`,
		"a current of zero":          `{"current":"0","1":"` + value + one + `"}`,
		"a current that is no digit": `{"current":"` + value + `","1":"` + one + `"}`,
		"a version of zero":          `{"current":"1","1":"` + one + `","0":"` + value + one + `"}`,
		"a version that is no digit": `{"current":"1","1":"` + one + `","old":"` + value + one + `"}`,
		"a short key":                `{"current":"1","1":"` + value + `"}`,
		"an empty key":               `{"current":"1","1":""}`,
	}
	for name, document := range documents {
		ring, err := secret.ParseKeyring(secret.New(document))
		if err == nil {
			t.Errorf("a keyring with %s was read", name)
			continue
		}
		if leaks(err.Error()) {
			t.Errorf("the error of a keyring with %s shows it: %v", name, err)
		}
		if _, _, ok := ring.Derive("use", 0); ok {
			t.Errorf("a keyring with %s still gives keys", name)
		}
		if errors.Unwrap(err) != nil {
			t.Errorf("the error of a keyring with %s carries one of the decoder, which may quote it", name)
		}
	}
}
