package ccda_test

const (
	snomed     = `codeSystem="2.16.840.1.113883.6.96"`
	inSnomed   = snomed + "/>"
	writtenBy  = `<author><time value="20190203"/><assignedAuthor><id root="2.16.840.1.113883.19.4" extension="w"/><assignedPerson><name><family>Writer</family></name></assignedPerson></assignedAuthor></author>`
	doneBy     = `<performer><assignedEntity><id root="2.16.840.1.113883.19.4" extension="d"/><assignedPerson><name><family>Doer</family></name></assignedPerson></assignedEntity></performer>`
	preference = `<entryRelationship typeCode="RSON"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.143"/>
<id root="2.16.840.1.113883.19.5" extension="pref"/><code code="225773000" ` + snomed + `/><value xsi:type="CD" code="394849002" ` + snomed + `/></observation></entryRelationship>`
)

// plannedAs is an entry of a plan with a template, or without one.
func plannedAs(element, class, mood, root, inside string) string {
	template := ""
	if root != "" {
		template = `<templateId root="2.16.840.1.113883.10.20.22.4.` + root + `"/>`
	}
	return `<entry><` + element + ` classCode="` + class + `" moodCode="` + mood + `">` + template + `<id root="2.16.840.1.113883.19.5" extension="` + element + mood + `"/>` + inside +
		`</` + element + `></entry>`
}

// nextSection ends a section and begins another one.
func nextSection(code string) string {
	return `</section></component><component><section><code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/>`
}
