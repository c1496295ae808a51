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

// Bounds, in characters but where it says bytes. An event with all of them is far below what a row holds.
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

// reader reads what a patient has written, as plain text: what others make of it must not become markup, another line
// or another order of letters. It keeps the first error.
type reader struct{ err error }

// line reads a text of one line.
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

// paragraphs reads a required text of several lines.
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

// website reads an optional address, which people write without its scheme. Nothing asks for it; but whoever reads it
// may follow it, so that it never leads to this service.
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
		r.refuse("website", "website must be a URL such as https://hospital.example, or be omitted.")
		return ""
	}
	return u.String()
}

func (r *reader) refuse(field, public string) {
	if r.err == nil {
		r.err = fault.BadRequest(public).About(field)
	}
}

// visible makes spaces of control characters, but for ends of lines, and of all that is no letter to see: marks
// that turn the direction of writing, that join or divide letters. Angle brackets become quotation marks, so
// that no text can be a tag.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '\u200c' || r == '\u200d': // letters of some scripts, and emoji, need them to join
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}

// isHost takes names, not addresses of networks.
func isHost(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && strings.Contains(strings.Trim(name, "."), ".")
}
