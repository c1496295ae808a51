package search

import (
	"slices"
	"strings"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/names"
)

// Limits on the length of a text. Institutions' names are shorter than these limits, so only excessive input is
// truncated.
const (
	maxRunes   = 300
	maxWords   = 12
	maxLetters = 40 // maximum length of a word in bytes
)

// typedWords returns the words to search for, without duplicates.
func typedWords(text string) []string {
	var words []string
	for _, word := range wordsOf(limited(text)) {
		if len(words) < maxWords && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// limited returns the part of a text that the search uses.
func limited(text string) string {
	runes := 0
	for i := range text {
		if runes == maxRunes {
			return text[:i]
		}
		runes++
	}
	return text
}

// wordsOf returns the words in a text, truncated to the index's maximum word length.
func wordsOf(text string) []string {
	words := names.Words(text)
	for i, word := range words {
		words[i] = clipped(word)
	}
	return words
}

func clipped(word string) string { return word[:min(len(word), maxLetters)] }

// isFiller reports whether people omit or add a word freely, because it barely identifies an institution.
func isFiller(word string) bool {
	switch word {
	case "a", "an", "and", "at", "by", "for", "in", "of", "on", "the", "to",
		"co", "corp", "corporation", "dba", "inc", "incorporated", "llc", "llp", "lp", "ltd", "pa", "pc", "pllc",
		"plc", "psc", "sc",
		"do", "dpm", "dr", "md", "mdpa", "mdpc", "od":
		return true
	}
	return false
}

// isZIP reports whether a word is a ZIP code.
func isZIP(word string) bool {
	return len(word) == 5 && strings.Trim(word, "0123456789") == ""
}

// meanings maps a word to its meanings, and each meaning back to its words. Each meaning is a sequence of one or more
// words.
type meanings struct {
	of map[string][][]string
	// shorts maps sequences of consecutive words, without fillers, to their abbreviations.
	shorts map[string][]string
	// states maps state codes and state names to state codes. A name is written as a single word ("newjersey").
	states map[string]string
}

func newMeanings() meanings {
	m := meanings{of: map[string][][]string{}, shorts: map[string][]string{}, states: map[string]string{}}
	for short, texts := range names.Abbreviations() {
		for _, text := range texts {
			m.add(short, text)
		}
	}
	for code, name := range geo.States() {
		code = strings.ToLower(code)
		m.states[joined(name)] = code
		// A code that is also a word, a title or a legal form is treated as a state only in a location.
		if !isCommon(code) {
			m.states[code] = code
			m.add(code, strings.Join(names.Words(name), " "))
		}
	}
	return m
}

// isCommon reports whether a state's code is a word that usually means something else.
func isCommon(code string) bool {
	switch code {
	case "al", "co", "de", "hi", "id", "in", "la", "ma", "md", "me", "ms", "oh", "ok", "or", "pa":
		return true
	}
	return false
}

func (m *meanings) add(short, text string) {
	words := strings.Fields(text)
	m.of[short] = append(m.of[short], words)
	if len(words) == 1 {
		m.of[text] = append(m.of[text], []string{short})
		return
	}
	key := essence(words)
	m.shorts[key] = append(m.shorts[key], short)
}

// essence joins the words other than fillers into a map key.
func essence(words []string) string {
	var kept []string
	for _, word := range words {
		if !isFiller(word) {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
