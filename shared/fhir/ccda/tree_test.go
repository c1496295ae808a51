package ccda_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

func TestDocumentSetRejectsInvalidDocument(t *testing.T) {
	t.Parallel()
	whole := ccdatest.Document(ccdatest.SomePatient, "")
	for name, text := range map[string]string{
		"empty": "", "no XML": "hello", "JSON": `{"resourceType": "Bundle"}`, "other XML": "<a/>",
		"cut off": whole[:len(whole)-5], "crossed": "<ClinicalDocument><a></ClinicalDocument></a>",
		"of two roots": whole + "<a/>", "too deep": ccdatest.Document(ccdatest.SomePatient,
			strings.Repeat("<x>", 300)+strings.Repeat("</x>", 300)),
		"of too many parts": ccdatest.Document(ccdatest.SomePatient, strings.Repeat("<x/>", 4<<20)),
		"too large":         ccdatest.Document(ccdatest.SomePatient, strings.Repeat(" ", 65<<20)),
	} {
		var s ccda.Set
		if err := s.Add([]byte(text)); !errors.Is(err, ccda.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestDocumentSetAcceptsNestedAndWrappedDocument(t *testing.T) {
	t.Parallel()
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		ccdatest.Document(ccdatest.SomePatient, strings.Repeat("<x>", 200)+strings.Repeat("</x>", 200))), "Patient | id")
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		"<soap><body>"+strings.TrimPrefix(ccdatest.Document(ccdatest.SomePatient, ""), `<?xml version="1.0"?>`)+
			"</body></soap>"), "Patient | identifier.value=p")
}

func TestParseDoesNotExpandDeclaredEntities(t *testing.T) {
	t.Parallel()
	bomb := `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>`
	text := strings.Replace(ccdatest.Document(
		`<recordTarget><patientRole><id root="1.2.3" extension="p"/><patient><name><family>&b;&f;x&eacute;</family>`+
			`</name></patient></patientRole></recordTarget>`, ""),
		`<?xml version="1.0"?>`, bomb, 1)
	ccdatest.Wants(t, ccdatest.DocumentFacts(t, text), "Patient | name.family=&b;&f;xé")
}

func TestDocumentSetDetectsEncodingFromBytes(t *testing.T) {
	t.Parallel()
	named := func(declaration, family string) string {
		return declaration + strings.TrimPrefix(
			ccdatest.Document(`<recordTarget><patientRole><patient><name><family>`+family+
				`</family></name></patient></patientRole></recordTarget>`, ""), `<?xml version="1.0"?>`)
	}
	inUTF16 := func(text string, order binary.AppendByteOrder, mark bool) string {
		var out []byte
		if mark {
			out = order.AppendUint16(out, 0xFEFF)
		}
		for _, unit := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, unit)
		}
		return string(out)
	}
	for name, text := range map[string]string{
		"UTF-8":                              named(`<?xml version="1.0" encoding="utf-8"?>`, "Zoë’s"),
		"UTF-8 with a mark":                  "\xEF\xBB\xBF" + named("", "Zoë’s"),
		"UTF-8 that says it is Latin":        named(`<?xml version="1.0" encoding="ISO-8859-1"?>`, "Zoë’s"),
		"windows-1252":                       named(`<?xml version="1.0" encoding="windows-1252"?>`, "Zo\xEB\x92s"),
		"windows-1252 that says it is UTF-8": named(`<?xml version="1.0" encoding="UTF-8"?>`, "Zo\xEB\x92s"),
		"both":                               named(`<?xml version="1.0" encoding="UTF-8"?>`, "Zo\xEB’s"),
		"UTF-16, little endian": inUTF16(named(`<?xml version="1.0" encoding="UTF-16"?>`, "Zoë’s"),
			binary.LittleEndian, true),
		"UTF-16, big endian": inUTF16(named(`<?xml version="1.0" encoding="UTF-16"?>`, "Zoë’s"), binary.BigEndian, true),
		"UTF-16 without a mark": inUTF16(named(`<?xml version="1.0" encoding="UTF-16"?>`, "Zoë’s"),
			binary.LittleEndian, false),
		"of an unknown name":  named(`<?xml version="1.0" encoding="x-none"?>`, "Zoë’s"),
		"with a control":      named("", "Zoë’s\x0B"),
		"with a blank before": "\n " + named(`<?xml version="1.0"?>`, "Zoë’s"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ccdatest.Wants(t, ccdatest.DocumentFacts(t, text), "Patient | name.family=Zoë’s")
		})
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(ccdatest.Document(ccdatest.SomePatient,
		`<structuredBody><component><section><code code="11450-4"/>`+
			ccdatest.Concern("active", ccdatest.ProblemOf("", ccdatest.Pneumonia))+`</section></component></structuredBody>`)))
	f.Add([]byte(ccdatest.Document(ccdatest.SomePatient,
		`<structuredBody><component><section><code code="48765-2"/>`+
			ccdatest.AllergyOf("", ccdatest.AllergyKind("416098002")+ccdatest.Penicillin)+
			`</section></component></structuredBody>`)))
	f.Add([]byte(ccdatest.Document(ccdatest.SomePatient,
		`<structuredBody><component><section><code code="10160-0"/>`+
			ccdatest.MedicationOf("EVN", "<effectiveTime><period value='1' unit='h'/></effectiveTime>")+
			`</section></component></structuredBody>`)))
	for _, name := range slices.Sorted(maps.Keys(amplifiers(2000))) {
		f.Add(amplified(amplifiers(2000)[name]))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		var s ccda.Set
		if err := s.Add(document); err != nil {
			if !errors.Is(err, ccda.ErrInvalid) {
				t.Errorf("%v, want ErrInvalid", err)
			}
			return
		}
		converted(t, "fuzz", document)
	})
}
