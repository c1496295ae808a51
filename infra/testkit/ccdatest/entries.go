package ccdatest

// AllergyOf returns an entry with an allergy observation inside a concern act.
func AllergyOf(attributes, rest string) string {
	return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.30"/>
<code code="CONC" codeSystem="2.16.840.1.113883.5.6"/><statusCode code="active"/>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN" ` + attributes +
		`><templateId root="2.16.840.1.113883.10.20.22.4.7"/><id root="2.16.840.1.113883.19.5" extension="a1"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="completed"/>
<effectiveTime><low value="20080501"/></effectiveTime>` + rest + `</observation></entryRelationship></act></entry>`
}

// AllergyKind returns the value element of an allergy observation.
func AllergyKind(code string) string {
	return `<value xsi:type="CD" code="` + code + `" ` + Snomed + `/>`
}

// Penicillin is the participant element of an allergy to penicillin.
const Penicillin = `<participant typeCode="CSM"><participantRole classCode="MANU"><playingEntity classCode="MMAT">
<code code="70618" codeSystem="2.16.840.1.113883.6.88" displayName="Penicillin"/></playingEntity></participantRole>
</participant>`

// XML fragments for C-CDA entries.
const (
	Snomed    = `codeSystem="2.16.840.1.113883.6.96"`
	InSnomed  = Snomed + "/>"
	WrittenBy = `<author><time value="20190203"/><assignedAuthor><id root="2.16.840.1.113883.19.4" extension="w"/>` +
		`<assignedPerson><name><family>Writer</family></name></assignedPerson></assignedAuthor></author>`
	DoneBy = `<performer><assignedEntity><id root="2.16.840.1.113883.19.4" extension="d"/><assignedPerson>` +
		`<name><family>Doer</family></name></assignedPerson></assignedEntity></performer>`
	Preference = `<entryRelationship typeCode="RSON">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.143"/>
<id root="2.16.840.1.113883.19.5" extension="pref"/><code code="225773000" ` + Snomed + `/>
<value xsi:type="CD" code="394849002" ` + Snomed + `/></observation></entryRelationship>`
)

// PlannedAs returns a plan entry whose template ID ends in root. If root is empty, the entry has no template.
func PlannedAs(element, class, mood, root, inside string) string {
	template := ""
	if root != "" {
		template = `<templateId root="2.16.840.1.113883.10.20.22.4.` + root + `"/>`
	}
	return `<entry><` + element + ` classCode="` + class + `" moodCode="` + mood + `">` + template +
		`<id root="2.16.840.1.113883.19.5" extension="` + element + mood + `"/>` + inside +
		`</` + element + `></entry>`
}

// NextSection returns the end of a section and the start of the next section.
func NextSection(code string) string {
	return `</section></component><component><section><code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/>`
}

// MedicationOf returns an entry that contains a medication activity in the given mood.
func MedicationOf(mood, rest string) string {
	return `<entry><substanceAdministration classCode="SBADM" moodCode="` + mood +
		`"><templateId root="2.16.840.1.113883.10.20.22.4.16"/>
<id root="2.16.840.1.113883.19.5" extension="m1"/>
<statusCode code="active"/>` + rest + Atenolol + `</substanceAdministration></entry>`
}

// Atenolol is a medication activity's product element for atenolol.
const Atenolol = `<consumable><manufacturedProduct classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.23"/>
<manufacturedMaterial>
<code code="197380" codeSystem="2.16.840.1.113883.6.88" displayName="atenolol 25 MG Oral Tablet">
<translation code="0093-0787" codeSystem="2.16.840.1.113883.6.69"/></code>
</manufacturedMaterial></manufacturedProduct></consumable>`

// Concern returns an entry with a problem concern act that contains the problem observations in inner.
func Concern(status, inner string) string {
	return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.3"/>
<id root="2.16.840.1.113883.19.5" extension="concern"/>
<code code="CONC" codeSystem="2.16.840.1.113883.5.6"/><statusCode code="` + status + `"/>
<effectiveTime><low value="20190102"/></effectiveTime>
<entryRelationship typeCode="SUBJ">` + inner + `</entryRelationship></act></entry>`
}

// ProblemOf returns a problem observation with attributes in addition to its class and mood.
func ProblemOf(attributes, rest string) string {
	return `<observation classCode="OBS" moodCode="EVN" ` + attributes +
		`><templateId root="2.16.840.1.113883.10.20.22.4.4"/><id root="2.16.840.1.113883.19.5" extension="p1"/>
<code code="55607006" ` + Snomed + ` displayName="Problem"/><statusCode code="completed"/>` + rest + `</observation>`
}

// Pneumonia is a problem observation's value element for pneumonia.
const Pneumonia = `<value xsi:type="CD" code="233604007" ` + Snomed + ` displayName="Pneumonia"/>`

// Colonoscopy is a procedure's code element for a colonoscopy.
const Colonoscopy = `<code code="73761001" codeSystem="2.16.840.1.113883.6.96" displayName="Colonoscopy"/>`
