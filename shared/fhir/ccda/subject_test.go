package ccda_test

import (
	"errors"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

func TestDocumentSetRejectsDocumentAboutAnotherPatient(t *testing.T) {
	t.Parallel()
	const (
		own      = `<name><given>Maple</given><given>Ann</given><family>Aster</family></name>`
		former   = `<name use="L"><given>Maple</given><family>Reed</family></name>`
		born     = `<birthTime value="19840312"/>`
		stranger = `<name><given>Sorrel</given><family>Birch</family></name>`
	)
	target := func(patient string) string {
		return `<recordTarget><patientRole><id root="2.16.840.1.113883.19.1" extension="a"/><patient>` + patient +
			`</patient></patientRole></recordTarget>`
	}
	for name, c := range map[string]struct {
		targets string
		taken   bool
	}{
		"the person":                   {target(own + born), true},
		"born at a minute":             {target(own + `<birthTime value="198403120915-0600"/>`), true},
		"with a former name":           {target(former + own + born), true},
		"told with a sex":              {target(own + born + `<administrativeGenderCode code="F"/>`), true},
		"of another sex":               {target(own + born + `<administrativeGenderCode code="M"/>`), false},
		"told twice":                   {target(own+born) + target(own+born), true},
		"another name":                 {target(stranger + born), false},
		"a former name alone":          {target(former + born), false},
		"born on another day":          {target(own + `<birthTime value="19840313"/>`), false},
		"born in the year":             {target(own + `<birthTime value="1984"/>`), false},
		"no birth time":                {target(own), false},
		"a birth time that is unknown": {target(own + `<birthTime nullFlavor="UNK"/>`), false},
		"no name":                      {target(born), false},
		"a name in one piece":          {target(`<name>Maple Aster</name>` + born), false},
		"parts of two names": {target(`<name><given>Maple</given></name><name><family>Aster</family></name>` +
			born), false},
		"somebody else as well":        {target(own+born) + target(stranger+born), false},
		"somebody without a name, too": {target(own+born) + `<recordTarget><patientRole/></recordTarget>`, false},
		"no record target":             {``, false},
		"a guardian who is the person": {target(stranger + born + `<guardian><guardianPerson>` + own +
			`</guardianPerson></guardian>`), false},
		"an author who is the person": {target(stranger+born) + `<author><assignedAuthor><assignedPerson>` + own +
			`</assignedPerson></assignedAuthor></author>`, false},
		"another one in front of it": {target(stranger+born) + target(own+born), false},
	} {
		set := ccda.Set{Is: func(given, family, birthDate, sex string) bool {
			return given == "Maple Ann" && sex != "M" && family == "Aster" && birthDate == "1984-03-12"
		}}
		err := set.Add([]byte(`<ClinicalDocument xmlns="urn:hl7-org:v3">` + c.targets + `</ClinicalDocument>`))
		if (err == nil) != c.taken || err != nil && !errors.Is(err, ccda.ErrSubject) {
			t.Errorf("%s: %v", name, err)
		}
		emitted := 0
		if _, err := set.Emit(func(ccda.Resource) error { emitted++; return nil }); err != nil || (emitted > 0) != c.taken {
			t.Errorf("%s: %d resources, %v", name, emitted, err)
		}
	}
}
