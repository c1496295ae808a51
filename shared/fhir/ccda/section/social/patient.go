package social

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// patientFact is a C-CDA observation that FHIR represents as a Patient extension (C-CDA on FHIR, "Social History"). The
// fact also becomes an Observation, which can record its source and time.
type patientFact struct {
	root      string // template OID
	name      string
	code      string // LOINC code that identifies an observation without a template
	display   string
	extension string // US Core extension
}

func patientFacts() []patientFact {
	return []patientFact{
		{
			"2.16.840.1.113883.10.20.22.4.200", "Birth Sex Observation", "76689-9", "Sex Assigned At Birth",
			"us-core-birthsex",
		},
		{
			"2.16.840.1.113883.10.20.34.3.45", "Gender Identity Observation", "76691-5", "Gender identity",
			"us-core-genderIdentity",
		},
		{"2.16.840.1.113883.10.20.22.4.507", "Sex Observation", "46098-0", "Sex", "us-core-sex"},
		{
			"2.16.840.1.113883.10.20.22.4.506", "Tribal Affiliation Observation", "95370-3", "Tribal affiliation",
			"us-core-tribal-affiliation",
		},
	}
}

func patientEntries() []statement.Entry {
	facts := patientFacts()
	rules := make([]statement.Entry, 0, len(facts))
	for _, about := range facts {
		rules = append(rules, statement.Entry{
			Roots: []string{about.root}, Name: about.name, Target: "Observation, Patient." + about.extension,
			Convert: func(c *statement.Context, n *cda.Node) { convertFact(c, n, about) },
		})
	}
	return rules
}

// factOf returns the fact for an observation's code.
func factOf(code *cda.Node) (patientFact, bool) {
	for _, about := range patientFacts() {
		if cda.Has(code, about.code) {
			return about, true
		}
	}
	return patientFact{}, false
}

// convertFact creates an Observation. It also creates the Patient extension unless an earlier observation has created
// it.
func convertFact(c *statement.Context, n *cda.Node, about patientFact) {
	o, value := readSocial(c, n), n.At("value")
	if cda.CodeOf(n.At("code")) == "ASSERTION" || n.At("code") == nil {
		observation.Recode(o, about.code, about.display)
	}
	if flavor := value.Attr("nullFlavor"); o.Value == (r4.Value{}) && !cda.IsNegated(n) &&
		cda.IsOneOf(flavor, "OTH", "ASKU", "UNK") {
		o.Value, o.Absent = r4.Value{ValueCodeableConcept: unknownValue(value)}, nil
	}
	c.Add(o, n)
	if cda.IsNegated(n) || n.Attr("moodCode") == "GOL" {
		return
	}
	extension := r4.Extension{URL: datatype.USCore + about.extension}
	switch concept := o.ValueCodeableConcept; about.extension {
	case "us-core-birthsex":
		extension.ValueCode = birthSex(value)
	case "us-core-sex":
		extension.ValueCode = sexCode(concept)
	case "us-core-tribal-affiliation":
		if concept != nil {
			extension.Extension = []r4.Extension{{URL: "tribalAffiliation", ValueCodeableConcept: concept}}
		}
	default:
		extension.ValueCodeableConcept = concept
	}
	if extension.ValueCode != "" || extension.ValueCodeableConcept != nil || extension.Extension != nil {
		extendPatient(c, extension)
	}
}

// sexCode returns the concept's code from US Core's value set for sex, or "" if it has none.
func sexCode(concept *r4.CodeableConcept) string {
	if concept == nil {
		return ""
	}
	for _, coding := range concept.Coding {
		if cda.IsOneOf(coding.Code, "248152002", "248153007", "184115007") {
			return coding.Code
		}
	}
	return ""
}

// extendPatient adds an extension to the Patient unless it already has one of the same kind.
func extendPatient(c *statement.Context, e r4.Extension) {
	head := c.Emit.Head(c.Patient)
	if head == nil {
		return
	}
	for _, has := range head.Extension {
		if has.URL == e.URL {
			return
		}
	}
	head.Extension = append(head.Extension, e)
}
