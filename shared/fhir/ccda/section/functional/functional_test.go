package functional_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsFunctionalAndMentalStatus(t *testing.T) {
	t.Parallel()
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are panels with members", Section: "47420-5",
			Entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.66"/>
<code code="d5" codeSystem="2.16.840.1.113883.6.254"/><statusCode code="completed"/>
<component><observation><templateId root="2.16.840.1.113883.10.20.22.4.128"/>
<code code="46008-9 " codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190304"/>
<value xsi:type="CD" code="371153006" codeSystem="2.16.840.1.113883.6.96"/></observation></component>
<component><observation><code code="54522-8" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="CD" nullFlavor="UNK"/></observation></component></organizer></entry>`,
			Want: []string{
				"Observation | code.coding.code=d5 | hasMember.1.reference | category.coding.code=functional-status | " +
					"effectiveDateTime=2019-03-04",
				"Observation | code.coding.code=46008-9 | valueCodeableConcept.coding.code=371153006 | " +
					"category.coding.code=functional-status",
				"Observation | code.coding.code=54522-8 | category.coding.code=functional-status | " +
					"dataAbsentReason.coding.code=unknown",
			},
		},
		{
			Name: "of the mind are cognitive, and rest on scales", Section: "10190-7",
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.74"/>
<code code="75275-8" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190304"/>
<value xsi:type="CD" code="11163003" codeSystem="2.16.840.1.113883.6.96"/>
<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.69"/>
<code code="44249-1" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="INT" value="4"/></observation></entryRelationship></observation></entry>`,
			Want: []string{
				"Observation | code.coding.code=75275-8 | category.coding.code=cognitive-status | derivedFrom",
				"Observation | code.coding.code=44249-1 | category.coding.code=survey | valueInteger=4",
			},
		},
		{
			Name: "that are problems are Conditions", Section: "47420-5",
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.68"/>` +
				`<code code="248536006" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/>` +
				`<effectiveTime><low value="2018"/></effectiveTime><value xsi:type="CD" code="162891007" ` +
				`codeSystem="2.16.840.1.113883.6.96"/></observation></entry>`,
			Want: []string{"Condition | code.coding.code=162891007 | onsetDateTime=2018 | " +
				"category.coding.code=problem-list-item"},
		},
		{
			Name: "name a caregiver", Section: "47420-5",
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.72"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/>
<value xsi:type="CD" code="422615001" codeSystem="2.16.840.1.113883.6.96"/>
<participant typeCode="IND"><participantRole classCode="CAREGIVER">
<code code="MTH" codeSystem="2.16.840.1.113883.5.111"/></participantRole></participant></observation></entry>`,
			Want: []string{
				"Observation | focus.reference | valueCodeableConcept.coding.code=422615001",
				"RelatedPerson | relationship.coding.code=MTH",
			},
		},
	})
}
