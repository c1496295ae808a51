// Package secret protects secret values from accidental printing and comparison. Text redacts itself wherever Go prints
// it, and Keyring computes MACs with versioned keys.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Text is a secret string. Printing, logging or JSON-encoding a Text yields a placeholder, and two Texts can't be
// compared with ==.
type Text struct {
	_ [0]func() // prevents comparison with ==
	// The field is a pointer because fmt can't call methods on an unexported field. For a pointer, fmt prints only the
	// address.
	value *string
}

// New returns a Text that holds value.
func New(value string) Text { return Text{value: &value} }

// Reveal returns the secret as a string. Call Reveal only where the value is used.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// Empty reports whether the secret is empty.
func (t Text) Empty() bool { return t.Reveal() == "" }

// Equal reports in constant time whether two Texts are equal.
func (t Text) Equal(other Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(other.Reveal())) == 1
}

// String implements fmt.Stringer.
func (t Text) String() string { return redacted }

// Format implements fmt.Formatter. Format handles every verb, because numeric verbs such as %d don't call String.
func (t Text) Format(out fmt.State, _ rune) { _, _ = io.WriteString(out, redacted) }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
