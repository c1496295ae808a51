package ccda_test

import "testing"

func TestSocialHistory(t *testing.T) {
	t.Parallel()
	observation := func(root, code, rest string) string {
		return `<entry><observation classCode="OBS" moodCode="EVN"><templateId root="` + root + `"/><code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>` + rest + `</observation></entry>`
	}
	const (
		node    = "2.16.840.1.113883.10.20.22.4."
		assert  = "ASSERTION"
		smoker  = `<effectiveTime value="20190304"/><value xsi:type="CD" code="8517006" codeSystem="2.16.840.1.113883.6.96"/>`
		unknown = `<value xsi:type="CD" nullFlavor="UNK"/>`
	)
	runFacts(t, []factCase{
		{
			name: "has a smoking status, also where R1.1 only asserts it", section: "29762-2",
			entries: observation(node+"78", assert, smoker),
			want: []string{"Observation | code.coding.0.code=72166-2 | !code.coding.1 | meta.tag.code=ASSERTION | valueCodeableConcept.coding.code=8517006 |" +
				" category.coding.code=social-history | effectiveDateTime=2019-03-04"},
		},
		{
			name: "has tobacco use over a time", section: "29762-2",
			entries: observation(node+"85", "11367-0", `<effectiveTime><low value="2009"/><high value="2011"/></effectiveTime><value xsi:type="CD" code="160604004" codeSystem="2.16.840.1.113883.6.96"/>`),
			want:    []string{"Observation | code.coding.code=11367-0 | effectivePeriod.start=2009 | effectivePeriod.end=2011"},
		},
		{
			name: "what goes on has a start and no end", section: "29762-2",
			entries: observation(node+"38", "74013-4", `<effectiveTime><low value="2005"/></effectiveTime><value xsi:type="PQ" value="2"/>`),
			want:    []string{"Observation | code.coding.code=74013-4 | effectivePeriod.start=2005 | !effectivePeriod.end | !effectiveDateTime"},
		},
		{
			name: "has a pregnancy with its expected end", section: "29762-2",
			entries: observation("2.16.840.1.113883.10.20.15.3.8", assert, `<effectiveTime><low value="20190304"/></effectiveTime><value xsi:type="CD" code="77386006" codeSystem="2.16.840.1.113883.6.96"/>
<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.15.3.1"/><code code="11778-8" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="TS" value="20191201"/></observation></entryRelationship>`),
			want: []string{"Observation | code.coding.code=82810-3 | valueCodeableConcept.coding.code=77386006 | component.code.coding.code=11778-8 | component.valueDateTime=2019-12-01"},
		},
		{
			name: "has it as an answer that a pregnancy is unknown", section: "29762-2",
			entries: observation("2.16.840.1.113883.10.20.15.3.8", "82810-3", unknown),
			want:    []string{"Observation | valueCodeableConcept.coding.code=UNK | valueCodeableConcept.coding.system=http://terminology.hl7.org/CodeSystem/v3-NullFlavor | !dataAbsentReason"},
		},
		{
			name: "has a code for no pregnancy", section: "29762-2",
			entries: `<entry><observation negationInd="true"><templateId root="2.16.840.1.113883.10.20.15.3.8"/><code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="77386006" codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			want:    []string{"Observation | valueCodeableConcept.coding.code=60001007"},
			never:   []string{"Observation | valueCodeableConcept.coding.code=77386006"},
		},
		{
			name: "tells the Patient's birth sex, gender and tribe", section: "29762-2",
			entries: observation(node+"200", "76689-9", `<value xsi:type="CD" code="F" codeSystem="2.16.840.1.113883.5.1"/>`) +
				observation("2.16.840.1.113883.10.20.34.3.45", "76691-5", `<value xsi:type="CD" code="446141000124107" codeSystem="2.16.840.1.113883.6.96"/>`) +
				observation(node+"38", "95370-3", `<value xsi:type="CD" code="91" codeSystem="2.16.840.1.113883.5.140"/>`),
			want: []string{
				"Patient | extension.url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex | extension.valueCode=F | extension.valueCodeableConcept.coding.code=446141000124107 | extension.extension.url=tribalAffiliation",
				"Observation | code.coding.code=76689-9 | valueCodeableConcept.coding.code=F",
			},
		},
		{
			name: "tells no birth sex of a word", section: "29762-2",
			entries: observation(node+"200", "76689-9", `<value xsi:type="ST">none</value>`),
			want:    []string{"Observation | valueString=none"},
			never:   []string{"Patient | extension.url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex"},
		},
		{
			name: "marks social risks, and takes what has no template", section: "29762-2",
			entries: `<entry><observation><code code="71802-3" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="LA31993-1" codeSystem="2.16.840.1.113883.6.1"/></observation></entry>`,
			want:    []string{"Observation | category.coding.code=social-history | category.coding.code=sdoh | valueCodeableConcept.coding.code=LA31993-1"},
		},
		{
			name: "denies what is negated", section: "29762-2",
			entries: `<entry><observation negationInd="true"><code code="11331-6" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="219006" codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			want:    []string{"Observation | component.code.coding.code=219006 | component.valueBoolean=false | !valueCodeableConcept"},
		},
		{
			name: "has scales with their answers", section: "29762-2",
			entries: observation(node+"69", "93025-5", `<effectiveTime value="20190304"/><value xsi:type="INT" value="5"/>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.86"/><code code="71802-3"/><value xsi:type="CD" code="LA31994-9" codeSystem="2.16.840.1.113883.6.1"/></observation></entryRelationship>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.86"/><code code="63586-2"/><effectiveTime value="20190305"/><value xsi:type="INT" value="2"/></observation></entryRelationship>`),
			want: []string{
				"Observation | category.coding.code=survey | valueInteger=5 | component.code.coding.code=71802-3 | component.valueCodeableConcept.coding.code=LA31994-9 | hasMember",
				"Observation | code.coding.code=63586-2 | effectiveDateTime=2019-03-05 | category.coding.code=survey",
			},
		},
		{
			name: "of CCD is told by the section's older template", section: `<section><templateId root="2.16.840.1.113883.10.20.1.15"/>`,
			entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.1.33"/><code code="229819007" codeSystem="2.16.840.1.113883.6.96"/><value xsi:type="ST">1 pack</value></observation></entry>`,
			want:    []string{"Observation | category.coding.code=social-history | valueString=1 pack"},
		},
	})
}

func TestFunctionalAndMentalStatus(t *testing.T) {
	t.Parallel()
	runFacts(t, []factCase{
		{
			name: "are panels with members", section: "47420-5",
			entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.66"/><code code="d5" codeSystem="2.16.840.1.113883.6.254"/><statusCode code="completed"/>
<component><observation><templateId root="2.16.840.1.113883.10.20.22.4.128"/><code code="46008-9 " codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190304"/><value xsi:type="CD" code="371153006" codeSystem="2.16.840.1.113883.6.96"/></observation></component>
<component><observation><code code="54522-8" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" nullFlavor="UNK"/></observation></component></organizer></entry>`,
			want: []string{
				"Observation | code.coding.code=d5 | hasMember.1.reference | category.coding.code=functional-status | effectiveDateTime=2019-03-04",
				"Observation | code.coding.code=46008-9 | valueCodeableConcept.coding.code=371153006 | category.coding.code=functional-status",
				"Observation | code.coding.code=54522-8 | category.coding.code=functional-status | dataAbsentReason.coding.code=unknown",
			},
		},
		{
			name: "of the mind are cognitive, and rest on scales", section: "10190-7",
			entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.74"/><code code="75275-8" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190304"/><value xsi:type="CD" code="11163003" codeSystem="2.16.840.1.113883.6.96"/>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.69"/><code code="44249-1" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="INT" value="4"/></observation></entryRelationship></observation></entry>`,
			want: []string{"Observation | code.coding.code=75275-8 | category.coding.code=cognitive-status | derivedFrom", "Observation | code.coding.code=44249-1 | category.coding.code=survey | valueInteger=4"},
		},
		{
			name: "that are problems are Conditions", section: "47420-5",
			entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.68"/><code code="248536006" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/><effectiveTime><low value="2018"/></effectiveTime><value xsi:type="CD" code="162891007" codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			want:    []string{"Condition | code.coding.code=162891007 | onsetDateTime=2018 | category.coding.code=problem-list-item"},
		},
		{
			name: "name a caregiver", section: "47420-5",
			entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.72"/><code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="422615001" codeSystem="2.16.840.1.113883.6.96"/>
<participant typeCode="IND"><participantRole classCode="CAREGIVER"><code code="MTH" codeSystem="2.16.840.1.113883.5.111"/></participantRole></participant></observation></entry>`,
			want: []string{"Observation | focus.reference | valueCodeableConcept.coding.code=422615001", "RelatedPerson | relationship.coding.code=MTH"},
		},
	})
}
