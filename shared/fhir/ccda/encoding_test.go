package ccda_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/fhir/ccda/emit"
)

// familyIn returns a document in the given encoding whose patient has the given family name.
func familyIn(declared, family string) string {
	return `<?xml version="1.0" encoding="` + declared + `"?>` + strings.TrimPrefix(
		ccdatest.Document(`<recordTarget><patientRole><patient><name><family>`+family+
			`</family></name></patient></patientRole></recordTarget>`, ""), `<?xml version="1.0"?>`)
}

func TestDocumentSetDecodesDeclaredEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		declared, family string
		by               encoding.Encoding
	}{
		{"GB18030", "\u6797\u5c0f\u660e", simplifiedchinese.GB18030},
		{"gb2312", "\u6797\u5c0f\u660e", simplifiedchinese.GBK},
		{"GBK", "\u6797", simplifiedchinese.GBK},
		{"Shift_JIS", "\u5c71\u7530\u82b1\u5b50", japanese.ShiftJIS},
		{"windows-31j", "\u30e4\u30de\u30c0", japanese.ShiftJIS},
		{"EUC-JP", "\u5c71\u7530", japanese.EUCJP},
		{"ISO-2022-JP", "\u5c71\u7530", japanese.ISO2022JP},
		{"EUC-KR", "\uae40\ubbfc\uc218", korean.EUCKR},
		{"Big5", "\u6797\u5c0f\u660e", traditionalchinese.Big5},
		{"windows-1251", "\u0418\u0432\u0430\u043d\u043e\u0432", charmap.Windows1251},
		{"ISO-8859-2", "Nov\u00e1k \u0159", charmap.ISO8859_2},
		{"KOI8-R", "\u0418\u0432\u0430\u043d", charmap.KOI8R},
		{"IBM850", "M\u00fcller", charmap.CodePage850},
		{"windows-1252", "M\u00fcller \u2013 x", charmap.Windows1252},
		{"GB18030", "\u6797\u5c0f\u660e", unicode.UTF8}, // The bytes are valid UTF-8.
		{"Shift_JIS", "\u5c71\u7530", unicode.UTF8BOM},
		{"GB18030", "\u6797\u5c0f\u660e", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"windows-1252", "\u6797", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
		{"utf-16", "Lin", unicode.UTF8},
	} {
		document, err := c.by.NewEncoder().String(familyIn(c.declared, c.family))
		if err != nil {
			t.Fatal(err)
		}
		out, report := ccdatest.Lines(t, []byte(document))
		if !bytes.Contains(out, []byte(`"family":"`+c.family+`"`)) || report.Documents[0].IsPartial() {
			t.Errorf("%s by %v: no %s in %.300s, dropped %v", c.declared, c.by, c.family, out, report.Documents[0].Dropped)
		}
	}
}

// Two GBK characters of two bytes each can also be valid UTF-8 for Latin letters.
func TestDocumentSetPrefersDeclaredEncodingWhenTextIsAlsoValidUTF8(t *testing.T) {
	t.Parallel()
	bytesOf := "\xC4\xA1\xC5\xA2"
	want, err := simplifiedchinese.GB18030.NewDecoder().String(bytesOf)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := ccdatest.Lines(t, []byte(familyIn("gb18030", bytesOf))); !bytes.Contains(out,
		[]byte(`"family":"`+want+`"`)) {
		t.Errorf("no %s in %.300s", want, out)
	}
}

func TestConvertCountsUndecodableCharacters(t *testing.T) {
	t.Parallel()
	const guessed, replaced = "not in the declared encoding; read as windows-1252", "not one of the document's encoding"
	for name, c := range map[string]struct{ document, family, reason string }{
		"Shift_JIS with a byte of none":    {familyIn("Shift_JIS", "\x8eR\xff"), "\u5c71\uFFFD", replaced},
		"UTF-8 with bytes of windows-1252": {familyIn("UTF-8", "M\xfcller"), "M\u00fcller", guessed},
		"no declaration, not UTF-8": {
			strings.Replace(familyIn("", "M\xfcller"), ` encoding=""`, "", 1),
			"M\u00fcller", guessed,
		},
		"UTF-8 mark, bytes of windows-1252": {"\xEF\xBB\xBF" + familyIn("GB18030", "M\xfcller"), "M\u00fcller", guessed},
		"UTF-16 declared in ASCII":          {familyIn("UTF-16", "M\xfcller"), "M\u00fcller", guessed},
	} {
		out, report := ccdatest.Lines(t, []byte(c.document))
		want := []emit.Dropped{{What: "character", Reason: c.reason, Count: 1}}
		if got := report.Documents[0].Dropped; !slices.Equal(got, want) {
			t.Errorf("%s: dropped %v, want %v", name, got, want)
		}
		if !bytes.Contains(out, []byte(`"family":"`+c.family+`"`)) {
			t.Errorf("%s: no %s in %.300s", name, c.family, out)
		}
	}
}

func TestDocumentSetRejectsUnknownEncodingUnlessTextIsUTF8(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{"x-none", "hz-gb-2312", "ISO-2022-KR", "x-user-defined", "EBCDIC-US"} {
		var s ccda.Set
		if err := s.Add([]byte(familyIn(declared, "M\xfcller"))); !errors.Is(err, ccda.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", declared, err)
		}
		if err := s.Add([]byte(familyIn(declared, "M\u00fcller"))); err != nil {
			t.Errorf("%s in UTF-8: %v", declared, err)
		}
	}
}
