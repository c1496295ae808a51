package plans_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsPlannedInterventionsToServiceRequests(t *testing.T) {
	t.Parallel()
	const goalReference = `<entryRelationship typeCode="RSON">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationGOL"/>
<code nullFlavor="NP"/></act></entryRelationship>`
	const goal = `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1"/>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "that are planned refer to goals and parts", Section: "62387-6",
			Entries: ccdatest.PlannedAs("act", "ACT", "INT", "146",
				`<code code="362956003" `+ccdatest.InSnomed+`<statusCode code="active"/>`+goalReference+
					`<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="INT">
<templateId root="2.16.840.1.113883.10.20.22.4.39"/><code code="423171007" `+ccdatest.InSnomed+`</act>
</entryRelationship>`) + ccdatest.NextSection("61146-7") + ccdatest.PlannedAs("observation", "OBS", "GOL", "121", goal),
			Want: []string{
				"ServiceRequest | code.coding.code=362956003 | extension.valueReference.reference | supportingInfo.reference",
				"ServiceRequest | code.coding.code=423171007 | !supportingInfo",
				"CarePlan | goal.reference | activity.reference.reference",
			},
		},
	})
}

func TestCompletedInterventionReferencesGoal(t *testing.T) {
	t.Parallel()
	const done = `<code code="362956003" ` + ccdatest.InSnomed +
		`<statusCode code="completed"/><entryRelationship typeCode="GEVL">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationGOL"/><code nullFlavor="NP"/></act></entryRelationship>`
	resources := ccdatest.Facts(t, "62387-6",
		ccdatest.PlannedAs("act", "ACT", "EVN", "131", done)+
			ccdatest.PlannedAs("observation", "OBS", "GOL", "121", `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1"/>`))
	const told = " | code.coding.code=362956003 | extension.valueReference.reference"
	if !ccdatest.Has(resources, "Procedure"+told) && !ccdatest.Has(resources, "Observation"+told) {
		t.Errorf("no intervention in %v", ccdatest.Shown(resources))
	}
}
