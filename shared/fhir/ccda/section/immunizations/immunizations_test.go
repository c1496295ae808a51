package immunizations_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsImmunizations(t *testing.T) {
	t.Parallel()
	shot := func(attributes, rest string) string {
		return `<entry><substanceAdministration classCode="SBADM" ` + attributes +
			`><templateId root="2.16.840.1.113883.10.20.22.4.52" extension="2015-08-01"/>` + rest +
			`</substanceAdministration></entry>`
	}
	const (
		done = `moodCode="EVN" negationInd="false"`
		flu  = `<consumable><manufacturedProduct><manufacturedMaterial><code code="88" ` +
			`codeSystem="2.16.840.1.113883.12.292"><translation code="1427027" codeSystem="2.16.840.1.113883.6.88"/>` +
			`</code><lotNumberText>L1</lotNumberText></manufacturedMaterial><manufacturerOrganization>` +
			`<name>Maker</name></manufacturerOrganization></manufacturedProduct></consumable>`
		given = `<statusCode code="completed"/><effectiveTime value="20190304"/>`
	)
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are told with product, dose and who gave it", Section: "11369-6",
			Entries: shot(done,
				given+
					`<routeCode code="C28161" codeSystem="2.16.840.1.113883.3.26.1.1"/>`+
					`<approachSiteCode code="368208006" codeSystem="2.16.840.1.113883.6.96"/>`+
					`<doseQuantity value="0.5" unit="mL"/>`+flu+
					`<performer><assignedEntity><id root="2.16.840.1.113883.19.8" extension="n"/><assignedPerson>`+
					`<name>Nurse</name></assignedPerson></assignedEntity></performer>`),
			Want: []string{"Immunization | status=completed | vaccineCode.coding.code=88 | vaccineCode.coding.code=1427027 | " +
				"occurrenceDateTime=2019-03-04 | lotNumber=L1 | manufacturer.reference | site.coding.code=368208006 |" +
				" route.coding.code=C28161 | doseQuantity.value=0.5 | performer.function.coding.code=AP | " +
				"performer.actor.reference"},
		},
		{
			Name: "that were refused say why", Section: "11369-6",
			Entries: shot(`moodCode="EVN" negationInd="true"`,
				given+flu+
					`<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.53"/>`+
					`<code code="PATOBJ" codeSystem="2.16.840.1.113883.5.8"/></observation></entryRelationship>`),
			Want:  []string{"Immunization | status=not-done | statusReason.coding.code=PATOBJ | !reasonCode"},
			Never: []string{"Observation"},
		},
		{
			Name: "that were given have a reason", Section: "11369-6",
			Entries: shot(done,
				given+flu+
					`<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/>`+
					`<code code="404684003"/><value xsi:type="CD" code="195967001" codeSystem="2.16.840.1.113883.6.96"/>`+
					`</observation></entryRelationship>`),
			Want: []string{"Immunization | reasonCode.coding.code=195967001 | !statusReason"},
		},
		{
			Name: "count their dose in a series", Section: "11369-6",
			Entries: shot(done, given+`<repeatNumber value="1"/>`+flu+
				`<entryRelationship typeCode="COMP"><sequenceNumber value="3"/><act>`+
				`<templateId root="2.16.840.1.113883.10.20.22.4.118"/><code code="416118004" `+
				`codeSystem="2.16.840.1.113883.6.96"/></act></entryRelationship>`) +
				shot(done, given+`<repeatNumber value="2"/>`+flu),
			Want: []string{
				"Immunization | protocolApplied.doseNumberPositiveInt=3 | meta.tag.code=416118004",
				"Immunization | protocolApplied.doseNumberPositiveInt=2",
			},
		},
		{
			Name: "have reactions", Section: "11369-6",
			Entries: shot(done,
				given+flu+
					`<entryRelationship typeCode="MFST"><observation><templateId root="2.16.840.1.113883.10.20.22.4.9"/>`+
					`<code code="ASSERTION"/><effectiveTime><low value="20190305"/></effectiveTime>`+
					`<value xsi:type="CD" code="422587007" codeSystem="2.16.840.1.113883.6.96"/></observation>`+
					`</entryRelationship>`),
			Want: []string{
				"Immunization | reaction.date=2019-03-05 | reaction.detail.reference",
				"Observation | valueCodeableConcept.coding.code=422587007",
			},
		},
		{
			Name: "have instructions and comments as notes", Section: "11369-6",
			Entries: shot(done,
				given+flu+
					`<entryRelationship typeCode="SUBJ">
<act><templateId root="2.16.840.1.113883.10.20.22.4.20"/><code code="171044003" codeSystem="2.16.840.1.113883.6.96"/>
<text>Rest</text></act></entryRelationship>
<entryRelationship typeCode="SUBJ"><act><templateId root="2.16.840.1.113883.10.20.22.4.64"/>
<code code="48767-8" codeSystem="2.16.840.1.113883.6.1"/><text>Left arm</text></act></entryRelationship>`),
			Want: []string{"Immunization | note.text=Rest | note.text=Left arm | meta.tag.code=171044003"},
		},
		{
			Name: "that are planned are requests", Section: "11369-6",
			Entries: shot(`moodCode="INT"`, given+flu), Want: []string{"MedicationRequest"}, Never: []string{"Immunization"},
		},
		{
			Name: "without a time or vaccine are still valid", Section: "11369-6",
			Entries: shot(done,
				`<text>A shot</text><effectiveTime nullFlavor="NAV"/><consumable><manufacturedProduct><manufacturedMaterial>`+
					`<code nullFlavor="UNK"/></manufacturedMaterial></manufacturedProduct></consumable>`),
			Want: []string{"Immunization | status=completed | vaccineCode.coding.code=unknown | vaccineCode.text=A shot | " +
				"_occurrenceDateTime.extension.valueCode=temp-unknown"},
		},
		{
			Name: "of CCD are no medications", Section: "11369-6",
			Entries: `<entry><substanceAdministration moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.1.24"/>` + given +
				flu + `</substanceAdministration></entry>`,
			Want: []string{"Immunization | vaccineCode.coding.code=88"}, Never: []string{"MedicationStatement"},
		},
	})
}
