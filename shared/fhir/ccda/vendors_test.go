package ccda_test

import "testing"

// TestWhatVendorsWrite has what documents of several vendors have that C-CDA does not ask for, or forbids.
func TestWhatVendorsWrite(t *testing.T) {
	t.Parallel()
	const (
		ongoing = `<effectiveTime><low value="20190101"/><high nullFlavor="NI"/></effectiveTime>`
		ended   = `<effectiveTime><low value="20190101"/><high value="20190301"/></effectiveTime>`
		active  = `<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.6"/>
<code code="33999-4" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><value xsi:type="CD" code="55561003" ` + snomed + `>
<translation code="A" codeSystem="2.16.840.1.113883.19.7"/></value></observation></entryRelationship>`
		drug = `<consumable><manufacturedProduct><manufacturedMaterial><code code="314076" codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct></consumable>`
		pill = `<product><manufacturedProduct><manufacturedMaterial><code code="314076" codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct></product>`
	)
	runFacts(t, []factCase{
		{
			name: "no information on the end of what is active is no end", section: "11450-4", entries: concern("active", problemOf("", ongoing+pneumonia+active)),
			want: []string{"Condition | clinicalStatus.coding.code=active | !_abatementDateTime"},
		},
		{
			name: "what the status is called otherwise stays as a tag", section: "11450-4", entries: concern("active", problemOf("", ongoing+pneumonia+active)),
			want: []string{"Condition | meta.tag.code=A"},
		},
		{
			name: "so does a status that does not agree with the end", section: "11450-4", entries: concern("active", problemOf("", ended+pneumonia+active)),
			want: []string{"Condition | clinicalStatus.coding.code=resolved | meta.tag.code=55561003"},
		},
		{
			name: "a severity with an interpretation", section: "48765-2",
			entries: `<entry><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.7"/><id root="2.16.840.1.113883.19.5" extension="a"/>
<value xsi:type="CD" code="416098002" ` + snomed + `/><participant typeCode="CSM"><participantRole><playingEntity><code code="2670" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN"><code code="SEV" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="6736007" ` + snomed + `/>
<interpretationCode code="S" codeSystem="2.16.840.1.113883.5.83"/></observation></entryRelationship></observation></entry>`,
			want: []string{"AllergyIntolerance | meta.tag.code=S"},
		},
		{
			name: "allergies in the act of CCD that is one of problems, too", section: "48765-2",
			entries: `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.1.27"/><entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.1.28"/><templateId root="2.16.840.1.113883.10.20.1.18"/><value xsi:type="CD"/><participant typeCode="CSM"><participantRole><playingEntity>
<code code="2670" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant></observation></entryRelationship></act></entry>`,
			want: []string{"AllergyIntolerance | code.coding.code=2670"}, never: []string{"Condition"},
		},
		{
			name: "a procedure with a value is an observation", section: "30954-2",
			entries: `<entry><organizer classCode="BATTERY" moodCode="EVN"><component><procedure classCode="OBS" moodCode="EVN"><code code="718-7" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="PQ" value="13.2" unit="g/dL"/></procedure></component></organizer></entry>`,
			want: []string{"Observation | code.coding.code=718-7 | valueQuantity.value=13.2"}, never: []string{"Procedure"},
		},
		{
			name: "encounters of one id on several days", section: "46240-8",
			entries: plannedAs("encounter", "ENC", "EVN", "49", `<code code="99213" codeSystem="2.16.840.1.113883.6.12"/><effectiveTime value="20100414"/>`) +
				plannedAs("encounter", "ENC", "EVN", "49", `<code code="99213" codeSystem="2.16.840.1.113883.6.12"/><effectiveTime value="20101215"/>`),
			want: []string{"Encounter | period.start=2010-04-14 | period.end=2010-04-14", "Encounter | period.start=2010-12-15"},
		},
		{
			name: "a number of times that is none says nothing", section: "10160-0",
			entries: plannedAs("substanceAdministration", "SBADM", "EVN", "16", `<statusCode code="active"/><repeatNumber value="0"/>`+drug),
			want:    []string{"MedicationStatement | status=active | !dosage"},
		},
		{
			name: "how often it has been taken", section: "10160-0",
			entries: plannedAs("substanceAdministration", "SBADM", "EVN", "16", `<statusCode code="completed"/><repeatNumber value="3"/>`+drug),
			want:    []string{"MedicationStatement | dosage.timing.repeat.count=3"},
		},
		{
			name: "for how long it is taken", section: "10160-0",
			entries: plannedAs("substanceAdministration", "SBADM", "INT", "16", `<effectiveTime xsi:type="IVL_TS"><low value="20250226"/><width value="4" unit="d"/></effectiveTime>`+drug) +
				plannedAs("substanceAdministration", "SBADM", "RQO", "16", `<effectiveTime xsi:type="IVL_TS"><low value="20250226"/><width value="2" unit="mo"/></effectiveTime>`+drug) +
				plannedAs("substanceAdministration", "SBADM", "PRP", "16", `<effectiveTime xsi:type="IVL_TS"><low value="2025"/><width value="1" unit="a"/></effectiveTime>`+drug),
			want: []string{
				"MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.end=2025-03-02", "MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.end=2025-04-26",
				"MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.start=2025 | !dosageInstruction.timing.repeat.boundsPeriod.end",
			},
		},
		{
			name: "an order without repeats, of a status that is none", section: "10160-0",
			entries: plannedAs("supply", "SPLY", "INT", "17", `<statusCode code="ordered"/><repeatNumber value="0"/>`+pill),
			want:    []string{"MedicationRequest | status=active | dispenseRequest.numberOfRepeatsAllowed=0"},
		},
		{
			name: "when nobody who is named has written it", section: "47519-4",
			entries: plannedAs("procedure", "PROC", "EVN", "14", `<code code="29303009" `+snomed+`/><statusCode code="completed"/>
<author><time value="201307102214-0500"/><assignedAuthor><id nullFlavor="NI"/></assignedAuthor></author>`),
			want: []string{"Provenance | occurredDateTime=2013-07-10T22:14:00-05:00 | agent.who.display=Unknown"},
		},
		{
			name: "what a policy authorizes is paid for by it", section: "48768-6",
			entries: plannedAs("act", "ACT", "EVN", "61", `<code code="81" codeSystem="2.16.840.1.113883.3.221.5"/><entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.1.19"/><entryRelationship typeCode="SUBJ"><procedure classCode="PROC" moodCode="PRMS"><code code="73761001" `+snomed+`/></procedure></entryRelationship></act></entryRelationship>`),
			want: []string{"ServiceRequest | code.coding.code=73761001 | insurance"},
		},
	})
}
