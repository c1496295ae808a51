package ccda_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

// TestConvertAcceptsVendorDeviations covers content that vendors write although C-CDA forbids or doesn't specify it.
func TestConvertAcceptsVendorDeviations(t *testing.T) {
	t.Parallel()
	const (
		ongoing = `<effectiveTime><low value="20190101"/><high nullFlavor="NI"/></effectiveTime>`
		ended   = `<effectiveTime><low value="20190101"/><high value="20190301"/></effectiveTime>`
		active  = `<entryRelationship typeCode="REFR">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.6"/>
<code code="33999-4" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>
<value xsi:type="CD" code="55561003" ` + ccdatest.Snomed + `>
<translation code="A" codeSystem="2.16.840.1.113883.19.7"/></value></observation></entryRelationship>`
		drug = `<consumable><manufacturedProduct><manufacturedMaterial><code code="314076" ` +
			`codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct></consumable>`
		pill = `<product><manufacturedProduct><manufacturedMaterial><code code="314076" ` +
			`codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct></product>`
	)
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "no information on the end of what is active is no end", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", ongoing+ccdatest.Pneumonia+active)),
			Want:    []string{"Condition | clinicalStatus.coding.code=active | !_abatementDateTime"},
		},
		{
			Name: "what the status is called otherwise stays as a tag", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", ongoing+ccdatest.Pneumonia+active)),
			Want:    []string{"Condition | meta.tag.code=A"},
		},
		{
			Name: "so does a status that does not agree with the end", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", ended+ccdatest.Pneumonia+active)),
			Want:    []string{"Condition | clinicalStatus.coding.code=inactive | meta.tag.code=55561003"},
		},
		{
			Name: "a severity with an interpretation", Section: "48765-2",
			Entries: `<entry><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.7"/>
<id root="2.16.840.1.113883.19.5" extension="a"/>
<value xsi:type="CD" code="416098002" ` + ccdatest.Snomed + `/>
<participant typeCode="CSM"><participantRole>
<playingEntity><code code="2670" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">
<code code="SEV" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="6736007" ` + ccdatest.Snomed + `/>
<interpretationCode code="S" codeSystem="2.16.840.1.113883.5.83"/></observation></entryRelationship></observation>
</entry>`,
			Want: []string{"AllergyIntolerance | meta.tag.code=S"},
		},
		{
			Name: "allergies in the act of CCD that is one of problems, too", Section: "48765-2",
			Entries: `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.1.27"/>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.1.28"/><templateId root="2.16.840.1.113883.10.20.1.18"/><value xsi:type="CD"/>
<participant typeCode="CSM"><participantRole><playingEntity>
<code code="2670" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant></observation>
</entryRelationship></act></entry>`,
			Want: []string{"AllergyIntolerance | code.coding.code=2670"}, Never: []string{"Condition"},
		},
		{
			Name: "a procedure with a value is an observation", Section: "30954-2",
			Entries: `<entry><organizer classCode="BATTERY" moodCode="EVN">
<component><procedure classCode="OBS" moodCode="EVN"><code code="718-7" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="PQ" value="13.2" unit="g/dL"/></procedure></component></organizer></entry>`,
			Want: []string{"Observation | code.coding.code=718-7 | valueQuantity.value=13.2"}, Never: []string{"Procedure"},
		},
		{
			Name: "encounters of one id on several days", Section: "46240-8",
			Entries: ccdatest.PlannedAs("encounter", "ENC", "EVN", "49",
				`<code code="99213" codeSystem="2.16.840.1.113883.6.12"/><effectiveTime value="20100414"/>`) +
				ccdatest.PlannedAs("encounter", "ENC", "EVN", "49",
					`<code code="99213" codeSystem="2.16.840.1.113883.6.12"/><effectiveTime value="20101215"/>`),
			Want: []string{"Encounter | period.start=2010-04-14 | period.end=2010-04-14", "Encounter | period.start=2010-12-15"},
		},
		{
			Name: "a number of times that is none says nothing", Section: "10160-0",
			Entries: ccdatest.PlannedAs("substanceAdministration", "SBADM", "EVN", "16",
				`<statusCode code="active"/><repeatNumber value="0"/>`+drug),
			Want: []string{"MedicationRequest | status=active | !dosageInstruction"},
		},
		{
			Name: "how often it has been taken", Section: "10160-0",
			Entries: ccdatest.PlannedAs("substanceAdministration", "SBADM", "EVN", "16",
				`<statusCode code="completed"/><repeatNumber value="3"/>`+drug),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.count=3"},
		},
		{
			Name: "for how long it is taken", Section: "10160-0",
			Entries: ccdatest.PlannedAs("substanceAdministration", "SBADM", "INT", "16",
				`<effectiveTime xsi:type="IVL_TS"><low value="20250226"/><width value="4" unit="d"/></effectiveTime>`+drug) +
				ccdatest.PlannedAs("substanceAdministration", "SBADM", "RQO", "16",
					`<effectiveTime xsi:type="IVL_TS"><low value="20250226"/><width value="2" unit="mo"/></effectiveTime>`+drug) +
				ccdatest.PlannedAs("substanceAdministration", "SBADM", "PRP", "16",
					`<effectiveTime xsi:type="IVL_TS"><low value="2025"/><width value="1" unit="a"/></effectiveTime>`+drug),
			Want: []string{
				"MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.end=2025-03-02",
				"MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.end=2025-04-26",
				"MedicationRequest | dosageInstruction.timing.repeat.boundsPeriod.start=2025 | " +
					"!dosageInstruction.timing.repeat.boundsPeriod.end",
			},
		},
		{
			Name: "an order without repeats, of a status that is none", Section: "10160-0",
			Entries: ccdatest.PlannedAs("supply", "SPLY", "INT", "17",
				`<statusCode code="ordered"/><repeatNumber value="0"/>`+pill),
			Want: []string{"MedicationRequest | status=active | dispenseRequest.numberOfRepeatsAllowed=0"},
		},
		{
			Name: "when nobody who is named has written it", Section: "47519-4",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "EVN", "14",
				`<code code="29303009" `+ccdatest.Snomed+`/><statusCode code="completed"/>
<author><time value="201307102214-0500"/><assignedAuthor><id nullFlavor="NI"/></assignedAuthor></author>`),
			Want: []string{"Provenance | occurredDateTime=2013-07-10T22:14:00-05:00 | agent.who.display=Unknown"},
		},
		{
			Name: "what a policy authorizes is paid for by it", Section: "48768-6",
			Entries: ccdatest.PlannedAs("act", "ACT", "EVN", "61",
				`<code code="81" codeSystem="2.16.840.1.113883.3.221.5"/>
<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.1.19"/>
<entryRelationship typeCode="SUBJ"><procedure classCode="PROC" moodCode="PRMS"><code code="73761001" `+ccdatest.Snomed+
					`/></procedure></entryRelationship></act></entryRelationship>`),
			Want: []string{"ServiceRequest | code.coding.code=73761001 | insurance"},
		},
	})
}
