// Package encounter creates Encounters for the header, the encounters section and plans (C-CDA on FHIR, "Encounters":
// hl7.org/fhir/us/ccda/CF-encounters.html).
package encounter

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// New creates an Encounter with the fields that the header and entries share. Encounters with the same id are merged.
func New(c *statement.Context, n *cda.Node) *r4.Encounter {
	e := &r4.Encounter{
		Header: c.Emit.Entity("Encounter", n, c.Emit.Salt), Identifier: datatype.Identifiers(n),
		Type: c.Read.Concepts(n, "code"), Subject: c.Patient,
		Period: c.Read.Period(n.At("effectiveTime")), Priority: c.Read.Concept(n.At("priorityCode")),
	}
	stay := r4.EncounterHospital{
		AdmitSource: c.Read.Concept(n.At("admissionReferralSourceCode")),
		Discharge:   c.Read.Concept(n.At("dischargeDispositionCode")),
	}
	if !r4.IsEmpty(stay) {
		e.Hospitalization = &stay
	}
	e.Class = encounterClass(n.At("code"))
	e.Status = statusOf(c, n, stay.Discharge != nil)
	return e
}

const actCode = "http://terminology.hl7.org/CodeSystem/v3-ActCode"

// encounterClass returns the class, which FHIR requires. The class is the document's ActEncounterCode code or, failing
// that, the class for the CPT code's range (evaluation and management). If neither exists, the class is unknown.
func encounterClass(code *cda.Node) *r4.Coding {
	for n := range code.Descendants() {
		if class := strings.ToUpper(n.Attr("code")); n.Attr("codeSystem") == "2.16.840.1.113883.5.4" &&
			classes.Of(class) != "" {
			return &r4.Coding{System: actCode, Code: class, Display: classes.Of(class)}
		}
	}
	for n := range code.Descendants() {
		if n.Attr("codeSystem") == "2.16.840.1.113883.6.12" {
			if class := classOfCPT(n.Attr("code")); class != "" {
				return &r4.Coding{System: actCode, Code: class, Display: classes.Of(class)}
			}
		}
	}
	return &r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-NullFlavor", Code: "UNK", Display: "Unknown"}
}

func classOfCPT(code string) string {
	switch {
	case len(code) != 5:
		return ""
	case code >= "99202" && code <= "99215", code >= "99241" && code <= "99245", code >= "99381" && code <= "99429":
		return "AMB"
	case code >= "99217" && code <= "99220", code >= "99224" && code <= "99226":
		return "OBSENC"
	case code >= "99221" && code <= "99239", code >= "99251" && code <= "99255", code >= "99291" && code <= "99292":
		return "IMP"
	case code >= "99281" && code <= "99288":
		return "EMER"
	case code >= "99341" && code <= "99350":
		return "HH"
	case code >= "99441" && code <= "99449":
		return "VR"
	}
	return ""
}

// AddParticipant adds a person to an encounter with a ParticipationType code. It does nothing if n does not name a
// person.
func AddParticipant(c *statement.Context, e *r4.Encounter, n *cda.Node, kind string) {
	who := c.Make.Party(n).As("Practitioner", "PractitionerRole", "RelatedPerson")
	if who == nil {
		return
	}
	if own := n.Attr("typeCode"); own != "" && n.Name == "encounterParticipant" {
		kind = own
	}
	participant := r4.EncounterParticipant{Individual: who, Period: c.Read.Period(n.At("time"))}
	participant.Type = append(
		c.Read.Concepts(n, "functionCode"),
		*r4.Concept("http://terminology.hl7.org/CodeSystem/v3-ParticipationType", kind, ""),
	)
	e.Participant = append(e.Participant, participant)
}

// AddDiagnosis links a diagnosis to an encounter. use is the diagnosis's role in the encounter, if known.
func AddDiagnosis(e *r4.Encounter, condition r4.Reference, use *r4.CodeableConcept) {
	for i := range e.Diagnosis {
		known := &e.Diagnosis[i]
		if known.Condition.Reference != condition.Reference {
			continue
		}
		if known.Use == nil {
			known.Use = use
		}
		if use == nil || known.Use.Coding[0].Code == use.Coding[0].Code {
			return
		}
	}
	e.Diagnosis = append(e.Diagnosis, r4.EncounterDiagnosis{Condition: &condition, Use: use})
}
