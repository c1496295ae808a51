package org_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestParseNameAcceptsNamesOfPracticesAndCompanies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Alder", "St. Mary's", "Dr. A. Maple", "3M Health", "Alder & Maple, Inc.", "A.B.C. Health", "Müller & Söhne e.V.",
		"Birch S.p.A.",
		"St.-Marien-Krankenhaus", "Clinic No.1", "Version 2.0 Labs", "Care 24/7", "U.S. Renal", "Alder - Maple",
		"“Alder” (Nord)", "L’Hôpital Érable",
		"Clínica Arce, S. L.", "株式会社アルダー", "アルダー・クリニック", "Клиника «Клён»", "مستشفى القيقب", "بیمارستان می\u200cشود",
		"मेपल क्लिनिक", "क्\u200dष चिकित्सालय",
		"מרפאת אדר", "병원", "Y.M.C.A.", "Alder … Maple", "D.O.O. Javor", strings.Repeat("é", 100),
	} {
		if got, err := org.ParseName("  " + name + "\u3000"); err != nil || got != name {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestParseNameRejectsURLsAndInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for what, names := range map[string][]string{
		"domains": {
			"Alder.example Clinic", "alder.example", "Visit evil.example/login now", "www.evil.example", "Bank:evil.com",
			"(evil.co.uk)", "evil．example",
			"evil。example", "evil｡example", "evil․example", "ｅｖｉｌ．ｃｏｍ", "клиника.рф", "例え.テスト", "xn--80ak6aa92e.com", "a.b.co",
			"Alder,evil.com", "evil.com.", "a_evil.com",
		},
		"addresses":  {"ada@alder.example", "ada@localhost", "ada＠alder", "a﹫b"},
		"URLs":       {"https://evil", "http:\u2044/evil.com", "//evil", "ｈｔｔｐｓ：／／evil", "192.0.2.1", "Bank 192.0.2.1:80"},
		"controls":   {"Alder\r\nBcc: eve", "Alder\tMaple", "Alder\x00", "Alder\u0085Maple", "Alder\x1b[0m"},
		"separators": {"Alder\u2028Maple", "Alder\u2029Maple"},
		"bidi marks": {"Alder\u202eelpaM", "\u2066Alder\u2069", "Al\u200fder", "Al\u200eder", "Al\u061cder"},
		"invisible": {
			"Al\u200bder", "Al\u00adder", "Al\ufeffder", "Al\u200dder", "\u200dAlder", "Al\u034fder", "\u3164",
			"Al\u2800der", "Al\ufe0fder", "Al\U000e0041der", "Al\ue000der",
		},
		"empty":    {"", " ", "\u3000"},
		"long":     {strings.Repeat("é", 101)},
		"no UTF-8": {"Al\xffder"},
	} {
		for _, name := range names {
			if got, err := org.ParseName(name); !errors.Is(err, fault.Invalid) || got != "" || fault.Of(err).Field != "name" {
				t.Errorf("%s: %q: %q, %v", what, name, got, err)
			}
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("St. Mary's")
	f.Add("evil.example")
	f.Fuzz(func(t *testing.T, text string) {
		name, err := org.ParseName(text)
		if err != nil {
			return
		}
		if again, err := org.ParseName(name); err != nil || again != name {
			t.Errorf("%q was accepted as %q, which is read as %q (%v)", text, name, again, err)
		}
		if strings.ContainsAny(name, "@\r\n\x00\u2028\u2029\u202e") || strings.Contains(name, "://") {
			t.Errorf("%q was accepted", name)
		}
	})
}
