package org

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
)

const maxPurpose = 160 // in runes

// Purpose states in an organisation's own words why it collects patients' records. Patients see the text in their
// language, in quotation marks. Patients see a default text if the organisation's text is empty.
type Purpose struct {
	English string
	Spanish string
}

// Set parses the given texts and stores them in p. An empty text removes the stored text, and a nil text leaves it
// unchanged. Set returns fault.Invalid for an invalid text, without changing p.
func (p *Purpose) Set(english, spanish *string) error {
	next := *p
	for _, given := range []struct {
		field string
		text  *string
		to    *string
	}{{"purpose", english, &next.English}, {"purpose-es", spanish, &next.Spanish}} {
		if given.text == nil {
			continue
		}
		var err error
		if *given.to, err = parsePurpose(given.field, *given.text); err != nil {
			return err
		}
	}
	*p = next
	return nil
}

// parsePurpose returns a purpose without surrounding space. A purpose must not be able to form links or hide text.
// Double quotation marks are rejected, because text after a quotation mark could look like a statement by this service.
func parsePurpose(field, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case utf8.RuneCountInString(text) > maxPurpose:
		return "", fault.BadRequest(fmt.Sprintf("A purpose can have at most %d characters.", maxPurpose)).About(field)
	case !utf8.ValidString(text) || hidesCharacter(text):
		return "", fault.BadRequest("A purpose can't contain control characters, line breaks or invisible " +
			"characters.").About(field)
	case strings.ContainsAny(text, `<>"“”„‟«»〝〞〟＂❝❞`):
		return "", fault.BadRequest("A purpose can't contain double quotation marks, < or >.").About(field)
	case hasAddress(text) || strings.Contains(strings.ToLower(text), "www."):
		return "", fault.BadRequest("A purpose can't contain a web or e-mail address. Put a space after a dot that " +
			"isn't part of one.").About(field)
	}
	return text, nil
}
