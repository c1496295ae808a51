package inquiry

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// Limits, in characters unless bytes are stated. An event with all of them is far smaller than a row's maximum size.
const (
	maxName    = 200
	maxSubject = 200
	maxStreet  = 500
	maxWebsite = 500
	maxBody    = 10 << 10 // bytes
	maxKey     = 64       // bytes
)

type presence bool

const (
	required presence = true
	optional presence = false
)

// reader cleans a patient's texts into plain text: wherever they are shown, they must not turn into markup, additional
// lines or another order of letters. It keeps the first error.
type reader struct{ err error }

// line cleans a single-line text.
func (r *reader) line(field, text string, most int, need presence) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	switch {
	case text == "" && need == required:
		r.refuse(field, field+" is required.")
	case utf8.RuneCountInString(text) > most:
		r.refuse(field, fmt.Sprintf("%s must have at most %d characters.", field, most))
	}
	return text
}

// paragraphs cleans a required multi-line text.
func (r *reader) paragraphs(field, text string) string {
	lines := strings.Split(visible(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	text = strings.Trim(strings.Join(lines, "\n"), "\n")
	switch {
	case strings.TrimSpace(text) == "":
		r.refuse(field, field+" is required.")
	case len(text) > maxBody:
		r.refuse(field, field+" must have at most 10,240 bytes.")
	}
	return text
}

// website cleans an optional URL, which people write without its scheme. Nothing fetches it, but a reader may follow
// it, so it must not lead to this service.
func (r *reader) website(own weburl.Own, text string) string {
	text = r.line("website", text, maxWebsite, optional)
	if text == "" {
		return ""
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := own.Parse(text)
	if err != nil || !isHost(u.Host()) {
		r.refuse("website", "website must be an address such as https://hospital.example, or be left out.")
		return ""
	}
	return u.String()
}

func (r *reader) refuse(field, public string) {
	if r.err == nil {
		r.err = fault.BadRequest(public).About(field)
	}
}

// visible replaces control characters, except line ends, and all invisible characters with spaces: marks that change
// the writing direction, or that join or divide letters. Angle brackets become quotation marks, so that no text can be
// a tag.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '\u200c' || r == '\u200d': // needed to join letters of some scripts, and emoji
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}

// isHost reports whether a name is a host name, not an IP address.
func isHost(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && strings.Contains(strings.Trim(name, "."), ".")
}
