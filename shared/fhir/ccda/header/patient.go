package header

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Patient creates the Patient (C-CDA on FHIR, "Patient"; US Core Patient), the guardians and the provider organization.
// Only the first recordTarget is used, because C-CDA does not define documents about groups.
func Patient(c *statement.Context) {
	role := c.Document.Root.At("recordTarget", "patientRole")
	who := role.At("patient")
	p := &r4.Patient{
		Header:     c.Emit.HeaderWith("Patient", strings.TrimPrefix(c.Patient.Reference, "Patient/")),
		Identifier: datatype.Identifiers(role), Name: c.Read.HumanNames(who),
		Telecom: c.Read.Telecoms(role), Gender: datatype.Gender(who.At("administrativeGenderCode")),
		BirthDate: c.Read.Date(who.At("birthTime")),
		Address:   c.Read.Addresses(role), MaritalStatus: c.Read.Concept(who.At("maritalStatusCode")),
	}
	c.Emit.Keep(p)
	if p.Gender == "" { // US Core requires a gender.
		p.Gender = "unknown"
	}
	if p.BirthDate == "" {
		p.BirthElement = datatype.Absent(who.At("birthTime"))
	} else if at := c.Read.DateTime(who.At("birthTime")); len(at) > len(p.BirthDate) {
		p.BirthElement = &r4.Element{
			Extension: []r4.Extension{
				{URL: "http://hl7.org/fhir/StructureDefinition/patient-birthTime", ValueDateTime: at},
			},
		}
	}
	setDeath(c, p, who)
	setExtensions(c, p, who)
	for l := range who.Each("languageCommunication") {
		if language := languageOf(l.At("languageCode")); language != nil {
			p.Communication = append(p.Communication, r4.PatientCommunication{
				Extension: proficiency(l), Language: language, Preferred: datatype.Flag(l.At("preferenceInd")),
			})
		}
	}
	for birth := range who.Each("multipleBirthInd") {
		p.MultipleBirth = datatype.Flag(birth)
	}
	if order := datatype.Whole(who.At("multipleBirthOrderNumber")); order != nil {
		p.MultipleBirth, p.BirthOrder = nil, order
	}
	p.Managing = c.Make.Organization(role.At("providerOrganization"))
	if !c.Emit.AffordsSection("patient", p) {
		p.Extension, p.Communication, p.Address, p.Telecom = nil, nil, nil, nil
	}
	for guardian := range who.Each("guardian") {
		c.Make.RelatedPerson(guardian, c.Read.HumanNames(guardian.At("guardianPerson")))
	}
}

func setDeath(c *statement.Context, p *r4.Patient, who *cda.Node) {
	for at := range who.Each("deceasedTime") {
		p.DeceasedTime = c.Read.DateTime(at)
	}
	if p.DeceasedTime == "" {
		p.DeceasedBoolean = datatype.Flag(who.At("deceasedInd"))
	}
}

// setExtensions adds race and ethnicity (US Core), religion, birth place and citizenship. Birth sex, gender identity
// and tribal affiliation come from the social history section.
func setExtensions(c *statement.Context, p *r4.Patient, who *cda.Node) {
	add := func(e *r4.Extension) {
		if e != nil {
			p.Extension = append(p.Extension, *e)
		}
	}
	add(ombExtension("us-core-race", who, "raceCode"))
	add(ombExtension("us-core-ethnicity", who, "ethnicGroupCode"))
	if religion := c.Read.Concept(who.At("religiousAffiliationCode")); religion != nil {
		add(&r4.Extension{
			URL: "http://hl7.org/fhir/StructureDefinition/patient-religion", ValueCodeableConcept: religion,
		})
	}
	if at := c.Read.Address(who.At("birthplace", "place", "addr")); at != nil {
		add(&r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/patient-birthPlace", ValueAddress: at})
	}
}

// ombExtension creates the US Core race or ethnicity extension with the OMB categories, the detailed codes and the
// text.
func ombExtension(name string, who *cda.Node, element string) *r4.Extension {
	e := &r4.Extension{URL: datatype.USCore + name}
	var words []string
	for n := range who.Each(element) {
		code, ok := datatype.Coding(n)
		switch {
		case ok && isOMB(code.Code):
			e.Extension = append(e.Extension, r4.Extension{URL: "ombCategory", ValueCoding: &code})
		case ok:
			e.Extension = append(e.Extension, r4.Extension{URL: "detailed", ValueCoding: &code})
		case name == "us-core-race" && cda.IsOneOf(n.Attr("nullFlavor"), "UNK", "ASKU"):
			code = r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-NullFlavor", Code: n.Attr("nullFlavor")}
			code.Display = unknownRaces.Of(code.Code)
			e.Extension = append(e.Extension, r4.Extension{URL: "ombCategory", ValueCoding: &code})
		}
		if text := cmp.Or(code.Display, n.Attr("displayName"), n.At("originalText").Words(), code.Code); text != "" {
			words = append(words, text)
		}
	}
	if words == nil {
		return nil
	}
	e.Extension = append(e.Extension, r4.Extension{URL: "text", ValueString: strings.Join(words, ", ")})
	return e
}

// isOMB reports whether a code is an OMB category for race or ethnicity.
func isOMB(code string) bool {
	return cda.IsOneOf(code, "1002-5", "2028-9", "2054-5", "2076-8", "2106-3", "2135-2", "2186-5")
}

// languageOf converts a languageCode. The languageCode element implies the code system.
func languageOf(n *cda.Node) *r4.CodeableConcept {
	code := n.Attr("code")
	if code == "" {
		return nil
	}
	language, region, _ := strings.Cut(code, "-")
	language = cmp.Or(languages.Of(strings.ToLower(language)), strings.ToLower(language))
	if region != "" {
		language += "-" + strings.ToUpper(region)
	}
	return &r4.CodeableConcept{
		Coding: []r4.Coding{{System: "urn:ietf:bcp:47", Code: language, Display: n.Attr("displayName")}},
	}
}

// proficiency converts the mode and level of a person's language proficiency.
func proficiency(l *cda.Node) []r4.Extension {
	const url = "http://hl7.org/fhir/StructureDefinition/patient-proficiency"
	var parts []r4.Extension
	if code, ok := datatype.Coding(l.At("proficiencyLevelCode")); ok {
		code.System = cmp.Or(code.System, "http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityProficiency")
		parts = append(parts, r4.Extension{URL: "level", ValueCoding: &code})
	}
	if code, ok := datatype.Coding(l.At("modeCode")); ok {
		code.System = cmp.Or(code.System, "http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityMode")
		parts = append(parts, r4.Extension{URL: "type", ValueCoding: &code})
	}
	if parts == nil {
		return nil
	}
	return []r4.Extension{{URL: url, Extension: parts}}
}
