package org

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"recordbridge/shared/words/fault"
)

const (
	maxRadius = 24  // maximum corner radius in CSS pixels
	maxFont   = 200 // in characters
)

// Look holds the corners, font and colour scheme of an organisation's pages. The zero value is the default appearance.
type Look struct {
	Radius      *int   // corner radius in CSS pixels, from 0 to 24; nil for the default
	Font        string // CSS font-family list in the form that Set writes; empty for the default
	ColorScheme ColorScheme
}

// ColorScheme selects the light or dark design of pages.
type ColorScheme string

// Colour schemes. Auto follows the device's preference.
const (
	Auto  ColorScheme = ""
	Light ColorScheme = "light"
	Dark  ColorScheme = "dark"
)

// String returns "auto", "light" or "dark".
func (s ColorScheme) String() string { return cmp.Or(string(s), "auto") }

// Set parses the given settings: an integer, a font list, and "auto", "light" or "dark". An empty setting restores the
// default; a nil setting leaves the value unchanged. Set returns fault.Invalid for an invalid setting, without changing
// l.
func (l *Look) Set(radius, font, scheme *string) error {
	next := *l
	for _, given := range []struct {
		text  *string
		parse func(to *Look, text string) error
	}{{radius, (*Look).setRadius}, {font, (*Look).setFont}, {scheme, (*Look).setColorScheme}} {
		if given.text == nil {
			continue
		}
		if err := given.parse(&next, *given.text); err != nil {
			return err
		}
	}
	*l = next
	return nil
}

// Check returns fault.Invalid if l contains a value that Set would not store. The values are inserted into a style
// sheet.
func (l *Look) Check() error {
	if l.Radius != nil && (*l.Radius < 0 || *l.Radius > maxRadius) {
		return errRadius()
	}
	if font, err := parseFont(l.Font); err != nil || font != l.Font {
		return errFont()
	}
	return l.ColorScheme.check()
}

func (l *Look) setRadius(text string) error {
	if l.Radius = nil; text == "" {
		return nil
	}
	radius, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(radius) != text || radius < 0 || radius > maxRadius {
		return errRadius()
	}
	l.Radius = &radius
	return nil
}

func (l *Look) setFont(text string) error {
	font, err := parseFont(text)
	l.Font = font
	return err
}

func (l *Look) setColorScheme(text string) error {
	l.ColorScheme = ColorScheme(text)
	if text == Auto.String() {
		l.ColorScheme = Auto
	}
	return l.ColorScheme.check()
}

func (s ColorScheme) check() error {
	if s != Auto && s != Light && s != Dark {
		return fault.BadRequest("A colour scheme must be auto, light or dark.").About("color-scheme")
	}
	return nil
}

// Parts of a font list (CSS Fonts 4, section 2.1.2): a quoted name, an unquoted name, and the words of an unquoted
// name. The patterns exclude every character that could end the declaration or call a function.
var (
	quotedFont = regexp.MustCompile(`^("[A-Za-z0-9 -]*[A-Za-z0-9][ -]*"|'[A-Za-z0-9 -]*[A-Za-z0-9][ -]*')$`)
	plainFont  = regexp.MustCompile(`^[A-Za-z0-9 -]+$`)
	fontWord   = regexp.MustCompile(`^-?[A-Za-z][A-Za-z0-9-]*$`)
	// keywords that must be quoted to serve as a font name (CSS Values 4, section 4.2)
	cssKeyword = regexp.MustCompile(`(?i)^(inherit|initial|unset|revert|revert-layer|default)$`)
)

// parseFont returns a normalised list of font families, with one space after each comma and double quotation marks.
func parseFont(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if len(text) > maxFont {
		return "", errFont()
	}
	families := strings.Split(text, ",")
	for i, family := range families {
		var err error
		if families[i], err = parseFamily(strings.Trim(family, " ")); err != nil {
			return "", err
		}
	}
	list := strings.Join(families, ", ")
	if len(list) > maxFont {
		return "", errFont()
	}
	return list, nil
}

func parseFamily(family string) (string, error) {
	if quotedFont.MatchString(family) {
		return `"` + strings.Trim(family, `"'`) + `"`, nil
	}
	if !plainFont.MatchString(family) {
		return "", errFont()
	}
	words := strings.Fields(family)
	for _, word := range words {
		if !fontWord.MatchString(word) || cssKeyword.MatchString(word) {
			return "", errUnquotedFont()
		}
	}
	return strings.Join(words, " "), nil
}

func errRadius() error {
	return fault.BadRequest("A corner radius must be a whole number of pixels from 0 to 24.").About("radius")
}

func errFont() error {
	return fault.BadRequest(`A font must be a list of font names such as "Segoe UI", Georgia, serif: at most 200 ` +
		"letters, digits, spaces, hyphens, quotation marks and commas.").About("font")
}

func errUnquotedFont() error {
	return fault.BadRequest("Put a font's name in quotation marks if one of its words begins with a digit or is a CSS " +
		"keyword such as initial.").About("font")
}
