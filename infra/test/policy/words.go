package policy

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// elsewhere finds citations of papers that are not in the repository: what nobody can look up is no reason.
var elsewhere = regexp.MustCompile(`(?i)\b(?:decisions?|architecture|spec|specification|notes?) (?:sections?|[0-9])` +
	`|\b(?:fhir|serverless|widget|emulator|service) notes?\b|\bnotes on \w+, section|\bissues? [0-9]{1,2}\b|\b(?:style|fhir|house)\.md\b`)

// Citations finds comments, and any text of other sources, that cite what is not in the repository. Documents may say
// how they relate to the specification that the service is built to.
func Citations(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		switch {
		case f.Go != nil:
			for _, group := range f.Go.Comments {
				text := strings.Join(strings.Fields(group.Text()), " ")
				if cited := elsewhere.FindString(text); cited != "" {
					found.addf(t.where(group.Pos()), "cites %q, which is not in the repository", cited)
				}
			}
		case path.Ext(f.Path) != ".md" && !strings.HasPrefix(f.Path, "docs/"):
			if cited := elsewhere.Find(f.Text); cited != nil {
				found.addf(f.Path, "cites %q, which is not in the repository", cited)
			}
		}
	}
	return found.sorted()
}

// Word is one that the code does not use, because the field has another.
type Word struct {
	Old   string   // in lower case; one word of a name, or several in a row ("hand over error")
	Whole bool     // only as the whole name
	Use   string   // the field's word
	In    []string // folders where it has a sense of its own
}

// Dialect finds names that are made of words which the field does not use.
func Dialect(t *Tree, words []Word) []Finding {
	var found findings
	known := map[string][]Word{} // the words of a name, which stands in many places
	for _, f := range t.Files {
		if f.Go == nil {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			old, seen := known[name.Name]
			if !seen {
				old = slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return !w.isIn(name.Name) })
				known[name.Name] = old
			}
			for _, w := range old {
				if !slices.ContainsFunc(w.In, func(folder string) bool { return strings.HasPrefix(f.Path, folder) }) {
					found.addf(t.where(name.Pos()), "%s: the field's word is %s", name.Name, w.Use)
				}
			}
			return true
		})
	}
	return found.sorted()
}

// isIn tells whether a name has the word. A plural is the word, too.
func (w Word) isIn(name string) bool {
	spelled := " " + strings.Join(split(name), " ") + " "
	if w.Whole {
		return spelled == " "+w.Old+" "
	}
	return strings.Contains(spelled, " "+w.Old+" ") || strings.Contains(spelled, " "+w.Old+"s ")
}

// split gives the words of a name in camel case, in lower case: "newHTTPKeeper" is new, http, keeper.
func split(name string) []string {
	var words []string
	runes := []rune(name)
	from := 0
	for i := 1; i <= len(runes); i++ {
		ends := i == len(runes) || runes[i] == '_' ||
			unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if ends {
			words = append(words, strings.ToLower(strings.Trim(string(runes[from:i]), "_")))
			from = i
		}
	}
	return words
}
