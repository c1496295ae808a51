package social

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// coded returns the rule for an observation with a fixed code (C-CDA on FHIR, "Social History"). Older documents use
// ASSERTION instead of the code.
func coded(code, display string) func(*statement.Context, *cda.Node) {
	return func(c *statement.Context, n *cda.Node) {
		o := readSocial(c, n)
		if cda.IsOneOf(cda.CodeOf(n.At("code")), "ASSERTION", "") || code == "72166-2" && !isTobaccoCode(n.At("code")) {
			observation.Recode(o, code, display)
		}
		c.Add(o, n)
	}
}

// isTobaccoCode reports whether a code is in US Core's value set for smoking status (us-core-smoking-status-type).
func isTobaccoCode(n *cda.Node) bool {
	return cda.Has(n, "72166-2", "11367-0", "81229-7", "401201003", "782516008")
}

// social creates an Observation for any other lifestyle statement, recognised only by its code.
func social(c *statement.Context, n *cda.Node) {
	code := n.At("code")
	if about, ok := factOf(code); ok {
		convertFact(c, n, about)
		return
	}
	if cda.Has(code, "82810-3") || cda.Has(n.At("value"), "77386006") && cda.CodeOf(code) == "ASSERTION" {
		pregnancy(c, n)
		return
	}
	c.Add(readSocial(c, n), n)
}

// readSocial converts an observation in the social history. The null flavors for unknown and withheld become values
// (C-CDA on FHIR, "Social History": nullFlavor UNK).
func readSocial(c *statement.Context, n *cda.Node) *r4.Observation {
	o := observation.NewIn(c, n, observation.SocialCategory())
	if !cda.Has(n.At("code"), "72166-2") { // A smoking status applies to a single day.
		o.Effective, o.EffectivePeriod = datatype.Lasting(n.At("effectiveTime"), o.Effective, o.EffectivePeriod)
	}
	if isSocialRisk(n.At("code")) {
		o.Category = append(o.Category, *r4.Concept(observation.USCoreCategory, "sdoh", "SDOH"))
	}
	for _, who := range observation.Focus(c, n) {
		o.Focus = r4.AppendReference(o.Focus, *who)
	}
	observation.SetAbsent(o, n.At("value"))
	return o
}

// isSocialRisk reports whether a question concerns social needs (US Core, "Screening and Assessments": Social
// Determinants of Health).
func isSocialRisk(code *cda.Node) bool {
	return cda.Has(code,
		"71802-3", "88122-7", "88123-5", "88124-3", "93030-5", "93031-3", "93033-9", "93034-7", "93038-8", "76513-1",
		"96778-6", "96779-4",
		"96780-2", "96781-0", "96782-8", "89555-7", "95618-5", "95615-1", "68516-4", "67875-5", "82589-3", "93025-5",
		"96777-8",
	)
}

// pregnancy creates the US Core Pregnancy Status Observation. The estimated delivery date is a component (C-CDA on
// FHIR, "Social History": Pregnancy).
func pregnancy(c *statement.Context, n *cda.Node) {
	o := readSocial(c, n)
	observation.Recode(o, "82810-3", "Pregnancy status")
	if n.At("value").Attr("nullFlavor") == "UNK" && o.Value == (r4.Value{}) && !cda.IsNegated(n) {
		o.Value, o.Absent = r4.Value{ValueCodeableConcept: unknownValue(n.At("value"))}, nil
	}
	if cda.IsNegated(n) && cda.Has(n.At("value"), "77386006") { // The value set has a code for "not pregnant".
		o.Value, o.Absent = r4.Value{
			ValueCodeableConcept: r4.Concept("http://snomed.info/sct", "60001007", "Not pregnant"),
		}, nil
	}
	told := []*cda.Node{n}
	if expected := cda.EntryOf(n, "2.16.840.1.113883.10.20.15.3.1", "11778-8"); expected != nil {
		part := observation.New(c, expected)
		o.Component = append(o.Component, observation.Component(part))
		told = append(told, expected)
	}
	c.Add(o, told...)
}

// unknownValue returns the concept for a nullFlavor used as a value.
func unknownValue(n *cda.Node) *r4.CodeableConcept {
	code := n.Attr("nullFlavor")
	return r4.Concept("http://terminology.hl7.org/CodeSystem/v3-NullFlavor", code, unknownValues.Of(code))
}

// disability creates an Observation of a disability status (US Core category disability-status).
func disability(c *statement.Context, n *cda.Node) {
	o := readSocial(c, n)
	o.Category = append(o.Category, *r4.Concept(observation.USCoreCategory, "disability-status", "Disability Status"))
	c.Add(o, n)
}

// birthSex returns the code from US Core's value set for birth sex, or "" for any other value.
func birthSex(value *cda.Node) string {
	if code := strings.ToUpper(cda.CodeOf(value)); cda.IsOneOf(code, "F", "M", "OTH", "ASKU", "UNK") {
		return code
	}
	switch cda.CodeOf(value) {
	case "248152002":
		return "F"
	case "248153007":
		return "M"
	}
	if flavor := value.Attr("nullFlavor"); cda.IsOneOf(flavor, "OTH", "ASKU", "UNK") {
		return flavor
	}
	return ""
}
