package ccda_test

import "testing"

// medicationOf is a medication activity of a mood.
func medicationOf(mood, rest string) string {
	return `<entry><substanceAdministration classCode="SBADM" moodCode="` + mood + `"><templateId root="2.16.840.1.113883.10.20.22.4.16"/>
<id root="2.16.840.1.113883.19.5" extension="m1"/><statusCode code="active"/>` + rest + atenolol + `</substanceAdministration></entry>`
}

const atenolol = `<consumable><manufacturedProduct classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.23"/><manufacturedMaterial>
<code code="197380" codeSystem="2.16.840.1.113883.6.88" displayName="atenolol 25 MG Oral Tablet"><translation code="0093-0787" codeSystem="2.16.840.1.113883.6.69"/></code>
</manufacturedMaterial></manufacturedProduct></consumable>`

func TestMedications(t *testing.T) {
	t.Parallel()
	const bounds = `<effectiveTime xsi:type="IVL_TS"><low value="20120318"/></effectiveTime>`
	periodic := func(attributes, period string) string {
		return `<effectiveTime xsi:type="PIVL_TS" operator="A" ` + attributes + `>` + period + `</effectiveTime>`
	}
	runFacts(t, []factCase{
		{
			name: "that are taken are statements", section: "10160-0",
			entries: medicationOf("EVN", bounds+periodic(`institutionSpecified="true"`, `<period value="12" unit="h"/>`)+
				`<routeCode code="C38288" codeSystem="2.16.840.1.113883.3.26.1.1"/><doseQuantity value="1.50" unit="mg"/>`),
			want: []string{"MedicationStatement | status=active | medicationCodeableConcept.coding.code=197380 | medicationCodeableConcept.coding.code=0093-0787 | effectivePeriod.start=2012-03-18 | !effectivePeriod.end | !effectiveDateTime |" +
				" dosage.timing.repeat.frequency=2 | dosage.timing.repeat.period=1 | dosage.timing.repeat.periodUnit=d | dosage.timing.repeat.boundsPeriod.start=2012-03-18 |" +
				" dosage.route.coding.code=C38288 | dosage.doseAndRate.doseQuantity.value=1.5 | dosage.doseAndRate.doseQuantity.code=mg"},
			never: []string{"MedicationRequest", "Medication"},
		},
		{
			name: "that are to be taken are requests, with what may be dispensed", section: "10160-0",
			entries: medicationOf("INT", bounds+`<entryRelationship typeCode="REFR"><supply classCode="SPLY" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.17"/>
<repeatNumber value="3"/><quantity value="75"/></supply></entryRelationship>`),
			want:  []string{"MedicationRequest | intent=order | status=active | dispenseRequest.numberOfRepeatsAllowed=2 | dispenseRequest.quantity.value=75 | !dispenseRequest.quantity.unit"},
			never: []string{"MedicationStatement"},
		},
		{
			name: "that have been given in the hospital are administrations", section: "29549-3",
			entries: medicationOf("EVN", `<effectiveTime value="20120318"/><doseQuantity value="1"/>`),
			want:    []string{"MedicationAdministration | effectiveDateTime=2012-03-18 | dosage.dose.value=1 | subject.reference | context.reference"},
		},
		{
			name: "that have been given were not by who only wrote it down", section: "29549-3",
			entries: medicationOf("EVN", `<effectiveTime value="20120318"/>`+writtenBy),
			want:    []string{"MedicationAdministration | effectiveDateTime=2012-03-18 | !performer", "Provenance | agent.who.display=Writer"},
		},
		{
			name: "that are not taken are not", section: "10160-0",
			entries: `<entry><substanceAdministration negationInd="true"><statusCode code="active"/>` + atenolol + `</substanceAdministration></entry>`,
			want:    []string{"MedicationStatement | status=not-taken"},
		},
		{
			name: "that have been given nobody says how much keep how", section: "29549-3",
			entries: medicationOf("EVN", `<effectiveTime value="20120318"/><routeCode code="C38288" codeSystem="2.16.840.1.113883.3.26.1.1"/>`),
			want:    []string{"MedicationAdministration | !dosage | meta.tag.code=C38288"},
		},
		{
			name: "every some hours are that", section: "10160-0", entries: medicationOf("EVN", bounds+periodic("", `<period value="6" unit="h"/>`)),
			want: []string{"MedicationStatement | dosage.timing.repeat.frequency=1 | dosage.timing.repeat.period=6 | dosage.timing.repeat.periodUnit=h"},
		},
		{
			name: "every few hours have a longest time", section: "10160-0",
			entries: medicationOf("EVN", bounds+periodic("", `<period xsi:type="IVL_PQ"><low value="4" unit="h"/><high value="6" unit="h"/></period>`)),
			want:    []string{"MedicationStatement | dosage.timing.repeat.period=4 | dosage.timing.repeat.periodMax=6"},
		},
		{
			name: "in a unit that FHIR has not have no frequency", section: "10160-0", entries: medicationOf("EVN", bounds+periodic("", `<period value="2" unit="{shift}"/>`)),
			want: []string{"MedicationStatement | !dosage.timing.repeat.frequency | !dosage.timing.repeat.period"},
		},
		{
			name: "before meals are that, with the time before", section: "10160-0",
			entries: medicationOf("EVN", bounds+`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="ACM"/><offset><low value="1" unit="h"/></offset></effectiveTime>`),
			want:    []string{"MedicationStatement | dosage.timing.repeat.when.0=ACM | dosage.timing.repeat.offset=60"},
		},
		{
			name: "before meals are that, with the time before as the sender signs it", section: "10160-0",
			entries: medicationOf("EVN", bounds+`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="ACM"/><offset><low value="-30" unit="min"/></offset></effectiveTime>`),
			want:    []string{"MedicationStatement | dosage.timing.repeat.when.0=ACM | dosage.timing.repeat.offset=30"},
		},
		{
			name: "before a meal are not with it", section: "10160-0",
			entries: medicationOf("EVN", bounds+`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="CV"/><offset><low value="-1" unit="h"/></offset></effectiveTime>`),
			want:    []string{"MedicationStatement | dosage.timing.repeat.when.0=ACV | dosage.timing.repeat.offset=60"},
		},
		{
			name: "after waking are never before it", section: "10160-0",
			entries: medicationOf("EVN", bounds+`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="WAKE"/><offset><low value="-1" unit="h"/></offset></effectiveTime>`),
			want:    []string{"MedicationStatement | dosage.timing.repeat.when.0=WAKE | !dosage.timing.repeat.offset"},
		},
		{
			name: "have a vehicle that has no effect", section: "10160-0",
			entries: medicationOf("EVN", `<participant typeCode="CSM"><participantRole classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.24"/><playingEntity><code code="324049" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant>`),
			want:    []string{"Medication | ingredient.itemCodeableConcept.coding.code=324049 | ingredient.isActive=false"},
		},
		{
			name: "that have been handed out name what they are handed out for", section: "10160-0",
			entries: medicationOf("INT", `<entryRelationship typeCode="REFR"><supply moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.18"/><statusCode code="completed"/></supply></entryRelationship>`),
			want:    []string{"MedicationDispense | status=completed | authorizingPrescription.0.reference"},
		},
		{
			name: "with a meal have no time before it", section: "10160-0",
			entries: medicationOf("EVN", `<effectiveTime xsi:type="EIVL_TS"><event code="C"/><offset><low value="1" unit="h"/></offset></effectiveTime>`),
			want:    []string{"MedicationStatement | dosage.timing.repeat.when.0=C | !dosage.timing.repeat.offset"},
		},
		{
			name: "at one time are events", section: "10160-0", entries: medicationOf("INT", `<effectiveTime value="201203181030-0500"/>`),
			want: []string{"MedicationRequest | dosageInstruction.timing.event.0=2012-03-18T10:30:00-05:00"},
		},
		{
			name: "keep rate, most, site, condition, instruction, words and reason", section: "10160-0",
			entries: medicationOf("EVN", bounds+`<approachSiteCode code="28273000" `+snomedCT+`/><doseQuantity value="2"/><rateQuantity value="90" unit="ml/min"/>
<maxDoseQuantity><numerator value="8"/><denominator value="1" unit="d"/></maxDoseQuantity><administrationUnitCode code="415215001" `+snomedCT+` displayName="Puff"/>
<precondition><criterion><value xsi:type="CD" code="56018004" `+snomedCT+` displayName="Wheezing"/></criterion></precondition>
<entryRelationship typeCode="SUBJ"><act moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.20"/><code code="171044003" `+snomedCT+`/><text>With food</text></act></entryRelationship>
<entryRelationship typeCode="COMP"><substanceAdministration><code code="76662-6" codeSystem="2.16.840.1.113883.6.1"/><text>Two puffs</text></substanceAdministration></entryRelationship>
<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/><code code="404684003"/><value xsi:type="CD" code="195967001" `+snomedCT+`/></observation></entryRelationship>`),
			want: []string{"MedicationStatement | dosage.site.coding.code=28273000 | dosage.doseAndRate.doseQuantity.unit=Puff | dosage.doseAndRate.doseQuantity.code=415215001 |" +
				" dosage.doseAndRate.rateQuantity.value=90 | dosage.maxDosePerPeriod.numerator.value=8 | dosage.asNeededCodeableConcept.coding.code=56018004 |" +
				" dosage.patientInstruction=With food | dosage.additionalInstruction.coding.code=171044003 | dosage.text=Two puffs | reasonCode.coding.code=195967001"},
			never: []string{"Observation", "MedicationStatement | medicationCodeableConcept.coding.code=unknown"},
		},
		{
			name: "whose maker is known are products of their own", section: "10160-0",
			entries: `<entry><substanceAdministration><statusCode code="completed"/><consumable><manufacturedProduct><manufacturedMaterial><code code="1" codeSystem="2.16.840.1.113883.6.88"/><lotNumberText>L-7</lotNumberText></manufacturedMaterial>
<manufacturerOrganization><name>Factory</name></manufacturerOrganization></manufacturedProduct></consumable></substanceAdministration></entry>`,
			want: []string{"Medication | code.coding.code=1 | batch.lotNumber=L-7 | manufacturer.display=Factory", "MedicationStatement | medicationReference.reference | !medicationCodeableConcept"},
		},
		{
			name: "that have been handed out are dispenses of the same product", section: "10160-0",
			entries: medicationOf("EVN", `<entryRelationship typeCode="REFR"><supply moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.18"/><statusCode code="completed"/>
<effectiveTime value="20120401"/><quantity value="30" unit="{tablet}"/></supply></entryRelationship>`),
			want: []string{"MedicationDispense | status=completed | medicationCodeableConcept.coding.code=197380 | quantity.value=30 | whenHandedOver=2012-04-01 | !authorizingPrescription"},
		},
		{
			name: "of the discharge are found in their act", section: "10183-2",
			entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.22.4.35"/><code code="10183-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><entryRelationship typeCode="SUBJ">
<substanceAdministration moodCode="INT"><statusCode code="active"/>` + atenolol + `</substanceAdministration></entryRelationship></act></entry>`,
			want:  []string{"MedicationRequest | intent=order | medicationCodeableConcept.coding.code=197380 | meta.tag.code=10183-2"},
			never: []string{"Observation"},
		},
	})
}
