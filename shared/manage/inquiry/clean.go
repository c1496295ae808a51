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

// Limits on text from a patient, in characters unless stated otherwise. Even if every text has its maximum length, an
// event is far smaller than the maximum row size.
const (
	maxName    = 200
	maxSubject = 200
	maxStreet  = 500
	maxWebsite = 500
	maxBody    = 10 << 10 // in bytes
	maxKey     = 64       // in bytes
)

type presence bool

const (
	required presence = true
	optional presence = false
)

// reader converts text from a patient to safe plain text, which can't produce markup, extra lines or reordered letters.
// The reader records the first error.
type reader struct{ err error }

// line cleans and validates text that must fit on a single line.
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

// paragraphs cleans and validates required text that may span several lines.
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

// website validates an optional URL that may omit its scheme. The service never fetches the URL, but a reader may open
// it, so it must not point to this service.
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

// visible replaces invisible characters, and all control characters except line breaks, with spaces. Invisible
// characters include those that change the writing direction and those that join or separate letters. Angle brackets
// are replaced with quotation marks, so the text can't contain a tag.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '\u200c' || r == '\u200d': // Emoji and some scripts require the zero-width joiner and non-joiner.
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}

// isHost reports whether a name is a host name rather than an IP address.
func isHost(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && strings.Contains(strings.Trim(name, "."), ".")
}
