package lookalike_test

import (
	"slices"
	"testing"

	"recordbridge/shared/catalog/lookalike"
)

func TestComparerDetectsNamesThatLookAlike(t *testing.T) {
	t.Parallel()
	alder := lookalike.NewComparer(lookalike.Face{Names: []string{"Alder Maple Clinic"}})
	for _, name := range []string{
		"Alder Maple Clinic",
		"\u0410lder Maple Clinic",      // Cyrillic A
		"Alder M\u0430ple Clinic",      // Cyrillic a
		"Ald\u0435r Maple Clini\u0441", // Cyrillic e and s
		"Ａｌｄｅｒ Ｍａｐｌｅ Ｃｌｉｎｉｃ",           // full-width
		"A1der Maple Clinic",
		"AIder Maple Clinic", // a capital i
		"A|der Maple Clinic",
		"Alder Maple C1inic",
		"Alder Rnaple Clinic",
		"ALDER MAPLE CLINIC",
		"Alder-Maple Clinic",
		"AlderMaple Clinic",
		"Alder Maple Clinic, Inc.",
		"Alder Maple Clinic LLC",
		"The Alder Maple Clinic",
		"Älder Maple Clinic",
		"𝐀𝐥𝐝𝐞𝐫 Maple Clinic",
		"Alder\u200b Maple\u2060 Clinic",
		"Alder Maple Clinic \u0406nc.", // Cyrillic I
	} {
		if got := alder.Alike(lookalike.Face{Names: []string{name}}); !slices.Equal(got, []string{"name"}) {
			t.Errorf("%q: %q", name, got)
		}
	}
	for _, name := range []string{"Birch Hill Practice", "Alder Clinic", "Elder Maple Clinic", "", "Inc."} {
		if got := alder.Alike(lookalike.Face{Names: []string{name}}); len(got) != 0 {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := alder.Alike(lookalike.Face{Names: []string{"Maple Health", "ALDER MAPLE CLINIC"}}); len(got) != 1 {
		t.Errorf("an alias: %q", got)
	}
}

func TestComparerDetectsHostsAndLogosThatLookAlike(t *testing.T) {
	t.Parallel()
	alder := lookalike.NewComparer(lookalike.Face{
		Site: "https://www.alder.example",
		Logo: "https://cdn.alder.example/logo.svg",
	})
	for site, isAlike := range map[string]bool{
		"https://alder.example/about":     true,
		"https://ALDER.example.":          true,
		"https://a1der.example":           true,
		"https://\u0430lder.example":      true,
		"https://xn--lder-43d.example":    true, // the same name in Punycode
		"https://cdn.alder.example/x":     true,
		"https://birch.example":           false,
		"https://alder.example.evil.test": false,
		"":                                false,
		"https://%zz":                     false,
	} {
		if got := alder.Alike(lookalike.Face{Site: site}); slices.Equal(got, []string{"host"}) != isAlike {
			t.Errorf("%s: %q", site, got)
		}
	}
	if got := alder.Alike(lookalike.Face{Logo: "https://cdn.alder.example/logo.svg"}); !slices.Equal(got,
		[]string{"host", "logo"}) {
		t.Errorf("the same logo: %q", got)
	}
	if got := lookalike.NewComparer(lookalike.Face{}).Alike(lookalike.Face{Names: []string{""}}); len(got) != 0 {
		t.Errorf("two without anything: %q", got)
	}
}
