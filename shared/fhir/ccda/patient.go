package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const usCore = "http://hl7.org/fhir/us/core/StructureDefinition/"

// patientKeys gives the ids of the patient of a document, for finding documents of the same patient.
func patientKeys(document *node) []string {
	var keys []string
	for id := range document.at("recordTarget", "patientRole").each("id") {
		if key := idKey(id); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// readPatient makes the Patient (C-CDA on FHIR, "Patient"; US Core Patient), its guardians and its own doctor's organization.
// The first recordTarget counts; further ones are of documents about groups, which C-CDA has not.
func (c *converter) readPatient() {
	role := c.document.at("recordTarget", "patientRole")
	who := role.at("patient")
	p := &r4.Patient{
		Header: c.headerWith("Patient", strings.TrimPrefix(c.patient.Reference, "Patient/")), Identifier: identifiers(role), Name: c.humanNames(who),
		Telecom: c.telecoms(role), Gender: gender(who.at("administrativeGenderCode")), BirthDate: c.date(who.at("birthTime")),
		Address: c.addresses(role), MaritalStatus: c.concept(who.at("maritalStatusCode")),
	}
	c.keep(p)
	if p.Gender == "" { // US Core asks for one
		p.Gender = "unknown"
	}
	if p.BirthDate == "" {
		p.BirthElement = absent(who.at("birthTime"))
	} else if at := c.dateTime(who.at("birthTime")); len(at) > len(p.BirthDate) {
		p.BirthElement = &r4.Element{Extension: []r4.Extension{{URL: "http://hl7.org/fhir/StructureDefinition/patient-birthTime", ValueDateTime: at}}}
	}
	c.setDeath(p, who)
	c.setExtensions(p, who)
	for l := range who.each("languageCommunication") {
		if language := languageOf(l.at("languageCode")); language != nil {
			p.Communication = append(p.Communication, r4.PatientCommunication{Extension: c.proficiency(l), Language: language, Preferred: flag(l.at("preferenceInd"))})
		}
	}
	for birth := range who.each("multipleBirthInd") {
		p.MultipleBirth = flag(birth)
	}
	if order := whole(who.at("multipleBirthOrderNumber")); order != nil {
		p.MultipleBirth, p.BirthOrder = nil, order
	}
	p.Managing = c.organization(role.at("providerOrganization"))
	if !c.affordsSection("patient", p) {
		p.Extension, p.Communication, p.Address, p.Telecom = nil, nil, nil, nil
	}
	for guardian := range who.each("guardian") {
		c.relatedPerson(guardian, c.humanNames(guardian.at("guardianPerson")))
	}
}

// gender maps AdministrativeGender (C-CDA on FHIR, "Patient": gender); "" when it is not said.
func gender(n *node) string {
	switch strings.ToUpper(firstOf(codeOf(n), n.attr("displayName"))) {
	case "M", "MALE", "248153007":
		return "male"
	case "F", "FEMALE", "248152002":
		return "female"
	case "UN", "UNDIFFERENTIATED", "OTH":
		return "other"
	case "UNK":
		return "unknown"
	}
	return ""
}

func (c *converter) setDeath(p *r4.Patient, who *node) {
	for at := range who.each("deceasedTime") {
		p.DeceasedTime = c.dateTime(at)
	}
	if p.DeceasedTime == "" {
		p.DeceasedBoolean = flag(who.at("deceasedInd"))
	}
}

// setExtensions adds race and ethnicity (US Core), religion, birth place and citizenship. Birth sex, gender identity and
// tribal affiliation stand in the social history.
func (c *converter) setExtensions(p *r4.Patient, who *node) {
	add := func(e *r4.Extension) {
		if e != nil {
			p.Extension = append(p.Extension, *e)
		}
	}
	add(ombExtension("us-core-race", who, "raceCode"))
	add(ombExtension("us-core-ethnicity", who, "ethnicGroupCode"))
	if religion := c.concept(who.at("religiousAffiliationCode")); religion != nil {
		add(&r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/patient-religion", ValueCodeableConcept: religion})
	}
	if at := c.address(who.at("birthplace", "place", "addr")); at != nil {
		add(&r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/patient-birthPlace", ValueAddress: at})
	}
}

// ombExtension makes the US Core extension for race or ethnicity: the categories of OMB, what is more detailed, and words.
func ombExtension(name string, who *node, element string) *r4.Extension {
	e := &r4.Extension{URL: usCore + name}
	var words []string
	for n := range who.each(element) {
		code, ok := coding(n)
		switch {
		case ok && isOMB(code.Code):
			e.Extension = append(e.Extension, r4.Extension{URL: "ombCategory", ValueCoding: &code})
		case ok:
			e.Extension = append(e.Extension, r4.Extension{URL: "detailed", ValueCoding: &code})
		case name == "us-core-race" && isOneOf(n.attr("nullFlavor"), "UNK", "ASKU"):
			code = r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-NullFlavor", Code: n.attr("nullFlavor")}
			code.Display = lookup("\nUNK Unknown\nASKU Asked but no answer\n", code.Code)
			e.Extension = append(e.Extension, r4.Extension{URL: "ombCategory", ValueCoding: &code})
		}
		if text := firstOf(code.Display, n.attr("displayName"), n.at("originalText").words(), code.Code); text != "" {
			words = append(words, text)
		}
	}
	if words == nil {
		return nil
	}
	e.Extension = append(e.Extension, r4.Extension{URL: "text", ValueString: strings.Join(words, ", ")})
	return e
}

// isOMB reports whether a code is one of the categories of the Office of Management and Budget for race or ethnicity.
func isOMB(code string) bool {
	return isOneOf(code, "1002-5", "2028-9", "2054-5", "2076-8", "2106-3", "2135-2", "2186-5")
}

// languages has the BCP 47 tag of languages whose ISO 639-2 code has three letters where one of two exists.
const languages = `
eng en
spa es
fre fr
fra fr
ger de
deu de
chi zh
zho zh
vie vi
kor ko
rus ru
ara ar
por pt
ita it
jpn ja
pol pl
hin hi
ben bn
urd ur
per fa
fas fa
hat ht
heb he
hun hu
guj gu
tgl tl
khm km
lao lo
tha th
ukr uk
som so
swa sw
amh am
nav nv
arm hy
hye hy
gre el
ell el
pan pa
tam ta
tel te
nep ne
bur my
mya my
`

// languageOf reads a languageCode, which has its system by its element alone.
func languageOf(n *node) *r4.CodeableConcept {
	code := n.attr("code")
	if code == "" {
		return nil
	}
	language, region, _ := strings.Cut(code, "-")
	language = firstOf(lookup(languages, strings.ToLower(language)), strings.ToLower(language))
	if region != "" {
		language += "-" + strings.ToUpper(region)
	}
	return &r4.CodeableConcept{Coding: []r4.Coding{{System: "urn:ietf:bcp:47", Code: language, Display: n.attr("displayName")}}}
}

// proficiency keeps how a language is spoken and how well.
func (c *converter) proficiency(l *node) []r4.Extension {
	const url = "http://hl7.org/fhir/StructureDefinition/patient-proficiency"
	var parts []r4.Extension
	if code, ok := coding(l.at("proficiencyLevelCode")); ok {
		code.System = firstOf(code.System, "http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityProficiency")
		parts = append(parts, r4.Extension{URL: "level", ValueCoding: &code})
	}
	if code, ok := coding(l.at("modeCode")); ok {
		code.System = firstOf(code.System, "http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityMode")
		parts = append(parts, r4.Extension{URL: "type", ValueCoding: &code})
	}
	if parts == nil {
		return nil
	}
	return []r4.Extension{{URL: url, Extension: parts}}
}
