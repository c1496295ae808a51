package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// readEncompassing makes the Encounter that the whole document is about, with its place and its people (C-CDA on FHIR,
// "Encounters": encompassingEncounter). An entry with the same id completes it.
func (c *converter) readEncompassing(n *node) {
	if n == nil {
		return
	}
	e := c.newEncounter(n)
	for p := range n.each("responsibleParty", "encounterParticipant") {
		kind := "ATND"
		if p.name == "responsibleParty" {
			kind = "RESP"
		}
		c.addParticipant(e, p, kind)
	}
	if at := c.facility(n.at("location", "healthCareFacility")); at != nil {
		e.Location = []r4.EncounterLocation{{Location: at}}
		e.Provider = c.organization(n.at("location", "healthCareFacility", "serviceProviderOrganization"))
	}
	c.encounter = c.addEntity(e)
}

// newEncounter reads what encompassing encounters and those of entries have in common. It is one Encounter by its id alone.
func (c *converter) newEncounter(n *node) *r4.Encounter {
	e := &r4.Encounter{
		Header: c.entity("Encounter", n, c.salt), Identifier: identifiers(n), Type: c.concepts(n, "code"), Subject: c.patient,
		Period: c.period(n.at("effectiveTime")), Priority: c.concept(n.at("priorityCode")),
	}
	stay := r4.EncounterHospital{AdmitSource: c.concept(n.at("admissionReferralSourceCode")), Discharge: c.concept(n.at("dischargeDispositionCode"))}
	if !isEmpty(stay) {
		e.Hospitalization = &stay
	}
	e.Class = encounterClass(n.at("code"))
	e.Status = encounterStatus(n, e.Period)
	return e
}

// encounterStatus maps ActStatus; without one, an encounter that a document tells of and that has ended is finished.
func encounterStatus(n *node, period *r4.Period) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "completed":
		return "finished"
	case "active":
		return "in-progress"
	case "aborted", "cancelled", "canceled":
		return "cancelled"
	case "new":
		return "planned"
	case "nullified":
		return "entered-in-error"
	}
	mood := n.attr("moodCode")
	switch {
	case mood != "" && mood != "EVN":
		return "planned"
	case period != nil && period.End != "":
		return "finished"
	case period != nil && n.at("effectiveTime", "low") != nil:
		return "in-progress"
	}
	return "unknown"
}

const actCode = "http://terminology.hl7.org/CodeSystem/v3-ActCode"

// encounterClass gives the class, which FHIR requires: a code of ActEncounterCode where the document has one, else by the range
// of the CPT code (evaluation and management), else it is not known.
func encounterClass(code *node) *r4.Coding {
	for n := range code.descendants() {
		if class := strings.ToUpper(n.attr("code")); n.attr("codeSystem") == "2.16.840.1.113883.5.4" && className(class) != "" {
			return &r4.Coding{System: actCode, Code: class, Display: className(class)}
		}
	}
	for n := range code.descendants() {
		if n.attr("codeSystem") == "2.16.840.1.113883.6.12" {
			if class := classOfCPT(n.attr("code")); class != "" {
				return &r4.Coding{System: actCode, Code: class, Display: className(class)}
			}
		}
	}
	return &r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-NullFlavor", Code: "UNK", Display: "Unknown"}
}

func className(class string) string {
	return lookup(`
AMB ambulatory
EMER emergency
FLD field
HH home health
IMP inpatient encounter
ACUTE inpatient acute
NONAC inpatient non-acute
OBSENC observation encounter
PRENC pre-admission
SS short stay
VR virtual
`, class)
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

// addParticipant adds somebody to an encounter under a code of ParticipationType, unless nobody is named.
func (c *converter) addParticipant(e *r4.Encounter, n *node, kind string) {
	who := c.party(n).as("Practitioner", "PractitionerRole", "RelatedPerson")
	if who == nil {
		return
	}
	if own := n.attr("typeCode"); own != "" && n.name == "encounterParticipant" {
		kind = own
	}
	participant := r4.EncounterParticipant{Individual: who, Period: c.period(n.at("time"))}
	participant.Type = append(c.concepts(n, "functionCode"), *one("http://terminology.hl7.org/CodeSystem/v3-ParticipationType", kind, ""))
	e.Participant = append(e.Participant, participant)
}

// facility makes a Location of a healthCareFacility or of a service delivery location (2.16.840.1.113883.10.20.22.4.32); nil
// when nothing is known of it.
func (c *converter) facility(n *node) *r4.Reference {
	if n == nil {
		return nil
	}
	place := firstNode(n.at("location"), n.at("playingEntity"))
	l := &r4.Location{
		Identifier: identifiers(n), Name: place.at("name").words(), Type: c.concepts(n, "code"), Telecom: c.telecoms(n),
		Address: c.address(firstNode(place.at("addr"), n.at("addr"))), Managing: c.organization(firstNode(n.at("serviceProviderOrganization"), n.at("scopingEntity"))),
	}
	if l.Name == "" && l.Type == nil && l.Identifier == nil && l.Address == nil {
		return nil
	}
	if l.Name == "" && len(l.Type) > 0 {
		l.Name = firstOf(l.Type[0].Text, display(&l.Type[0]))
	}
	if realID(n) == "" {
		l.Header = c.headerWith("Location", derive("Location", c.key, digest(n)))
	} else {
		l.Header = c.entity("Location", n, strings.ToLower(l.Name))
	}
	ref := c.addEntity(l)
	ref.Display = l.Name
	return ref
}
