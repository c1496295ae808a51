package names_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/names"
)

func TestWordsNormalisesText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"St. Odo's Women’s Hospital":       "st odos womens hospital",
		"Vela & Crane Foot+Ankle, P.L.L.C": "vela and crane foot and ankle pllc",
		"J.E. Marrow, M.D.,P.A.":           "je marrow md pa",
		"J. E. Marrow M. D.":               "j e marrow m d",
		"J.Marrow":                         "j marrow",
		"U.S.A. 1.5 Dr.Marrow":             "usa 1 5 dr marrow",
		"OB/GYN-North_Shore":               "ob gyn north shore",
		"Clínica PEÑA Øst Straße":          "clinica pena ost strasse",
		"Clinica Peña":                     "clinica pena",
		"Ставрос 東京":                       "ставрос 東京",
		" \x00\u200b--..'' ":               "",
		"":                                 "",
	} {
		if diff := cmp.Diff(want, strings.Join(names.Words(text), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestAbbreviationsAreNormalised checks that every meaning has the form that Words returns. A meaning in any other form
// would never match a word.
func TestAbbreviationsAreNormalised(t *testing.T) {
	t.Parallel()
	for short, meanings := range names.Abbreviations() {
		seen := map[string]bool{}
		for _, text := range append([]string{short}, meanings...) {
			if got := strings.Join(names.Words(text), " "); got != text || seen[text] {
				t.Errorf("%s: %q reads as %q, or stands there twice", short, text, got)
			}
			seen[text] = true
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{"M.D.,P.A.", "a.b.c d", "'’.´&+", "\xff\xfe.é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := names.Words(text)
		if again := names.Words(strings.Join(words, " ")); !cmp.Equal(words, again) {
			t.Errorf("%q reads as %q, and that as %q", text, words, again)
		}
	})
}
