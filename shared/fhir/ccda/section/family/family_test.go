package family_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsFamilyHistory(t *testing.T) {
	t.Parallel()
	const father = `<subject><relatedSubject classCode="PRS"><code code="FTH" ` +
		`codeSystem="2.16.840.1.113883.5.111"/><subject><administrativeGenderCode code="M"/>` +
		`<birthTime value="1910"/>%</subject></relatedSubject></subject>`
	age := func(years string) string {
		return `<entryRelationship typeCode="SUBJ" inversionInd="true"><observation classCode="OBS" moodCode="EVN">` +
			`<templateId root="2.16.840.1.113883.10.20.22.4.31"/><code code="445518008" ` + ccdatest.InSnomed +
			`<value xsi:type="PQ" value="` + years + `" unit="a"/></observation></entryRelationship>`
	}
	had := func(attributes, inside string) string {
		return `<component><observation classCode="OBS" moodCode="EVN"` + attributes +
			`><templateId root="2.16.840.1.113883.10.20.22.4.46"/><code code="64572001" ` + ccdatest.InSnomed +
			`<statusCode code="completed"/>
<effectiveTime value="1967"/><value xsi:type="CD" code="22298006" ` + ccdatest.InSnomed + inside + `</observation>
</component>`
	}
	death := `<entryRelationship typeCode="CAUS">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.47"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/>
<value xsi:type="CD" code="419099009" ` + ccdatest.InSnomed
	organizer := func(inside string) string {
		return `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId ` +
			`root="2.16.840.1.113883.10.20.22.4.45"/><statusCode code="completed"/>` + inside + `</organizer></entry>`
	}
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "tells who had what, when, and died of it", Section: "10157-6",
			Entries: organizer(father + had("", age("57")+death+age("60")+`</observation></entryRelationship>`)),
			Want: []string{
				"FamilyMemberHistory | status=completed | relationship.coding.code=FTH | sex.coding.code=male | bornDate=1910 | " +
					"condition.code.coding.code=22298006 | condition.onsetAge.value=57 | condition.onsetAge.code=a |" +
					" condition.contributedToDeath=true | deceasedAge.value=60 | !deceasedBoolean",
			},
			Never: []string{"Observation"},
		},
		{
			Name: "has the time where no age is known", Section: "10157-6",
			Entries: organizer(father + had("", death+`</observation></entryRelationship>`)),
			Want: []string{"FamilyMemberHistory | condition.onsetPeriod.start=1967 | deceasedBoolean=true | " +
				"!condition.onsetAge"},
		},
		{
			Name: "does not say that somebody had what they had not", Section: "10157-6",
			Entries: organizer(had(` negationInd="true"`, "")),
			Want: []string{
				"FamilyMemberHistory | !condition | relationship.coding.code=unknown",
				"Observation | component.code.coding.code=22298006 | component.valueBoolean=false",
			},
		},
		{
			Name: "may have no organizer and no template", Section: "10157-6",
			Entries: `<entry><observation classCode="OBS" moodCode="EVN"><code code="64572001" ` + ccdatest.InSnomed +
				`<value xsi:type="CD" nullFlavor="OTH"><originalText>bad heart</originalText></value></observation></entry>`,
			Want: []string{"FamilyMemberHistory | condition.code.text=bad heart | relationship"},
		},
	})
}
