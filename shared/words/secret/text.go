// Package secret prevents secret values from being printed or compared carelessly: Text redacts itself wherever Go
// prints it, and Keyring hashes and authenticates with numbered versions. The package loads no secrets; callers pass
// them in.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Text is a secret string. Printing, logging or encoding it as JSON shows only a placeholder, and two Texts cannot be
// compared with ==.
type Text struct {
	_ [0]func() // prevents comparison with ==
	// A pointer, because fmt calls no methods on a Text in an unexported field; it then prints only a memory address.
	value *string
}

// New returns a Text that holds value.
func New(value string) Text { return Text{value: &value} }

// Reveal returns the secret. Call it only at the point where the value is used.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// Empty reports whether the secret is empty.
func (t Text) Empty() bool { return t.Reveal() == "" }

// Equal reports whether two Texts are equal, in constant time.
func (t Text) Equal(other Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(other.Reveal())) == 1
}

// String implements fmt.Stringer.
func (t Text) String() string { return redacted }

// Format implements fmt.Formatter for every verb: numeric verbs such as %d would not call String.
func (t Text) Format(out fmt.State, _ rune) { _, _ = io.WriteString(out, redacted) }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
