package search

import (
	"slices"
	"strings"
)

// Limits for acronyms. Shorter acronyms would match too many names, and longer acronyms are not in use.
const (
	minAcronym = 3
	maxAcronym = 6
)

// acronymScore is the minimum score of a brand whose acronym is the query. The score exceeds that of a name that begins
// with a longer word ("choptank" for "chop"), but not that of a name or alias that begins with the typed word itself.
const acronymScore = 0.96*perQuery + perStart + perBegun

// acronyms returns the acronyms under which people may know a name, without duplicates: its initials with and without
// small words ("chop", "chp"), and without general words at the end ("ucsf" for "… San Francisco Medical Center"). A
// university's name also has a short form such as "uofm". A practitioner's name has no acronyms.
func acronyms(words []string) []string {
	if slices.ContainsFunc(words, isDegree) {
		return nil
	}
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return isFiller(word) && !isSmall(word) })
	core := words
	for len(core) > 0 && isGeneral(core[len(core)-1]) {
		core = core[:len(core)-1]
	}
	all := []string{
		initialsOf(words, false), initialsOf(words, true), initialsOf(core, false), initialsOf(core, true),
	}
	if len(words) > 2 && words[0] == "university" && words[1] == "of" {
		all = append(all, "uof"+words[2][:1])
	}
	all = slices.DeleteFunc(all, func(short string) bool { return len(short) < minAcronym || len(short) > maxAcronym })
	slices.Sort(all)
	return slices.Compact(all)
}

func initialsOf(words []string, withSmall bool) string {
	var letters []byte
	for _, word := range words {
		if withSmall || !isSmall(word) {
			letters = append(letters, word[0])
		}
	}
	return string(letters)
}

// isSmall reports whether a word may be omitted from an acronym.
func isSmall(word string) bool {
	switch word {
	case "a", "an", "and", "at", "by", "for", "in", "of", "on", "the", "to":
		return true
	}
	return false
}

// isDegree reports whether a word indicates that the name is a practitioner's.
func isDegree(word string) bool {
	switch word {
	case "do", "dpm", "dr", "md", "mdpa", "mdpc", "od":
		return true
	}
	return false
}

// isGeneral reports whether people often omit a word from the end of a name.
func isGeneral(word string) bool {
	switch word {
	case "cancer", "care", "center", "centers", "clinic", "clinics", "group", "health", "healthcare", "hospital",
		"hospitals", "medical", "medicine", "network", "school", "system", "systems":
		return true
	}
	return false
}

// acronym matches the brands whose acronym is the complete query, and returns them. If many names contain a longer word
// with the same prefix, the query is probably incomplete. acronym then returns nil, although the brands still match.
func (s search) acronym() map[uint32]bool {
	short := strings.Join(s.words, "")
	w, ok := s.index.number(short)
	if !ok || len(short) < minAcronym || len(short) > maxAcronym {
		return nil
	}
	known := map[uint32]bool{}
	for v := range s.index.places.at(w).all {
		if p := place(v); p.position() == initials {
			known[p.brand()] = true
			for i := range s.words {
				s.brand(i, p.brand(), asInitials)
			}
		}
	}
	longer := uint32(0)
	from, to := s.index.beginning(short)
	for other := from; other < to; other++ {
		if other != w {
			longer += s.index.places.at(other).len()
		}
	}
	if longer >= usualWord {
		return nil
	}
	return known
}
