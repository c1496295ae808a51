package cda_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda/cda"
)

func TestParseAcceptsMalformedMarkupWhenUnambiguous(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string]string{
		"a &amp;&lt;&gt;&quot;&apos; &#65;&#x42; &eacute;": `a &<>"' AB é`,
		"&unknown; & &; &#x110000; &#xZ;":                  "&unknown; & &; &#x110000; &#xZ;",
		"a&#1;b":                                           "a b",
		"<![CDATA[<b> &amp; ]]>c":                          "<b> &amp; c",
		"a<!-- not -- this -->b<?nor this?>c":              "abc",
		"a\r\nb\rc":                                        "a\nb\nc",
		"<v:b xmlns:v='u' x='1'>c</v:b>":                   "c",
		"a]]>b":                                            "a]]>b",
		"<b x=1 y z='<&quot;>'/>c":                         "c",
		"<b\n x = \"1\"\t/>c":                              "c",
		"\u00e9\U0001F600":                                 "\u00e9\U0001F600",
		"<n\u00e4me>c</n\u00e4me >":                        "c",
		"&" + strings.Repeat("a", 100) + ";":               "&" + strings.Repeat("a", 100) + ";",
		"<!DOCTYPE x [<!ENTITY e '>'><!-- ' --><!ELEMENT x (y)>]>text": "text",
	} {
		parsed, err := cda.Parse([]byte("<ClinicalDocument><text>"+markup+"</text></ClinicalDocument>"), 0)
		if err != nil {
			t.Errorf("%s: %v", markup, err)
			continue
		}
		var got strings.Builder
		for child := parsed.Root.At("text").FirstChild(); child != nil; child = child.NextSibling() {
			child.Write(&got)
		}
		if got.String() != want {
			t.Errorf("%s is %q, want %q", markup, got.String(), want)
		}
	}
}

func TestParseReadsAttributes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" many='x'", 3000)
	parsed, err := cda.Parse(
		[]byte(`<d:ClinicalDocument xmlns="u" xmlns:d="v"><a one="1" d:two=' 2 ' three=3 four five="&lt;&#53;"`+long+
			`/></d:ClinicalDocument>`), 0)
	if err != nil {
		t.Fatal(err)
	}
	a := parsed.Root.At("a")
	for name, want := range map[string]string{
		"one": "1", "two": "2", "three": "3", "four": "four", "five": "<5",
		"many": "x", "xmlns": "", "d": "", "six": "",
	} {
		if got := a.Attr(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestParseRejectsMalformedMarkup(t *testing.T) {
	t.Parallel()
	for _, inside := range []string{
		"<", "< a/>", "<a", "<a b", "<a b=", "<a b='", "<a b='c", "<a/", "<a / >", "</a>", "<a></b>", "<a></a",
		"<a><b></a></b>", "<1/>", "<-/>",
		"<a:b:c/>", "<!-- ", "<![CDATA[ ", "<? ", "<!DOCTYPE ", "<!DOCTYPE '>", "<!DOCTYPE <!-- >", "</ a>", "<=/>",
	} {
		if _, err := cda.Parse([]byte("<ClinicalDocument>"+inside+"</ClinicalDocument>"), 0); !errors.Is(err,
			cda.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", inside, err)
		}
	}
}
