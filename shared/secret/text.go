// Package secret keeps secret values from being seen or compared carelessly: Text redacts itself wherever Go
// prints, Keyring hashes and authenticates with numbered versions. It reads nothing from anywhere; who loads a
// secret hands it over.
package secret

import (
	"crypto/subtle"
	"log/slog"
)

const redacted = "[redacted]"

// Text is a secret string. Printing, logging or encoding it as JSON shows only that it is redacted, and two Texts
// cannot be compared with ==.
type Text struct {
	value []byte
}

// New takes a secret in.
func New(value string) Text { return Text{value: []byte(value)} }

// Reveal returns the secret. Call it where the value leaves for its purpose, nowhere else.
func (t Text) Reveal() string { return string(t.value) }

// Empty reports whether there is no secret.
func (t Text) Empty() bool { return len(t.value) == 0 }

// Equal compares in constant time.
func (t Text) Equal(other Text) bool { return subtle.ConstantTimeCompare(t.value, other.value) == 1 }

// String implements fmt.Stringer.
func (t Text) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (t Text) GoString() string { return redacted }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
