package goals_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsGoals(t *testing.T) {
	t.Parallel()
	const oximetry = `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1" displayName="Oximetry"/>` +
		`<statusCode code="active"/>`
	patient := `<author><time value="20190301"/><assignedAuthor><id root="2.16.840.1.113883.19.1" extension="p"/>` +
		`</assignedAuthor></author>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "have a target and who set it, the patient first", Section: "61146-7",
			Entries: ccdatest.PlannedAs("observation", "OBS", "GOL", "121",
				oximetry+
					`<effectiveTime><low value="20190101"/><high value="20190902"/></effectiveTime><value xsi:type="IVL_PQ">`+
					`<low value="92" unit="%"/></value>`+
					ccdatest.WrittenBy+patient+ccdatest.Preference),
			Want: []string{
				"Goal | lifecycleStatus=active | description.coding.code=44616-1 | target.measure.coding.code=44616-1 | " +
					"target.detailQuantity.value=92 | target.detailQuantity.comparator=>= | target.dueDate=2019-09-02 |" +
					" startDate=2019-01-01 | statusDate=2019-02-03 | expressedBy.reference | !expressedBy.display | " +
					"priority.coding.code=394849002",
			},
		},
		{
			Name: "without templates are told by section or mood", Section: "61146-7",
			Entries: ccdatest.PlannedAs("observation", "OBS", "GOL", "",
				`<code code="8310-5" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>`+
					`<effectiveTime value="20190902"/><value xsi:type="ST">37 degrees</value>`),
			Want: []string{"Goal | lifecycleStatus=completed | description.coding.code=8310-5 | description.text=37 " +
				"degrees | target.detailString=37 degrees | startDate=2019-09-02 | !target.dueDate"},
		},
		{
			Name: "with a time to come are to be reached by then", Section: "61146-7",
			Entries: ccdatest.PlannedAs("observation", "OBS", "GOL", "121", oximetry+`<effectiveTime value="20210902"/>`),
			Want:    []string{"Goal | target.dueDate=2021-09-02 | !startDate"},
		},
		{
			Name: "are what their value says when their code says nothing", Section: "61146-7",
			Entries: ccdatest.PlannedAs("observation", "OBS", "GOL", "121",
				`<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="aborted"/>`+
					`<value xsi:type="CD" code="289169006" `+ccdatest.InSnomed) +
				ccdatest.PlannedAs("observation", "OBS", "INT", "121", `<code nullFlavor="UNK"/><text>Sleep well</text>`),
			Want: []string{
				"Goal | lifecycleStatus=cancelled | description.coding.code=289169006 | !description.coding.code=ASSERTION",
				"Goal | lifecycleStatus=proposed | description.text=Sleep well | !target | !note",
			},
		},
		{
			Name: "know how far they have come, and what came of them", Section: "61146-7",
			Entries: ccdatest.PlannedAs("observation", "OBS", "GOL", "121",
				oximetry+
					`<entryRelationship typeCode="REFR">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.110"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="390802008" `+ccdatest.InSnomed+
					`</observation></entryRelationship>`) +
				ccdatest.PlannedAs("observation", "OBS", "EVN", "144",
					`<code code="59408-5" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>
<value xsi:type="PQ" value="95" unit="%"/><entryRelationship typeCode="GEVL">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationGOL"/><code nullFlavor="NP"/>
<statusCode code="completed"/></act></entryRelationship>`),
			Want: []string{
				"Goal | achievementStatus.coding.code=achieved | achievementStatus.coding.code=390802008 | " +
					"outcomeReference.reference",
				"Observation | code.coding.code=59408-5 | valueQuantity.value=95 | " +
					"extension.url=http://hl7.org/fhir/StructureDefinition/resource-pertainsToGoal",
			},
			Never: []string{"Observation | code.coding.code=ASSERTION", "Observation | code.coding.code=unknown"},
		},
	})
}
