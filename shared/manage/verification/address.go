package verification

import (
	"strings"

	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
)

const (
	maxAddress = 254 // limit from RFC 5321 section 4.5.3.1.3, excluding the angle brackets
	maxLocal   = 64  // limit from RFC 5321 section 4.5.3.1.1
	maxLabel   = 63  // limit from RFC 1035 section 2.3.4
)

// Address is an email address to which it is safe to send email. An Address is a single ASCII mailbox without a display
// name, quotes or comments. An Address therefore can't contain a second recipient or a header.
type Address struct {
	local  string // as entered, because only the domain's mail server knows whether the local part is case-sensitive
	domain string // in lower case
}

// ParseAddress parses an email address typed by a patient. It returns fault.Invalid for an invalid address. The error
// does not contain the address.
func ParseAddress(text string) (Address, error) {
	text = strings.TrimSpace(text)
	local, domain, _ := strings.Cut(text, "@")
	a := Address{local: local, domain: strings.ToLower(domain)}
	if len(text) > maxAddress || !isLocal(local) || !isDomain(a.domain) {
		return Address{},
			fault.BadRequest("email must be an ASCII address such as name@example.com.").About("email")
	}
	return a, nil
}

// String returns the address with its local part as entered and its domain in lower case.
func (a Address) String() string { return a.local + "@" + a.domain }

// Domain returns the part after the @, in lower case.
func (a Address) Domain() string { return a.domain }

// same returns the address in lower case, for case-insensitive comparison.
func (a Address) same() string { return strings.ToLower(a.String()) }

func (a Address) mailbox() string { return maillimit.Mailbox(a.String()) }

// isLocal reports whether text is a dot-atom (RFC 5322 section 3.2.3). It rejects quoted strings, which are not used in
// practice.
func isLocal(text string) bool {
	if len(text) > maxLocal {
		return false
	}
	for atom := range strings.SplitSeq(text, ".") {
		if atom == "" || strings.ContainsFunc(atom,
			func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) }) {
			return false
		}
	}
	return true
}

// isDomain reports whether text is a host name of at least two labels, the last of which does not begin with a digit.
// It rejects IP addresses.
func isDomain(text string) bool {
	labels := strings.Split(text, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") ||
			strings.ContainsFunc(label, func(r rune) bool { return !isAlphanumeric(r) && r != '-' }) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(labels) > 1 && last[0] > '9'
}

func isAlphanumeric(r rune) bool { return isDigit(r) || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
