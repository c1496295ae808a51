package cda_test

import (
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda/cda"
)

func TestWordsCollapsesWhitespace(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                         "",
		"one":                      "one",
		" one  two\n":              "one two",
		"one two":                  "one two",
		"one\ttwo":                 "one two",
		"o<b>n</b>e":               "one",
		"one<br/>two":              "one two",
		"<br/>one<br/>":            "one",
		"<td>one</td><td>two</td>": "one two",
		"one <b> two</b>  three ":  "one two three",
		"a\u00a0b\u2003c":          "a b c",
		"\u00e9t\u00e9 \u00e0":     "\u00e9t\u00e9 \u00e0",
		"<br/> \u2003 <br/>":       "",
	} {
		parsed, err := cda.Parse([]byte("<ClinicalDocument><text>"+content+"</text></ClinicalDocument>"), 0)
		if err != nil {
			t.Fatal(err)
		}
		text := parsed.Root.At("text")
		var plain strings.Builder
		text.Write(&plain)
		if got := text.Words(); got != want || got != strings.Join(strings.Fields(plain.String()), " ") ||
			text.HasWords() != (want != "") {
			t.Errorf("words of %q are %q, want %q; HasWords is %v", content, got, want, text.HasWords())
		}
	}
}
