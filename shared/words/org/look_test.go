package org_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestLookSetNormalisesFont(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"Georgia,serif":                   "Georgia, serif",
		"  Segoe   UI ,-apple-system":     "Segoe UI, -apple-system",
		`'Segoe UI' , "Font 2","initial"`: `"Segoe UI", "Font 2", "initial"`,
		strings.Repeat("a", 200):          strings.Repeat("a", 200),
	} {
		var look org.Look
		if err := look.Set(nil, &text, nil); err != nil || look.Font != want {
			t.Errorf("%q: %q (%v), want %q", text, look.Font, err, want)
		}
		if err := look.Check(); err != nil {
			t.Errorf("%q was stored as %q, which is invalid: %v", text, look.Font, err)
		}
	}
}

func TestLookSetRejectsFontWithOtherCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"serif;color:red", "serif}", "serif{", "url(https://evil.example/f)", "url(x)", "expression(alert(1))", "var(--ink)",
		"serif\n", "serif\r", "ser\tif", "serif/*", "\\73 erif", "</style>", "serif!important", "@import", "a:b", "a.b",
		`"serif`, `serif"`, `"a'b"`, `'a"b'`, `"a" b`, `a "b"`, `""`, `" "`, "-", "--x", " ", ",", "serif,", ",serif",
		"a,,b", "Font 2", "2", "inherit", "serif, INITIAL", "revert-layer", "Default",
		"\u202eserif", "\u05d0\u05e8\u05d9\u05d0\u05dc", "\u0627\u0644", "se\u200brif", "\uff21", "serif\x00", "serif\xff",
		strings.Repeat("a", 201), strings.Repeat("a,", 99) + "abc", strings.Repeat(" ", 300),
	} {
		look := org.Look{Font: "Georgia"}
		if err := look.Set(new("3"), &text, nil); !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "font" {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(org.Look{Font: "Georgia"}, look); diff != "" {
			t.Errorf("%q changed the look:\n%s", text, diff)
		}
		if err := (&org.Look{Font: text}).Check(); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q passes as a stored font: %v", text, err)
		}
	}
}

func TestLookSetSuggestsQuotationMarksForUnquotedWord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Font 2", "serif, Initial"} {
		err := (&org.Look{}).Set(nil, &text, nil)
		if !strings.HasPrefix(fault.Of(err).Public, "Put a font's name in quotation marks") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLookSetValidatesRadiusAndColorScheme(t *testing.T) {
	t.Parallel()
	var look org.Look
	for _, c := range []struct {
		radius, scheme string
		want           org.Look
	}{
		{"0", "dark", org.Look{Radius: new(0), ColorScheme: org.Dark}},
		{"24", "light", org.Look{Radius: new(24), ColorScheme: org.Light}},
		{"", "auto", org.Look{}},
		{"7", "", org.Look{Radius: new(7)}},
	} {
		if err := look.Set(&c.radius, nil, &c.scheme); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if diff := cmp.Diff(c.want, look); diff != "" {
			t.Errorf("radius %q, scheme %q (-want +got):\n%s", c.radius, c.scheme, diff)
		}
	}
	for _, text := range []string{"-1", "25", "+5", "05", "1.5", "1e1", " 1", "1px", `"1"`, "\u0663", "9999999999"} {
		if err := look.Set(&text, nil, nil); !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "radius" {
			t.Errorf("radius %q: %v", text, err)
		}
	}
	for _, text := range []string{"Dark", "night", "light dark", "dark\n", `dark" onload="`, "\u202edark"} {
		if err := look.Set(nil, nil, &text); !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "color-scheme" {
			t.Errorf("scheme %q: %v", text, err)
		}
		if err := (&org.Look{ColorScheme: org.ColorScheme(text)}).Check(); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q passes as a stored scheme: %v", text, err)
		}
	}
	if diff := cmp.Diff(org.Look{Radius: new(7)}, look); diff != "" {
		t.Errorf("an invalid setting changed the look:\n%s", diff)
	}
	for _, radius := range []int{-1, 25} {
		if err := (&org.Look{Radius: &radius}).Check(); !errors.Is(err, fault.Invalid) {
			t.Errorf("%d passes as a stored radius: %v", radius, err)
		}
	}
}
