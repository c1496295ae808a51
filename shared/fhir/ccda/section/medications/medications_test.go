package medications_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsMedications(t *testing.T) {
	t.Parallel()
	const bounds = `<effectiveTime xsi:type="IVL_TS"><low value="20120318"/></effectiveTime>`
	periodic := func(attributes, period string) string {
		return `<effectiveTime xsi:type="PIVL_TS" operator="A" ` + attributes + `>` + period + `</effectiveTime>`
	}
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "that are taken are reported requests", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				periodic(`institutionSpecified="true"`, `<period value="12" unit="h"/>`)+
				`<routeCode code="C38288" codeSystem="2.16.840.1.113883.3.26.1.1"/><doseQuantity value="1.50" unit="mg"/>`),
			Want: []string{"MedicationRequest | status=active | intent=plan | reportedBoolean=true | !requester | " +
				"medicationCodeableConcept.coding.code=197380 | medicationCodeableConcept.coding.code=0093-0787 |" +
				" dosageInstruction.timing.repeat.frequency=2 | dosageInstruction.timing.repeat.period=1 | " +
				"dosageInstruction.timing.repeat.periodUnit=d | dosageInstruction.timing.repeat.boundsPeriod.start=2012-03-18 |" +
				" dosageInstruction.route.coding.code=C38288 | dosageInstruction.doseAndRate.doseQuantity.value=1.5 | " +
				"dosageInstruction.doseAndRate.doseQuantity.code=mg"},
			Never: []string{"MedicationStatement", "Medication"},
		},
		{
			Name: "that are to be taken are requests, with what may be dispensed", Section: "10160-0",
			Entries: ccdatest.MedicationOf("INT", bounds+
				`<entryRelationship typeCode="REFR">
<supply classCode="SPLY" moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.17"/>
<repeatNumber value="3"/><quantity value="75"/></supply></entryRelationship>`),
			Want: []string{"MedicationRequest | intent=order | status=active | dispenseRequest.numberOfRepeatsAllowed=2 | " +
				"dispenseRequest.quantity.value=75 | !dispenseRequest.quantity.unit"},
			Never: []string{"MedicationStatement"},
		},
		{
			Name: "that have been given in the hospital are administrations", Section: "29549-3",
			Entries: ccdatest.MedicationOf("EVN", `<effectiveTime value="20120318"/><doseQuantity value="1"/>`),
			Want: []string{"MedicationAdministration | effectiveDateTime=2012-03-18 | dosage.dose.value=1 | " +
				"subject.reference | context.reference"},
		},
		{
			Name: "that have been given were not by who only wrote it down", Section: "29549-3",
			Entries: ccdatest.MedicationOf("EVN", `<effectiveTime value="20120318"/>`+ccdatest.WrittenBy),
			Want: []string{
				"MedicationAdministration | effectiveDateTime=2012-03-18 | !performer",
				"Provenance | agent.who.display=Writer",
			},
		},
		{
			Name: "that are not taken are not", Section: "10160-0",
			Entries: `<entry><substanceAdministration negationInd="true"><statusCode code="active"/>` + ccdatest.Atenolol +
				`</substanceAdministration></entry>`,
			Want: []string{"MedicationRequest | doNotPerform=true | reportedBoolean=true"},
		},
		{
			Name: "that have been given nobody says how much keep how", Section: "29549-3",
			Entries: ccdatest.MedicationOf("EVN",
				`<effectiveTime value="20120318"/><routeCode code="C38288" codeSystem="2.16.840.1.113883.3.26.1.1"/>`),
			Want: []string{"MedicationAdministration | !dosage | meta.tag.code=C38288"},
		},
		{
			Name: "every some hours are that", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+periodic("", `<period value="6" unit="h"/>`)),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.frequency=1 | " +
				"dosageInstruction.timing.repeat.period=6 | dosageInstruction.timing.repeat.periodUnit=h"},
		},
		{
			Name: "every few hours have a longest time", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				periodic("", `<period xsi:type="IVL_PQ"><low value="4" unit="h"/><high value="6" unit="h"/></period>`)),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.period=4 | " +
				"dosageInstruction.timing.repeat.periodMax=6"},
		},
		{
			Name: "in a unit that FHIR has not have no frequency", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+periodic("", `<period value="2" unit="{shift}"/>`)),
			Want: []string{"MedicationRequest | !dosageInstruction.timing.repeat.frequency | " +
				"!dosageInstruction.timing.repeat.period"},
		},
		{
			Name: "before meals are that, with the time before", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="ACM"/><offset><low value="1" unit="h"/>`+
				`</offset></effectiveTime>`),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.when.0=ACM | " +
				"dosageInstruction.timing.repeat.offset=60"},
		},
		{
			Name: "before meals are that, with the time before as the sender signs it", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="ACM"/><offset><low value="-30" unit="min"/>`+
				`</offset></effectiveTime>`),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.when.0=ACM | " +
				"dosageInstruction.timing.repeat.offset=30"},
		},
		{
			Name: "before a meal are not with it", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="CV"/><offset><low value="-1" unit="h"/>`+
				`</offset></effectiveTime>`),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.when.0=ACV | " +
				"dosageInstruction.timing.repeat.offset=60"},
		},
		{
			Name: "after waking are never before it", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+
				`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="WAKE"/><offset><low value="-1" unit="h"/>`+
				`</offset></effectiveTime>`),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.when.0=WAKE | " +
				"!dosageInstruction.timing.repeat.offset"},
		},
		{
			Name: "have a vehicle that has no effect", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN",
				`<participant typeCode="CSM"><participantRole classCode="MANU">`+
					`<templateId root="2.16.840.1.113883.10.20.22.4.24"/><playingEntity>`+
					`<code code="324049" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant>`),
			Want: []string{"Medication | ingredient.itemCodeableConcept.coding.code=324049 | ingredient.isActive=false"},
		},
		{
			Name: "that have been handed out name what they are handed out for", Section: "10160-0",
			Entries: ccdatest.MedicationOf("INT",
				`<entryRelationship typeCode="REFR"><supply moodCode="EVN"><templateId `+
					`root="2.16.840.1.113883.10.20.22.4.18"/><statusCode code="completed"/></supply></entryRelationship>`),
			Want: []string{"MedicationDispense | status=completed | authorizingPrescription.0.reference"},
		},
		{
			Name: "with a meal have no time before it", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN",
				`<effectiveTime xsi:type="EIVL_TS"><event code="C"/><offset><low value="1" unit="h"/></offset></effectiveTime>`),
			Want: []string{"MedicationRequest | dosageInstruction.timing.repeat.when.0=C | " +
				"!dosageInstruction.timing.repeat.offset"},
		},
		{
			Name: "at one time are events", Section: "10160-0",
			Entries: ccdatest.MedicationOf("INT", `<effectiveTime value="201203181030-0500"/>`),
			Want:    []string{"MedicationRequest | dosageInstruction.timing.event.0=2012-03-18T10:30:00-05:00"},
		},
		{
			Name: "keep rate, most, site, condition, instruction, words and reason", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN", bounds+`<approachSiteCode code="28273000" `+ccdatest.Snomed+
				`/><doseQuantity value="2"/><rateQuantity value="90" unit="ml/min"/>
<maxDoseQuantity><numerator value="8"/><denominator value="1" unit="d"/></maxDoseQuantity>
<administrationUnitCode code="415215001" `+ccdatest.Snomed+` displayName="Puff"/>
<precondition><criterion><value xsi:type="CD" code="56018004" `+ccdatest.Snomed+
				` displayName="Wheezing"/></criterion></precondition>
<entryRelationship typeCode="SUBJ"><act moodCode="INT"><templateId root="2.16.840.1.113883.10.20.22.4.20"/>
<code code="171044003" `+ccdatest.Snomed+`/><text>With food</text></act></entryRelationship>
<entryRelationship typeCode="COMP"><substanceAdministration><code code="76662-6" codeSystem="2.16.840.1.113883.6.1"/>
<text>Two puffs</text></substanceAdministration></entryRelationship>
<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/>
<code code="404684003"/><value xsi:type="CD" code="195967001" `+ccdatest.Snomed+`/></observation></entryRelationship>`),
			Want: []string{"MedicationRequest | dosageInstruction.site.coding.code=28273000 | " +
				"dosageInstruction.doseAndRate.doseQuantity.unit=Puff | dosageInstruction.doseAndRate.doseQuantity.code=41521" +
				"5001 |" +
				" dosageInstruction.doseAndRate.rateQuantity.value=90 | dosageInstruction.maxDosePerPeriod.numerator.value=8 | " +
				"dosageInstruction.asNeededCodeableConcept.coding.code=56018004 |" +
				" dosageInstruction.patientInstruction=With food | dosageInstruction.additionalInstruction.coding.code=171044003 " +
				"| dosageInstruction.text=Two puffs | reasonCode.coding.code=195967001"},
			Never: []string{"Observation", "MedicationRequest | medicationCodeableConcept.coding.code=unknown"},
		},
		{
			Name: "whose maker is known are products of their own", Section: "10160-0",
			Entries: `<entry><substanceAdministration><statusCode code="completed"/>
<consumable><manufacturedProduct><manufacturedMaterial><code code="1" codeSystem="2.16.840.1.113883.6.88"/>
<lotNumberText>L-7</lotNumberText></manufacturedMaterial>
<manufacturerOrganization><name>Factory</name></manufacturerOrganization></manufacturedProduct></consumable>
</substanceAdministration></entry>`,
			Want: []string{
				"Medication | code.coding.code=1 | batch.lotNumber=L-7 | manufacturer.display=Factory",
				"MedicationRequest | medicationReference.reference | !medicationCodeableConcept",
			},
		},
		{
			Name: "that have been handed out are dispenses of the same product", Section: "10160-0",
			Entries: ccdatest.MedicationOf("EVN",
				`<entryRelationship typeCode="REFR">
<supply moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.18"/><statusCode code="completed"/>
<effectiveTime value="20120401"/><quantity value="30" unit="{tablet}"/></supply></entryRelationship>`),
			Want: []string{"MedicationDispense | status=completed | medicationCodeableConcept.coding.code=197380 | " +
				"quantity.value=30 | whenHandedOver=2012-04-01 | !authorizingPrescription"},
		},
		{
			Name: "of the discharge are found in their act", Section: "10183-2",
			Entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.22.4.35"/>
<code code="10183-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>
<entryRelationship typeCode="SUBJ">
<substanceAdministration moodCode="INT">
<statusCode code="active"/>` + ccdatest.Atenolol + `</substanceAdministration></entryRelationship></act></entry>`,
			Want: []string{"MedicationRequest | intent=order | medicationCodeableConcept.coding.code=197380 | " +
				"meta.tag.code=10183-2"},
			Never: []string{"Observation"},
		},
	})
}
