package org_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestPurposeSetTrimsPlainText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  We find clinical trials that fit you. We don't sell data. \n": "We find clinical trials that fit you. We don't " +
			"sell data.",
		"Buscamos estudios clínicos para usted; ¡gratis!": "Buscamos estudios clínicos para usted; ¡gratis!",
		"We’re open 24/7, e.g. on Sundays (No.1).":        "We’re open 24/7, e.g. on Sundays (No.1).",
		strings.Repeat("é", 160):                          strings.Repeat("é", 160),
		"\u3000":                                          "",
	} {
		var purpose org.Purpose
		if err := purpose.Set(&text, &text); err != nil || purpose != (org.Purpose{English: want, Spanish: want}) {
			t.Errorf("%q: %+v (%v), want %q", text, purpose, err, want)
		}
	}
}

func TestPurposeSetKeepsOmittedAndRemovesEmptyText(t *testing.T) {
	t.Parallel()
	purpose := org.Purpose{English: "We plan your care.", Spanish: "Planificamos su atención."}
	if err := purpose.Set(nil, new("")); err != nil || purpose != (org.Purpose{English: "We plan your care."}) {
		t.Errorf("%+v (%v)", purpose, err)
	}
	if err := purpose.Set(new(""), nil); err != nil || purpose != (org.Purpose{}) {
		t.Errorf("%+v (%v)", purpose, err)
	}
}

func TestPurposeSetRejectsMarkupURLsAndInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for what, texts := range map[string][]string{
		"markup":   {"<b>We care.</b>", "a < b", "</script><script>alert(1)</script>", "-->"},
		"URLs":     {"https://evil", "javascript://x", "See www.a", "See WWW. evil", "See evil.example/login", "a@b.example"},
		"quotes":   {`We care." We also`, "Care.” Your hospital approves", "Atención.» Nosotros", "„x", "＂"},
		"controls": {"one\ntwo", "one\r\ntwo", "a\tb", "a\x00b", "a\x1b[0m", "a\u0085b", "a\u2028b", "a\u2029b"},
		"hidden":   {"a\u202eb", "\u2066a\u2069", "a\u200bb", "a\u00adb", "a\ufeffb", "a\U000e0041b"},
		"long":     {strings.Repeat("é", 161)},
		"no UTF-8": {"a\xffb"},
	} {
		for _, text := range texts {
			for field, set := range map[string]func(*org.Purpose) error{
				"purpose":    func(p *org.Purpose) error { return p.Set(&text, nil) },
				"purpose-es": func(p *org.Purpose) error { return p.Set(new("Changed."), &text) },
			} {
				purpose := org.Purpose{English: "Kept."}
				if err := set(&purpose); !errors.Is(err, fault.Invalid) || fault.Of(err).Field != field {
					t.Errorf("%s: %q as %s: %v", what, text, field, err)
				}
				if purpose != (org.Purpose{English: "Kept."}) {
					t.Errorf("%s: %q changed the purpose to %+v", what, text, purpose)
				}
			}
		}
	}
}
