package social_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsSocialHistoryToObservations(t *testing.T) {
	t.Parallel()
	observation := func(root, code, rest string) string {
		return `<entry><observation classCode="OBS" moodCode="EVN"><templateId root="` + root + `"/><code code="` + code +
			`" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>` + rest + `</observation></entry>`
	}
	const (
		node    = "2.16.840.1.113883.10.20.22.4."
		assert  = "ASSERTION"
		smoker  = `<effectiveTime value="20190304"/><value xsi:type="CD" code="8517006" codeSystem="2.16.840.1.113883.6.96"/>`
		unknown = `<value xsi:type="CD" nullFlavor="UNK"/>`
	)
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "has a smoking status, also where R1.1 only asserts it", Section: "29762-2",
			Entries: observation(node+"78", assert, smoker),
			Want: []string{"Observation | code.coding.0.code=72166-2 | !code.coding.1 | meta.tag.code=ASSERTION | " +
				"valueCodeableConcept.coding.code=8517006 |" +
				" category.coding.code=social-history | effectiveDateTime=2019-03-04"},
		},
		{
			Name: "has tobacco use over a time", Section: "29762-2",
			Entries: observation(node+"85", "11367-0",
				`<effectiveTime><low value="2009"/><high value="2011"/></effectiveTime>`+
					`<value xsi:type="CD" code="160604004" codeSystem="2.16.840.1.113883.6.96"/>`),
			Want: []string{"Observation | code.coding.code=11367-0 | effectivePeriod.start=2009 | effectivePeriod.end=2011"},
		},
		{
			Name: "what goes on has a start and no end", Section: "29762-2",
			Entries: observation(node+"38", "74013-4",
				`<effectiveTime><low value="2005"/></effectiveTime><value xsi:type="PQ" value="2"/>`),
			Want: []string{"Observation | code.coding.code=74013-4 | effectivePeriod.start=2005 | !effectivePeriod.end | " +
				"!effectiveDateTime"},
		},
		{
			Name: "has a pregnancy with its expected end", Section: "29762-2",
			Entries: observation("2.16.840.1.113883.10.20.15.3.8", assert,
				`<effectiveTime><low value="20190304"/></effectiveTime>
<value xsi:type="CD" code="77386006" codeSystem="2.16.840.1.113883.6.96"/>
<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.15.3.1"/><code code="11778-8" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="TS" value="20191201"/></observation></entryRelationship>`),
			Want: []string{"Observation | code.coding.code=82810-3 | valueCodeableConcept.coding.code=77386006 | " +
				"component.code.coding.code=11778-8 | component.valueDateTime=2019-12-01"},
		},
		{
			Name: "has it as an answer that a pregnancy is unknown", Section: "29762-2",
			Entries: observation("2.16.840.1.113883.10.20.15.3.8", "82810-3", unknown),
			Want: []string{"Observation | valueCodeableConcept.coding.code=UNK | " +
				"valueCodeableConcept.coding.system=http://terminology.hl7.org/CodeSystem/v3-NullFlavor | !dataAbsentReason"},
		},
		{
			Name: "has a code for no pregnancy", Section: "29762-2",
			Entries: `<entry><observation negationInd="true"><templateId root="2.16.840.1.113883.10.20.15.3.8"/>` +
				`<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/>` +
				`<value xsi:type="CD" code="77386006" codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			Want:  []string{"Observation | valueCodeableConcept.coding.code=60001007"},
			Never: []string{"Observation | valueCodeableConcept.coding.code=77386006"},
		},
		{
			Name: "tells the Patient's birth sex, gender and tribe", Section: "29762-2",
			Entries: observation(node+"200", "76689-9", `<value xsi:type="CD" code="F" codeSystem="2.16.840.1.113883.5.1"/>`) +
				observation("2.16.840.1.113883.10.20.34.3.45", "76691-5",
					`<value xsi:type="CD" code="446141000124107" codeSystem="2.16.840.1.113883.6.96"/>`) +
				observation(node+"38", "95370-3", `<value xsi:type="CD" code="91" codeSystem="2.16.840.1.113883.5.140"/>`),
			Want: []string{
				"Patient | extension.url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex | " +
					"extension.valueCode=F | extension.valueCodeableConcept.coding.code=446141000124107 | " +
					"extension.extension.url=tribalAffiliation",
				"Observation | code.coding.code=76689-9 | valueCodeableConcept.coding.code=F",
			},
		},
		{
			Name: "tells no birth sex of a word", Section: "29762-2",
			Entries: observation(node+"200", "76689-9", `<value xsi:type="ST">none</value>`),
			Want:    []string{"Observation | valueString=none"},
			Never:   []string{"Patient | extension.url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex"},
		},
		{
			Name: "marks social risks, and takes what has no template", Section: "29762-2",
			Entries: `<entry><observation><code code="71802-3" codeSystem="2.16.840.1.113883.6.1"/>` +
				`<value xsi:type="CD" code="LA31993-1" codeSystem="2.16.840.1.113883.6.1"/></observation></entry>`,
			Want: []string{"Observation | category.coding.code=social-history | category.coding.code=sdoh | " +
				"valueCodeableConcept.coding.code=LA31993-1"},
		},
		{
			Name: "denies what is negated", Section: "29762-2",
			Entries: `<entry><observation negationInd="true"><code code="11331-6" codeSystem="2.16.840.1.113883.6.1"/>` +
				`<value xsi:type="CD" code="219006" codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			Want: []string{"Observation | component.code.coding.code=219006 | component.valueBoolean=false | " +
				"!valueCodeableConcept"},
		},
		{
			Name: "has scales with their answers", Section: "29762-2",
			Entries: observation(node+"69", "93025-5", `<effectiveTime value="20190304"/><value xsi:type="INT" value="5"/>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.86"/>
<code code="71802-3"/><value xsi:type="CD" code="LA31994-9" codeSystem="2.16.840.1.113883.6.1"/></observation>
</entryRelationship>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.86"/>
<code code="63586-2"/><effectiveTime value="20190305"/>
<value xsi:type="INT" value="2"/></observation></entryRelationship>`),
			Want: []string{
				"Observation | category.coding.code=survey | valueInteger=5 | component.code.coding.code=71802-3 | " +
					"component.valueCodeableConcept.coding.code=LA31994-9 | hasMember",
				"Observation | code.coding.code=63586-2 | effectiveDateTime=2019-03-05 | category.coding.code=survey",
			},
		},
		{
			Name:    "of CCD is told by the section's older template",
			Section: `<section><templateId root="2.16.840.1.113883.10.20.1.15"/>`,
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.1.33"/>` +
				`<code code="229819007" codeSystem="2.16.840.1.113883.6.96"/><value xsi:type="ST">1 pack</value>` +
				`</observation></entry>`,
			Want: []string{"Observation | category.coding.code=social-history | valueString=1 pack"},
		},
	})
}
