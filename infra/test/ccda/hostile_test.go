package ccdatest_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// document returns a minimal document about a fictional patient, with the given body.
func document(body string) string {
	return `<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		`<id root="2.16.840.1.113883.19.1" extension="SMALL"/><code code="34133-9" codeSystem="2.16.840.1.113883.6.1"/>` +
		`<effectiveTime value="20250101"/><recordTarget><patientRole><id root="2.16.840.1.113883.19.2" extension="1"/>` +
		`<patient><name><given>Fir</given><family>Sample</family></name></patient></patientRole></recordTarget>` +
		`<component>` + body + `</component></ClinicalDocument>`
}

func section(code, text, entries string) string {
	return `<structuredBody><component><section><code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/><text>` +
		text + `</text>` +
		entries + `</section></component></structuredBody>`
}

func problem(value string) string {
	return `<entry><act classCode="ACT" moodCode="EVN"><code code="CONC" codeSystem="2.16.840.1.113883.5.6"/>` +
		`<statusCode code="active"/>` +
		`<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">` +
		`<code code="64572001" codeSystem="2.16.840.1.113883.6.96"/>` +
		`<statusCode code="completed"/>` + value + `</observation></entryRelationship></act></entry>`
}

func TestConvertErrorOmitsContentOfInvalidDocument(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<a>", 100_000)
	for name, text := range map[string]string{
		"nothing":                   "",
		"text":                      "Fir Sample is not XML",
		"a page":                    "<html><body>Fir Sample</body></html>",
		"cut":                       document("")[:300],
		"nested too deeply":         document(section("11450-4", deep, "")),
		"nested deeply, and closed": document(section("11450-4", deep+strings.Repeat("</a>", 100_000), "")),
	} {
		_, err := ccda.Convert([]byte(text), func(ccda.Resource) error { return nil })
		if !errors.Is(err, ccda.ErrInvalid) || strings.Contains(err.Error(), "Sample") {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestConvertIgnoresXMLEntities(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString(`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "` + strings.Repeat("x", 1000) + `">`)
	for level := range 9 {
		fmt.Fprintf(&bomb, `<!ENTITY %c "%s">`, 'b'+level, strings.Repeat(fmt.Sprintf("&%c;", 'a'+level), 10))
	}
	for name, text := range map[string]string{
		"a bomb": bomb.String() + `]>` +
			document(section("11450-4", "&j;", problem(`<value><originalText>&j;</originalText></value>`))),
		"a file": `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>` +
			document(section("11450-4", "&f;", problem(`<value><originalText>&f;</originalText></value>`))),
		"an external DTD": `<!DOCTYPE ClinicalDocument SYSTEM "http://192.0.2.1/x.dtd">` +
			document(section("11450-4", "x", "")),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var out strings.Builder
		_, err := ccda.Convert([]byte(text), func(r ccda.Resource) error { _, err := out.Write(r.JSON); return err })
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, ccda.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(out.String(), "xxxxx") || strings.Contains(out.String(), "root:") ||
			after.TotalAlloc-before.TotalAlloc > 64<<20 {
			t.Errorf("%s: expanded to %d bytes, with %d MB", name, out.Len(), (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}

func TestConvertHandlesMinimalDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{
			"150 elements deep",
			document(section("11450-4", strings.Repeat("<content>", 150)+"deep"+strings.Repeat("</content>", 150), "")), "deep",
		},
		{"no patient", strings.NewReplacer("<recordTarget>", "<other>", "</recordTarget>",
			"</other>").Replace(document(section("11450-4", "x",
			problem(`<value code="22298006" codeSystem="2.16.840.1.113883.6.96"/>`)))), "22298006"},
		{"no body", document(""), `"resourceType":"Patient"`},
		{
			"a narrative without entries", document(section("11450-4", "<paragraph>Cough since May</paragraph>", "")),
			"Cough since May",
		},
		{
			"a section of no code",
			document(
				`<structuredBody><component><section><title>Remarks</title><text>Likes tea</text></section></component>` +
					`</structuredBody>`), "Likes tea",
		},
		{
			"an unstructured document",
			document(`<nonXMLBody><text mediaType="application/pdf" representation="B64">JVBERi0=</text></nonXMLBody>`),
			"JVBERi0=",
		},
		{
			"an unstructured document that is elsewhere",
			document(
				`<nonXMLBody><text mediaType="application/pdf"><reference value="https://fir.example.org/a.pdf"/></text>` +
					`</nonXMLBody>`), "https://fir.example.org/a.pdf",
		},
		{"an unstructured document of text", document(
			`<nonXMLBody><text mediaType="text/plain">Feels well</text></nonXMLBody>`), ""},
		{"a name only", document(section("11450-4", "x", problem(`<value displayName="Gout"/>`))), "Gout"},
		{"a code of no system", document(section("11450-4", "x", problem(`<value code="G1" displayName="Gout"/>`))), "G1"},
		{
			"a text that the narrative has", document(
				section("11450-4", `<content ID="a">Gout of the toe</content>`,
					problem(`<value nullFlavor="OTH"><originalText><reference value="#a"/></originalText></value>`))),
			"Gout of the toe",
		},
		{"no value", document(section("11450-4", "x", problem(`<value nullFlavor="UNK"/>`))), `"resourceType":"Condition"`},
		{
			"an unknown entry in an unknown section",
			document(section("99999-9", "x", `<entry><observation classCode="OBS" moodCode="EVN"><templateId root="1.2.3"/>`+
				`<code code="777-3" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>`+
				`<value xsi:type="PQ" value="9.5" unit="10*3/uL"/></observation></entry>`)), `"value":9.5`,
		},
		{
			"an entry of nothing",
			document(section("11450-4", "x", "<entry/><entry><act/></entry><entry><observation><value/></observation></entry>")),
			`"resourceType":"Patient"`,
		},
		{
			"numbers that are none",
			document(
				section("30954-2", "x",
					`<entry><observation><code code="777-3" codeSystem="2.16.840.1.113883.6.1"/>`+
						`<value xsi:type="PQ" value="1,5 or so" unit="x"/></observation></entry>`)), "777-3",
		},
		{
			"a time that is none",
			document(
				section("30954-2", "x",
					`<entry><observation><code code="777-3" codeSystem="2.16.840.1.113883.6.1"/>`+
						`<effectiveTime value="99999999"/></observation></entry>`)), "777-3",
		},
	} {
		out := string(convert(t, []byte(c.text)))
		if !strings.Contains(out, c.want) || !strings.Contains(out, `"resourceType":"Patient"`) {
			t.Errorf("%s: %s is not in %.3000s", c.name, c.want, out)
		}
	}
}

func TestConvertDetectsCharacterEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, declared, family, want string }{
		{"windows-1252", "windows-1252", "M\xfcller \x96 Sm\xf6rg\xe5s", "Müller – Smörgås"},
		{"Latin 1", "ISO-8859-1", "M\xfcller", "Müller"},
		{"windows-1252 that says it is UTF-8", "UTF-8", "M\xfcller", "Müller"},
		{"UTF-8 that says it is Latin 1", "ISO-8859-1", "Müller", "Müller"},
		{"ASCII that says it is something unknown", "x-unheard-of", "Muller", "Muller"},
	} {
		text := `<?xml version="1.0" encoding="` + c.declared + `"?>` + strings.Replace(document(""), "Sample", c.family, 1)
		if out := string(convert(t, []byte(text))); !strings.Contains(out, `"family":"`+c.want+`"`) {
			t.Errorf("%s: no %s in %.500s", c.name, c.want, out)
		}
	}
}

func TestConvertStopsWhenCallbackFails(t *testing.T) {
	t.Parallel()
	full, n := errors.New("disk full"), 0
	_, err := ccda.Convert(read(t, "alder.xml"), func(ccda.Resource) error { n++; return full })
	if !errors.Is(err, full) || n != 1 {
		t.Errorf("%v after %d resources", err, n)
	}
}
