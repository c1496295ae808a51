package names

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is an institution's name, parsed from a list's text.
type Name struct {
	Display string // display form
	// Aliases holds alternative names, such as the name before "DBA" and, if its words differ, the original text.
	Aliases []string
	// State is the state that accompanies the name ("TN - Harrogate Clinic", "Harrogate Clinic HARROGATE TN"), or empty
	// if the text doesn't contain a state.
	State string
	City  string // city that accompanies the name
}

// maxName is the maximum length of a display name, in runes.
const maxName = 200

// Read separates a name from the surrounding text in lists, such as a state before the name, a town after the name, or
// a vendor's notes about the customer's server. state is the institution's known state, or empty. Read uses state to
// decide whether a word such as "MD" after the name is a state or a degree.
func (r *Reader) Read(text, state string) Name {
	said := plain(text)
	name := Name{}
	rest := r.withoutCode(said)
	rest, name.State = r.withoutStateInFront(rest)
	rest = r.withoutNoise(rest)
	rest, name.City, name.State = r.withoutPlaceBehind(rest, name.State, state)
	legal, known := r.asKnown(r.uncut(rest), len([]rune(said)) >= cutAt)
	name.Display = r.cased(legal)
	if known != "" {
		name.Display, name.Aliases = r.cased(known), []string{r.cased(legal)}
	}
	if len(Words(name.Display)) == 0 {
		name.Display = said
	}
	if SortName(name.Display) != SortName(said) {
		name.Aliases = append(name.Aliases, said)
	}
	name.City = r.town(name.City)
	return name
}

// cutAt is the length, in characters, at which common lists truncate names. A name of at least this length may end in
// an incomplete word.
const cutAt = 39

// uncut removes trailing words that can't end a name, such as "and" in "Harrogate Foot and". Lists that truncate names
// leave such words at the end.
func (r *Reader) uncut(text string) string {
	words := strings.Fields(text)
	for last := len(words) - 1; last > 0; last-- {
		if w := strings.ToLower(words[last]); w != "&" && (!r.fillers[w] || len(w) == 1) {
			return strings.TrimRight(strings.Join(words[:last+1], " "), " ,&-")
		}
	}
	return text
}

// plain converts a string to a single line, decodes HTML entities, and replaces control characters and repeated white
// space with a single space.
func plain(text string) string {
	text = html.UnescapeString(strings.ToValidUTF8(text, ""))
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c) || unicode.IsControl(c):
			return ' '
		case !unicode.IsPrint(c) || c == utf8.RuneError:
			return -1
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxName {
		text = strings.TrimSpace(string(runes[:maxName]))
	}
	return text
}

// withoutCode removes a vendor's customer number, as in "CC034_Harrogate Clinic".
func (r *Reader) withoutCode(text string) string {
	code, rest, found := strings.Cut(text, "_")
	initials := strings.TrimRight(code, "0123456789")
	if found && len(code) <= 8 && len(initials) <= 3 && len(initials) < len(code) && len(Words(rest)) > 1 {
		return strings.TrimSpace(rest)
	}
	return text
}

// withoutStateInFront removes a leading state, such as "TN - ", even if the name contains the state twice.
func (r *Reader) withoutStateInFront(text string) (rest, state string) {
	for {
		code, behind, found := strings.Cut(text, " - ")
		if !found || !r.states[code] || len(Words(behind)) == 0 {
			return text, state
		}
		text, state = strings.TrimSpace(behind), code
	}
}

// withoutPlaceBehind removes an all-caps town and state from the end of a name that is not in all caps. It also removes
// a trailing state that equals known (the institution's state) or that follows a legal form.
func (r *Reader) withoutPlaceBehind(text, said, known string) (rest, city, state string) {
	words := strings.Fields(text)
	last := len(words) - 1
	if last < 2 || !r.states[words[last]] || said != "" || known != "" && known != words[last] || !hasLower(text) {
		return text, "", said
	}
	code, from := words[last], last
	for from > 1 && isTown(words[from-1]) && r.forms[strings.ToLower(words[from-1])] == "" {
		from--
	}
	before := strings.ToLower(strings.Trim(words[last-1], ".,"))
	_, isForm := r.forms[before]
	switch {
	case from < last:
		return strings.TrimRight(strings.Join(words[:from], " "), " ,-"), strings.Join(words[from:last], " "), code
	case known == code || isForm && r.suffixes[before] && !r.suffixes[strings.ToLower(code)]:
		return strings.TrimRight(strings.Join(words[:last], " "), " ,-"), "", code
	case !r.suffixes[strings.ToLower(code)]:
		return text, "", code // "Urgent Care of Harrogate TN": the name is unchanged
	}
	return text, "", ""
}

// town converts a town's name from capitals to Title Case.
func (r *Reader) town(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = r.capitalised(w, i == 0)
	}
	return strings.Join(words, " ")
}

// isTown reports whether a word is in capitals and too long to be an abbreviation. In "EL PASO", only the second word
// is long enough.
func isTown(word string) bool {
	return len(word) >= 3 && strings.ToUpper(word) == word && !strings.ContainsAny(word, "0123456789&/.,()-") ||
		word == "ST." || word == "FT."
}

func hasLower(text string) bool { return strings.IndexFunc(text, unicode.IsLower) >= 0 }

// asKnown splits a name at "DBA" ("doing business as") into the names before and after "DBA". known is empty if the
// name does not contain "DBA", or if the name after "DBA" is truncated or a single word. If no name precedes "DBA",
// legal is the name after it.
func (r *Reader) asKnown(text string, isCut bool) (legal, known string) {
	words := strings.Fields(text)
	for i, w := range words {
		switch strings.ToLower(strings.Trim(w, "():-.,")) {
		case "dba", "d/b/a", "d.b.a", "d/b/a/":
			legal = strings.TrimRight(strings.Join(words[:i], " "), " ,-(")
			known = strings.Trim(strings.Join(words[i+1:], " "), " ,-():")
			switch {
			case len(Words(legal)) == 0:
				return known, ""
			case isCut && len([]rune(text)) <= cutAt+1 || !strings.Contains(r.Key(known), " "):
				return legal, ""
			}
			return legal, known
		}
	}
	return text, ""
}
