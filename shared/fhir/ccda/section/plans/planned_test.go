package plans_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsPlannedStatementsToRequests(t *testing.T) {
	t.Parallel()
	const colonoscopy = `<code code="73761001" displayName="Colonoscopy" ` + ccdatest.InSnomed +
		`<statusCode code="active"/><effectiveTime value="20200613"/>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "ask for a service", Section: "18776-5",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "RQO", "41",
				colonoscopy+`<priorityCode code="UR" codeSystem="2.16.840.1.113883.5.7"/><methodCode code="129304002" `+
					ccdatest.InSnomed+
					`<targetSiteCode code="71854001" `+ccdatest.InSnomed+ccdatest.DoneBy+ccdatest.WrittenBy+
					`<entryRelationship typeCode="RSON">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.19"/>
<code code="29308-4" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="266569009" `+ccdatest.InSnomed+
					`</observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><act classCode="ACT" moodCode="INT">
<templateId root="2.16.840.1.113883.10.20.22.4.20"/><code code="311401005" `+ccdatest.InSnomed+
					`<text>Fast before.</text></act></entryRelationship>`),
			Want: []string{
				"ServiceRequest | status=active | intent=order | priority=urgent | code.coding.code=73761001 | " +
					"occurrenceDateTime=2020-06-13 | authoredOn=2019-02-03 | requester.display=Writer |" +
					" performer.display=Doer | bodySite.coding.code=71854001 | orderDetail.coding.code=129304002 | " +
					"reasonCode.coding.code=266569009 | patientInstruction=Fast before. | meta.tag.code=311401005 |" +
					" identifier.value=procedureRQO | encounter",
				"CarePlan | activity.reference.reference | status=active | intent=plan | category.coding.code=assess-plan | " +
					"category.coding.code=18776-5",
			},
			Never: []string{"Condition", "Observation"},
		},
		{
			Name: "are told by class and mood in a plan", Section: "18776-5",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "INT", "", colonoscopy) +
				ccdatest.PlannedAs("observation", "OBS", "RQO", "",
					`<code code="24356-8" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="held"/>`) +
				ccdatest.PlannedAs("act", "ACT", "PRP", "",
					`<code code="409073007" `+ccdatest.InSnomed+`<statusCode code="cancelled"/>`),
			Want: []string{
				"ServiceRequest | intent=plan | code.coding.code=73761001",
				"ServiceRequest | intent=order | status=on-hold | code.coding.code=24356-8",
				"ServiceRequest | intent=proposal | status=revoked | code.coding.code=409073007",
			},
		},
		{
			Name:    "of CCD have one template for all",
			Section: `<section><templateId root="2.16.840.1.113883.10.20.1.10"/><title>Plan</title>`,
			Entries: `<entry><observation classCode="OBS" moodCode="RQO"><templateId ` +
				`root="2.16.840.1.113883.10.20.1.25"/><code code="23426006" ` + ccdatest.InSnomed +
				`<statusCode code="new"/></observation></entry>
<entry><encounter classCode="ENC" moodCode="INT">
<templateId root="2.16.840.1.113883.10.20.1.25"/><code code="185349003" ` + ccdatest.InSnomed +
				`<effectiveTime value="20200201"/></encounter></entry>`,
			Want: []string{
				"ServiceRequest | code.coding.code=23426006 | status=draft | intent=order",
				"Encounter | status=planned | type.coding.code=185349003", "CarePlan | title=Plan",
			},
		},
		{
			Name: "have their words where they have no code", Section: "18776-5",
			Entries: ccdatest.PlannedAs("act", "ACT", "INT", "39", `<code nullFlavor="UNK"/><text>Walk more</text>`) +
				ccdatest.PlannedAs("act", "ACT", "PRP", "39", `<code nullFlavor="NASK"/>`),
			Want: []string{
				"ServiceRequest | code.text=Walk more | !note | status=unknown",
				"ServiceRequest | code.coding.code=not-asked | !code.text",
			},
		},
		{
			Name: "are not to be done when they are negated", Section: "18776-5",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "RQO", `41"/><x y="`, colonoscopy) +
				`<entry><act classCode="ACT" moodCode="RQO" negationInd="true"><code code="43783005" ` + ccdatest.InSnomed +
				`</act></entry>`,
			Want: []string{
				"ServiceRequest | code.coding.code=43783005 | doNotPerform=true",
				"ServiceRequest | code.coding.code=73761001 | !doNotPerform",
			},
		},
		{
			Name: "keep how important they are, which is no reason", Section: "18776-5",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "RQO", "41", colonoscopy+ccdatest.Preference),
			Want: []string{"Observation | code.coding.code=225773000 | valueCodeableConcept.coding.code=394849002 | " +
				"focus.reference", "ServiceRequest | supportingInfo.reference | !reasonCode | !reasonReference"},
		},
		{
			Name: "say who pays", Section: "18776-5",
			Entries: ccdatest.PlannedAs("procedure", "PROC", "RQO", "41",
				colonoscopy+
					`<entryRelationship typeCode="COMP">
<act classCode="ACT" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.129"/>
<code code="48768-6" codeSystem="2.16.840.1.113883.6.1"/>
<entryRelationship typeCode="COMP"><act classCode="ACT" moodCode="INT">
<code code="111" codeSystem="2.16.840.1.113883.3.221.5"/></act></entryRelationship></act></entryRelationship>`),
			Want: []string{
				"Coverage | type.coding.code=111 | payor.display=Unknown",
				"ServiceRequest | insurance.reference | !supportingInfo",
			},
		},
	})
}

func TestConvertMapsPlannedEncountersSuppliesAndVaccines(t *testing.T) {
	t.Parallel()
	const checkup = `<code code="185349003" ` + ccdatest.InSnomed +
		`<statusCode code="active"/><effectiveTime><low value="20200615"/><high value="20200616"/></effectiveTime>`
	const product = `<manufacturedProduct><manufacturedMaterial><code code="573621" ` +
		`codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "encounters are planned", Section: "18776-5",
			Entries: ccdatest.PlannedAs("encounter", "ENC", "INT", "40", checkup+ccdatest.DoneBy+ccdatest.WrittenBy),
			Want: []string{
				"Encounter | status=planned | type.coding.code=185349003 | period.start=2020-06-15 | period.end=2020-06-16 | " +
					"participant.individual.display=Doer", "CarePlan | supportingInfo.reference | !activity",
				"Provenance | occurredDateTime=2019-02-03 | agent.who.display=Writer",
			},
		},
		{
			Name: "encounters that are asked for are requests", Section: "18776-5",
			Entries: ccdatest.PlannedAs("encounter", "ENC", "RQO", "40", checkup),
			Want:    []string{"ServiceRequest | intent=order | code.coding.code=185349003 | occurrencePeriod.start=2020-06-15"},
			Never:   []string{"Encounter | status=planned"},
		},
		{
			Name: "supplies of medication", Section: "18776-5",
			Entries: ccdatest.PlannedAs("supply", "SPLY", "INT", "43",
				`<statusCode code="active"/><effectiveTime value="20200615"/><repeatNumber value="2"/><quantity value="3"/>`+
					`<product>`+product+`</product>`),
			Want: []string{"MedicationRequest | intent=plan | medicationCodeableConcept.coding.code=573621 | " +
				"dispenseRequest.quantity.value=3 | dispenseRequest.numberOfRepeatsAllowed=1"},
			Never: []string{"DeviceRequest"},
		},
		{
			Name: "supplies of devices", Section: "18776-5",
			Entries: ccdatest.PlannedAs("supply", "SPLY", "RQO", "43",
				`<statusCode code="completed"/><effectiveTime value="20200615"/><quantity value="2"/>`+ccdatest.WrittenBy+
					`<participant typeCode="PRD"><participantRole classCode="MANU">
<playingDevice><code code="58938008" `+ccdatest.InSnomed+`</playingDevice></participantRole></participant>`),
			Want: []string{"DeviceRequest | intent=order | status=completed | codeCodeableConcept.coding.code=58938008 | " +
				"parameter.valueQuantity.value=2 | occurrenceDateTime=2020-06-15 | requester.display=Writer"},
		},
		{
			Name: "vaccines", Section: "18776-5",
			Entries: ccdatest.PlannedAs("substanceAdministration", "SBADM", "INT", "120",
				`<statusCode code="active"/><effectiveTime value="20201115"/><consumable>
<manufacturedProduct><manufacturedMaterial>
<code code="88" codeSystem="2.16.840.1.113883.12.292"/></manufacturedMaterial></manufacturedProduct>
</consumable>`+ccdatest.Preference),
			Want: []string{"MedicationRequest | intent=plan | " +
				"medicationCodeableConcept.coding.system=http://hl7.org/fhir/sid/cvx | dosageInstruction.timing.event=2020-11-15 " +
				"| !reasonCode", "CarePlan | activity.reference"},
			Never: []string{"Immunization"},
		},
	})
}

func TestConvertMapsReferralsInstructionsAndHandoffs(t *testing.T) {
	t.Parallel()
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "referrals", Section: "42349-1",
			Entries: `<text>To a specialist.</text>` +
				ccdatest.PlannedAs("act", "PCPR", "INT", "140",
					`<code code="44383000" `+ccdatest.InSnomed+
						`<statusCode code="active"/><priorityCode code="A" codeSystem="2.16.840.1.113883.5.7"/>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/>
<statusCode code="completed"/><value xsi:type="CD" code="268528005" `+ccdatest.InSnomed+`</observation>
</entryRelationship>`),
			Want: []string{
				"ServiceRequest | category.coding.code=3457005 | code.coding.code=44383000 | priority=asap | " +
					"orderDetail.coding.code=268528005",
				"DocumentReference | type.coding.code=42349-1 | content.0.attachment.contentType=application/xhtml+xml | " +
					"content.1.attachment.contentType=text/plain | status=current",
			},
		},
		{
			Name: "instructions by themselves", Section: "69730-0",
			Entries: ccdatest.PlannedAs("act", "ACT", "INT", "",
				`<code code="311401005" `+ccdatest.InSnomed+`<text>Drink water.</text><statusCode code="completed"/>`),
			Want: []string{"ServiceRequest | category.coding.code=409073007 | code.coding.code=311401005 | status=completed"},
		},
		{
			Name: "handoffs", Section: "18776-5",
			Entries: ccdatest.PlannedAs("act", "ACT", "EVN", "141",
				`<code code="432138007" `+ccdatest.InSnomed+`<statusCode code="completed"/><effectiveTime value="20190712"/>`+
					ccdatest.WrittenBy+`<participant typeCode="IRCP"><participantRole>
<id root="2.16.840.1.113883.19.4" extension="r"/>
<playingEntity><name><family>Taker</family></name></playingEntity></participantRole></participant>`),
			Want: []string{
				"Communication | status=completed | category.coding.code=432138007 | sent=2019-07-12 | sender.display=Writer | " +
					"recipient.display=Taker", "CarePlan | activity.outcomeReference",
			},
		},
		{
			Name: "beside a plan are one document each", Section: "51847-2",
			Entries: `<text>Better. Walk.</text>` + ccdatest.PlannedAs("act", "ACT", "INT", "39",
				`<code code="229065009" `+ccdatest.InSnomed),
			Want: []string{"DocumentReference | type.coding.code=51847-2", "CarePlan | activity.reference"},
		},
		{
			Name: "refer to documents elsewhere", Section: "11383-7",
			Entries: `<entry><act classCode="ACT" moodCode="EVN"><code code="DOCCLIN" codeSystem="2.16.840.1.113883.5.6"/>
<reference typeCode="REFR"><externalDocument><id root="2.16.840.1.113883.19.9" extension="e"/>
<code code="18842-5" codeSystem="2.16.840.1.113883.6.1"/></externalDocument></reference></act></entry>`,
			Want:  []string{"DocumentReference | identifier.value=e | type.coding.code=18842-5 | meta.tag.code=DOCCLIN"},
			Never: []string{"Observation"},
		},
	})
}
