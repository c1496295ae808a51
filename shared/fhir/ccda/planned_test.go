package ccda_test

import "testing"

func TestPlannedStatements(t *testing.T) {
	t.Parallel()
	const colonoscopy = `<code code="73761001" displayName="Colonoscopy" ` + inSnomed + `<statusCode code="active"/><effectiveTime value="20200613"/>`
	runFacts(t, []factCase{
		{
			name: "ask for a service", section: "18776-5",
			entries: plannedAs("procedure", "PROC", "RQO", "41", colonoscopy+`<priorityCode code="UR" codeSystem="2.16.840.1.113883.5.7"/><methodCode code="129304002" `+inSnomed+
				`<targetSiteCode code="71854001" `+inSnomed+doneBy+writtenBy+`<entryRelationship typeCode="RSON"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.19"/>
<code code="29308-4" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="266569009" `+inSnomed+`</observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><act classCode="ACT" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.20"/><code code="311401005" `+inSnomed+`<text>Fast before.</text></act></entryRelationship>`),
			want: []string{
				"ServiceRequest | status=active | intent=order | priority=urgent | code.coding.code=73761001 | occurrenceDateTime=2020-06-13 | authoredOn=2019-02-03 | requester.display=Writer |" +
					" performer.display=Doer | bodySite.coding.code=71854001 | orderDetail.coding.code=129304002 | reasonCode.coding.code=266569009 | patientInstruction=Fast before. | meta.tag.code=311401005 |" +
					" identifier.value=procedureRQO | encounter",
				"CarePlan | activity.reference.reference | status=active | intent=plan | category.coding.code=assess-plan | category.coding.code=18776-5",
			},
			never: []string{"Condition", "Observation"},
		},
		{
			name: "are told by class and mood in a plan", section: "18776-5",
			entries: plannedAs("procedure", "PROC", "INT", "", colonoscopy) + plannedAs("observation", "OBS", "RQO", "", `<code code="24356-8" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="held"/>`) +
				plannedAs("act", "ACT", "PRP", "", `<code code="409073007" `+inSnomed+`<statusCode code="cancelled"/>`),
			want: []string{
				"ServiceRequest | intent=plan | code.coding.code=73761001", "ServiceRequest | intent=order | status=on-hold | code.coding.code=24356-8",
				"ServiceRequest | intent=proposal | status=revoked | code.coding.code=409073007",
			},
		},
		{
			name: "of CCD have one template for all", section: `<section><templateId root="2.16.840.1.113883.10.20.1.10"/><title>Plan</title>`,
			entries: `<entry><observation classCode="OBS" moodCode="RQO"><templateId root="2.16.840.1.113883.10.20.1.25"/><code code="23426006" ` + inSnomed + `<statusCode code="new"/></observation></entry>
<entry><encounter classCode="ENC" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.1.25"/><code code="185349003" ` + inSnomed + `<effectiveTime value="20200201"/></encounter></entry>`,
			want: []string{"ServiceRequest | code.coding.code=23426006 | status=active | intent=order", "Encounter | status=planned | type.coding.code=185349003", "CarePlan | title=Plan"},
		},
		{
			name: "have their words where they have no code", section: "18776-5",
			entries: plannedAs("act", "ACT", "INT", "39", `<code nullFlavor="UNK"/><text>Walk more</text>`) + plannedAs("act", "ACT", "PRP", "39", `<code nullFlavor="NASK"/>`),
			want:    []string{"ServiceRequest | code.text=Walk more | !note | status=active", "ServiceRequest | code.coding.code=not-asked | !code.text"},
		},
		{
			name: "are not to be done when they are negated", section: "18776-5",
			entries: plannedAs("procedure", "PROC", "RQO", `41"/><x y="`, colonoscopy) + `<entry><act classCode="ACT" moodCode="RQO" negationInd="true"><code code="43783005" ` + inSnomed + `</act></entry>`,
			want:    []string{"ServiceRequest | code.coding.code=43783005 | doNotPerform=true", "ServiceRequest | code.coding.code=73761001 | !doNotPerform"},
		},
		{
			name: "keep how important they are, which is no reason", section: "18776-5",
			entries: plannedAs("procedure", "PROC", "RQO", "41", colonoscopy+preference),
			want:    []string{"Observation | code.coding.code=225773000 | valueCodeableConcept.coding.code=394849002 | focus.reference", "ServiceRequest | supportingInfo.reference | !reasonCode | !reasonReference"},
		},
		{
			name: "say who pays", section: "18776-5",
			entries: plannedAs("procedure", "PROC", "RQO", "41", colonoscopy+`<entryRelationship typeCode="COMP"><act classCode="ACT" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.129"/>
<code code="48768-6" codeSystem="2.16.840.1.113883.6.1"/><entryRelationship typeCode="COMP"><act classCode="ACT" moodCode="INT"><code code="111" codeSystem="2.16.840.1.113883.3.221.5"/></act></entryRelationship></act></entryRelationship>`),
			want: []string{"Coverage | type.coding.code=111 | payor.display=Unknown", "ServiceRequest | insurance.reference | !supportingInfo"},
		},
	})
}

func TestPlannedEncountersSuppliesAndVaccines(t *testing.T) {
	t.Parallel()
	const checkup = `<code code="185349003" ` + inSnomed + `<statusCode code="active"/><effectiveTime><low value="20200615"/><high value="20200616"/></effectiveTime>`
	const product = `<manufacturedProduct><manufacturedMaterial><code code="573621" codeSystem="2.16.840.1.113883.6.88"/></manufacturedMaterial></manufacturedProduct>`
	runFacts(t, []factCase{
		{
			name: "encounters are planned", section: "18776-5",
			entries: plannedAs("encounter", "ENC", "INT", "40", checkup+doneBy+writtenBy),
			want: []string{
				"Encounter | status=planned | type.coding.code=185349003 | period.start=2020-06-15 | period.end=2020-06-16 | participant.individual.display=Doer", "CarePlan | supportingInfo.reference | !activity",
				"Provenance | occurredDateTime=2019-02-03 | agent.who.display=Writer",
			},
		},
		{
			name: "encounters that are asked for are requests", section: "18776-5",
			entries: plannedAs("encounter", "ENC", "RQO", "40", checkup),
			want:    []string{"ServiceRequest | intent=order | code.coding.code=185349003 | occurrencePeriod.start=2020-06-15"},
			never:   []string{"Encounter | status=planned"},
		},
		{
			name: "supplies of medication", section: "18776-5",
			entries: plannedAs("supply", "SPLY", "INT", "43", `<statusCode code="active"/><effectiveTime value="20200615"/><repeatNumber value="2"/><quantity value="3"/><product>`+product+`</product>`),
			want:    []string{"MedicationRequest | intent=plan | medicationCodeableConcept.coding.code=573621 | dispenseRequest.quantity.value=3 | dispenseRequest.numberOfRepeatsAllowed=1"},
			never:   []string{"DeviceRequest"},
		},
		{
			name: "supplies of devices", section: "18776-5",
			entries: plannedAs("supply", "SPLY", "RQO", "43", `<statusCode code="completed"/><effectiveTime value="20200615"/><quantity value="2"/>`+writtenBy+`<participant typeCode="PRD"><participantRole classCode="MANU">
<playingDevice><code code="58938008" `+inSnomed+`</playingDevice></participantRole></participant>`),
			want: []string{"DeviceRequest | intent=order | status=completed | codeCodeableConcept.coding.code=58938008 | parameter.valueQuantity.value=2 | occurrenceDateTime=2020-06-15 | requester.display=Writer"},
		},
		{
			name: "vaccines", section: "18776-5",
			entries: plannedAs("substanceAdministration", "SBADM", "INT", "120", `<statusCode code="active"/><effectiveTime value="20201115"/><consumable>
<manufacturedProduct><manufacturedMaterial><code code="88" codeSystem="2.16.840.1.113883.12.292"/></manufacturedMaterial></manufacturedProduct></consumable>`+preference),
			want:  []string{"MedicationRequest | intent=plan | medicationCodeableConcept.coding.system=http://hl7.org/fhir/sid/cvx | dosageInstruction.timing.event=2020-11-15 | !reasonCode", "CarePlan | activity.reference"},
			never: []string{"Immunization"},
		},
	})
}

func TestReferralsInstructionsAndHandoffs(t *testing.T) {
	t.Parallel()
	runFacts(t, []factCase{
		{
			name: "referrals", section: "42349-1",
			entries: `<text>To a specialist.</text>` + plannedAs("act", "PCPR", "INT", "140", `<code code="44383000" `+inSnomed+`<statusCode code="active"/><priorityCode code="A" codeSystem="2.16.840.1.113883.5.7"/>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN"><code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="completed"/><value xsi:type="CD" code="268528005" `+inSnomed+`</observation></entryRelationship>`),
			want: []string{
				"ServiceRequest | category.coding.code=3457005 | code.coding.code=44383000 | priority=asap | orderDetail.coding.code=268528005",
				"DocumentReference | type.coding.code=42349-1 | content.0.attachment.contentType=text/html | content.1.attachment.contentType=text/plain | status=current",
			},
		},
		{
			name: "instructions by themselves", section: "69730-0",
			entries: plannedAs("act", "ACT", "INT", "", `<code code="311401005" `+inSnomed+`<text>Drink water.</text><statusCode code="completed"/>`),
			want:    []string{"ServiceRequest | category.coding.code=409073007 | code.coding.code=311401005 | status=completed"},
		},
		{
			name: "handoffs", section: "18776-5",
			entries: plannedAs("act", "ACT", "EVN", "141", `<code code="432138007" `+inSnomed+`<statusCode code="completed"/><effectiveTime value="20190712"/>`+writtenBy+`<participant typeCode="IRCP"><participantRole>
<id root="2.16.840.1.113883.19.4" extension="r"/><playingEntity><name><family>Taker</family></name></playingEntity></participantRole></participant>`),
			want: []string{
				"Communication | status=completed | category.coding.code=432138007 | sent=2019-07-12 | sender.display=Writer | recipient.display=Taker", "CarePlan | activity.outcomeReference",
			},
		},
		{
			name: "beside a plan are one document each", section: "51847-2", entries: `<text>Better. Walk.</text>` + plannedAs("act", "ACT", "INT", "39", `<code code="229065009" `+inSnomed),
			want: []string{"DocumentReference | type.coding.code=51847-2", "CarePlan | activity.reference"},
		},
		{
			name: "refer to documents elsewhere", section: "11383-7",
			entries: `<entry><act classCode="ACT" moodCode="EVN"><code code="DOCCLIN" codeSystem="2.16.840.1.113883.5.6"/><reference typeCode="REFR"><externalDocument><id root="2.16.840.1.113883.19.9" extension="e"/>
<code code="18842-5" codeSystem="2.16.840.1.113883.6.1"/></externalDocument></reference></act></entry>`,
			want: []string{"DocumentReference | identifier.value=e | type.coding.code=18842-5 | meta.tag.code=DOCCLIN"}, never: []string{"Observation"},
		},
	})
}
