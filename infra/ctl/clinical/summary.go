package clinical

import (
	"cmp"
	"slices"
	"strings"
)

// Kinds of differences between two conversions of a document.
const (
	FactAdded    = "fact added"
	FactRemoved  = "fact removed"
	ValueAdded   = "value added"
	ValueRemoved = "value removed"
	ValueChanged = "value changed"
)

// Kind counts one kind of difference in one element of a resource type.
type Kind struct {
	Difference string `json:"difference"`
	Type       string `json:"type"`
	Path       string `json:"path,omitempty"`
	Count      int    `json:"count"`
	Documents  int    `json:"documents"` // number of documents with this difference
	Example    string `json:"example"`   // one example: its document, fact and values
}

// Summary counts the differences between many pairs of conversions, grouped by kind.
type Summary struct {
	Documents  int      `json:"documents"`
	Different  int      `json:"different"` // documents with differences
	OnlyBefore []string `json:"only_before"`
	OnlyAfter  []string `json:"only_after"`
	Kinds      []*Kind  `json:"kinds"` // most frequent first
}

// Equal reports whether both sides contain the same documents with the same facts.
func (s *Summary) Equal() bool { return s.Different+len(s.OnlyBefore)+len(s.OnlyAfter) == 0 }

// Add counts the differences in one document.
func (s *Summary) Add(document string, d Difference) {
	s.Documents++
	if d.Equal() {
		return
	}
	s.Different++
	counted := map[*Kind]bool{}
	count := func(kind, path string, of Fact, values string) {
		k := s.kind(kind, of.Type, path)
		k.Count++
		if !counted[k] {
			counted[k] = true
			k.Documents++
		}
		if k.Example == "" {
			k.Example = strings.Join(strings.Fields(document+": "+of.Code+" "+of.Time+" "+values), " ")
		}
	}
	for _, f := range d.Added {
		count(FactAdded, "", f, "")
	}
	for _, f := range d.Removed {
		count(FactRemoved, "", f, "")
	}
	for _, c := range d.Changed {
		for path, sides := range c.Parts {
			kind := ValueChanged
			switch {
			case sides.Before == nil:
				kind = ValueAdded
			case sides.After == nil:
				kind = ValueRemoved
			}
			count(kind, path, c.Fact, short(sides.Before)+" -> "+short(sides.After))
		}
	}
	slices.SortFunc(s.Kinds, func(a, b *Kind) int {
		return cmp.Or(
			cmp.Compare(b.Count, a.Count), cmp.Compare(a.Difference, b.Difference), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Path, b.Path),
		)
	})
}

// kind returns the counter for a kind of difference, creating it on first use.
func (s *Summary) kind(difference, kind, path string) *Kind {
	at := slices.IndexFunc(s.Kinds, func(k *Kind) bool {
		return k.Difference == difference && k.Type == kind && k.Path == path
	})
	if at < 0 {
		at = len(s.Kinds)
		s.Kinds = append(s.Kinds, &Kind{Difference: difference, Type: kind, Path: path})
	}
	return s.Kinds[at]
}

// short joins values into a string of at most 60 characters.
func short(values []string) string {
	text := []rune(strings.Join(values, ", "))
	if len(text) > 60 {
		return string(text[:60]) + "…"
	}
	return string(text)
}
