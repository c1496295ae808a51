// Package secret keeps secret values from being seen or compared carelessly: Text redacts itself wherever Go
// prints, Keyring hashes and authenticates with numbered versions. It reads nothing from anywhere; who loads a
// secret hands it over.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Text is a secret string. Printing, logging or encoding it as JSON shows only that it is redacted, and two Texts
// cannot be compared with ==.
type Text struct {
	_ [0]func() // takes == away
	// A pointer, since fmt asks no method of a Text in an unexported field of what it prints: it then shows an address.
	value *string
}

// New takes a secret in.
func New(value string) Text { return Text{value: &value} }

// Reveal returns the secret. Call it where the value leaves for its purpose, nowhere else.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// Empty reports whether there is no secret.
func (t Text) Empty() bool { return t.Reveal() == "" }

// Equal compares in constant time.
func (t Text) Equal(other Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(other.Reveal())) == 1
}

// String implements fmt.Stringer.
func (t Text) String() string { return redacted }

// Format implements fmt.Formatter for every verb: numeric verbs such as %d would not ask String.
func (t Text) Format(out fmt.State, _ rune) { _, _ = io.WriteString(out, redacted) }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
