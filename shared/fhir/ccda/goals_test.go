package ccda_test

import "testing"

func TestGoals(t *testing.T) {
	t.Parallel()
	const oximetry = `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1" displayName="Oximetry"/><statusCode code="active"/>`
	patient := `<author><time value="20190301"/><assignedAuthor><id root="2.16.840.1.113883.19.1" extension="p"/></assignedAuthor></author>`
	runFacts(t, []factCase{
		{
			name: "have a target and who set it, the patient first", section: "61146-7",
			entries: plannedAs("observation", "OBS", "GOL", "121", oximetry+`<effectiveTime><low value="20190101"/><high value="20190902"/></effectiveTime><value xsi:type="IVL_PQ"><low value="92" unit="%"/></value>`+
				writtenBy+patient+preference),
			want: []string{
				"Goal | lifecycleStatus=active | description.coding.code=44616-1 | target.measure.coding.code=44616-1 | target.detailQuantity.value=92 | target.detailQuantity.comparator=>= | target.dueDate=2019-09-02 |" +
					" startDate=2019-01-01 | statusDate=2019-02-03 | expressedBy.reference | !expressedBy.display | priority.coding.code=394849002",
			},
		},
		{
			name: "without templates are told by section or mood", section: "61146-7",
			entries: plannedAs("observation", "OBS", "GOL", "", `<code code="8310-5" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><effectiveTime value="20190902"/><value xsi:type="ST">37 degrees</value>`),
			want:    []string{"Goal | lifecycleStatus=completed | description.coding.code=8310-5 | description.text=37 degrees | target.detailString=37 degrees | startDate=2019-09-02 | !target.dueDate"},
		},
		{
			name: "with a time to come are to be reached by then", section: "61146-7",
			entries: plannedAs("observation", "OBS", "GOL", "121", oximetry+`<effectiveTime value="20210902"/>`),
			want:    []string{"Goal | target.dueDate=2021-09-02 | !startDate"},
		},
		{
			name: "are what their value says when their code says nothing", section: "61146-7",
			entries: plannedAs("observation", "OBS", "GOL", "121", `<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="aborted"/><value xsi:type="CD" code="289169006" `+inSnomed) +
				plannedAs("observation", "OBS", "INT", "121", `<code nullFlavor="UNK"/><text>Sleep well</text>`),
			want: []string{
				"Goal | lifecycleStatus=cancelled | description.coding.code=289169006 | !description.coding.code=ASSERTION", "Goal | lifecycleStatus=active | description.text=Sleep well | !target | !note",
			},
		},
		{
			name: "know how far they have come, and what came of them", section: "61146-7",
			entries: plannedAs("observation", "OBS", "GOL", "121", oximetry+`<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.110"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="390802008" `+inSnomed+`</observation></entryRelationship>`) +
				plannedAs("observation", "OBS", "EVN", "144", `<code code="59408-5" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><value xsi:type="PQ" value="95" unit="%"/><entryRelationship typeCode="GEVL">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/><id root="2.16.840.1.113883.19.5" extension="observationGOL"/><code nullFlavor="NP"/><statusCode code="completed"/></act></entryRelationship>`),
			want: []string{
				"Goal | achievementStatus.coding.code=achieved | achievementStatus.coding.code=390802008 | outcomeReference.reference",
				"Observation | code.coding.code=59408-5 | valueQuantity.value=95 | extension.url=http://hl7.org/fhir/StructureDefinition/resource-pertainsToGoal",
			},
			never: []string{"Observation | code.coding.code=ASSERTION", "Observation | code.coding.code=unknown"},
		},
	})
}

func TestInterventions(t *testing.T) {
	t.Parallel()
	const goalReference = `<entryRelationship typeCode="RSON"><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/><id root="2.16.840.1.113883.19.5" extension="observationGOL"/>
<code nullFlavor="NP"/></act></entryRelationship>`
	const goal = `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1"/>`
	runFacts(t, []factCase{
		{
			name: "that are planned refer to goals and parts", section: "62387-6",
			entries: plannedAs("act", "ACT", "INT", "146", `<code code="362956003" `+inSnomed+`<statusCode code="active"/>`+goalReference+`<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="INT">
<templateId root="2.16.840.1.113883.10.20.22.4.39"/><code code="423171007" `+inSnomed+`</act></entryRelationship>`) + nextSection("61146-7") + plannedAs("observation", "OBS", "GOL", "121", goal),
			want: []string{
				"ServiceRequest | code.coding.code=362956003 | extension.valueReference.reference | supportingInfo.reference", "ServiceRequest | code.coding.code=423171007 | !supportingInfo",
				"CarePlan | goal.reference | activity.reference.reference",
			},
		},
	})
}

func TestInterventionsThatAreDoneReferToGoals(t *testing.T) {
	t.Parallel()
	const done = `<code code="362956003" ` + inSnomed + `<statusCode code="completed"/><entryRelationship typeCode="GEVL"><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationGOL"/><code nullFlavor="NP"/></act></entryRelationship>`
	resources := entryFacts(t, "62387-6", plannedAs("act", "ACT", "EVN", "131", done)+plannedAs("observation", "OBS", "GOL", "121", `<code code="44616-1" codeSystem="2.16.840.1.113883.6.1"/>`))
	const told = " | code.coding.code=362956003 | extension.valueReference.reference"
	if !isThere(resources, "Procedure"+told) && !isThere(resources, "Observation"+told) {
		t.Errorf("no intervention in %v", shown(resources))
	}
}

func TestHealthConcerns(t *testing.T) {
	t.Parallel()
	problem := func(kind, code string) string {
		return `<entryRelationship typeCode="` + kind + `"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.4"/><id root="2.16.840.1.113883.19.5" extension="` + code + `"/>
<code code="55607006" ` + snomed + `/><effectiveTime><low value="20190613"/></effectiveTime><value xsi:type="CD" code="` + code + `" ` + inSnomed + `</observation></entryRelationship>`
	}
	const concern = `<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><effectiveTime value="20190616"/>`
	runFacts(t, []factCase{
		{
			name: "are problems with evidence", section: "75310-3",
			entries: plannedAs("act", "ACT", "EVN", "132", concern+problem("REFR", "233604007")+problem("SPRT", "28743005")),
			want: []string{
				"Condition | category.coding.code=health-concern | code.coding.code=233604007 | clinicalStatus.coding.code=resolved | recordedDate=2019-06-16 | evidence.detail.reference",
				"Condition | code.coding.code=28743005 | !evidence | !clinicalStatus.coding.code=resolved",
			},
		},
		{
			name: "may be about anything", section: "75310-3",
			entries: plannedAs("act", "ACT", "EVN", "", `<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="active"/><entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.85"/><code code="11367-0" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="449868002" `+inSnomed+`</observation></entryRelationship>`) +
				plannedAs("act", "ACT", "EVN", "132", `<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><text>Lives alone</text>`),
			want: []string{
				"Condition | category.coding.code=health-concern | code.coding.code=449868002 | clinicalStatus.coding.code=active", "Observation | code.coding.code=11367-0",
				"Condition | category.coding.code=health-concern | code.text=Lives alone",
			},
		},
		{
			name: "make concerns of problems elsewhere", section: "11450-4",
			entries: plannedAs("observation", "OBS", "EVN", "4", `<code code="55607006" `+inSnomed+`<value xsi:type="CD" code="233604007" `+inSnomed) + nextSection("75310-3") +
				plannedAs("act", "ACT", "EVN", "132", concern+`<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationEVN"/><code nullFlavor="NP"/></act></entryRelationship>`),
			want:  []string{"Condition | category.coding.code=health-concern | code.coding.code=233604007"},
			never: []string{"Condition | !code.coding.code=233604007"},
		},
		{
			name: "do not say that somebody has what they are at risk of", section: "75310-3",
			entries: plannedAs("act", "ACT", "EVN", "136", `<code code="281694009" displayName="At risk" `+inSnomed+`<statusCode code="active"/>`+problem("REFR", "363346000")),
			want:    []string{"Condition | category.coding.code=health-concern | code.coding.code=281694009 | evidence.code.coding.code=363346000 | clinicalStatus.coding.code=active"},
			never:   []string{"Condition | code.coding.code=363346000"},
		},
	})
}
