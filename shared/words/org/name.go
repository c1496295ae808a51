package org

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
)

const maxName = 100 // in runes

// ParseName returns an organisation's name without surrounding space. It returns fault.Invalid if the name contains an
// email address, a domain, a URL or an invisible character. Names appear in emails and on patients' pages, where they
// must not turn into links or hide text.
func ParseName(text string) (string, error) {
	name := strings.TrimSpace(text)
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxName:
		return "",
			fault.BadRequest(fmt.Sprintf("An organisation's name can have at most %d "+
				"characters.", maxName)).About("name")
	case !utf8.ValidString(name) || hidesCharacter(name):
		return "",
			fault.BadRequest("A name can't contain control characters, line breaks or invisible characters.").About("name")
	case hasAddress(name):
		return "", fault.BadRequest("A name can't contain a web or e-mail address. Put a space after a dot that isn't part " +
			"of one.").About("name")
	}
	return name, nil
}

// hidesCharacter reports whether name contains an invisible rune. Invisible runes include control characters, format
// characters such as bidirectional marks (UAX 9), line and paragraph separators, fillers, variation selectors, and
// unassigned code points. Joiners are allowed between letters of scripts that use them, such as Persian and the Indic
// scripts.
func hidesCharacter(name string) bool {
	runes := []rune(name)
	for i, r := range runes {
		if r == '\u200c' || r == '\u200d' {
			if i == 0 || i == len(runes)-1 || !joins(runes[i-1]) || !joins(runes[i+1]) {
				return true
			}
			continue
		}
		if !unicode.IsGraphic(r) || r == '\u2800' ||
			unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return true
		}
	}
	return false
}

// joins reports whether the rune can change shape next to a zero-width joiner or non-joiner.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han)
}

// hasAddress reports whether a mail program might turn part of name into a link. It recognises all characters that
// browsers treat as a dot or an at sign (UTS 46).
func hasAddress(name string) bool {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("．。｡․﹒", r):
			return '.'
		case r == '＠' || r == '﹫':
			return '@'
		case r >= '！' && r <= '～': // full-width forms of ASCII characters
			return r - '！' + '!'
		}
		return r
	}, name)
	if strings.Contains(name, "@") || strings.Contains(name, "//") {
		return true
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r != '.' && r != '-' && !isLabel(r) }) {
		if isHost(word) {
			return true
		}
	}
	return false
}

// isHost reports whether word is an IPv4 address or ends in a possible top-level domain.
func isHost(word string) bool {
	labels, numbers := strings.Split(word, "."), 0
	for i, label := range labels {
		follows := i > 0 && canEnd(labels[i-1])
		if follows && utf8.RuneCountInString(label) > 1 && canBegin(label) && !isNumber(label) {
			return true
		}
		if isNumber(label) {
			numbers++
		}
	}
	return numbers == 4 && len(labels) == 4
}

func canBegin(label string) bool { return label != "" && label[0] != '-' }

func canEnd(label string) bool { return label != "" && label[len(label)-1] != '-' }

func isNumber(label string) bool {
	return label != "" && !strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsDigit(r) })
}

func isLabel(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
