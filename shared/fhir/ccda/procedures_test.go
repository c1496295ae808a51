package ccda_test

import "testing"

const colonoscopy = `<code code="73761001" codeSystem="2.16.840.1.113883.6.96" displayName="Colonoscopy"/>`

func TestProcedures(t *testing.T) {
	t.Parallel()
	procedure := func(attributes, rest string) string {
		return `<entry><procedure classCode="PROC" ` + attributes + `><templateId root="2.16.840.1.113883.10.20.22.4.14" extension="2014-06-09"/>` + rest + `</procedure></entry>`
	}
	const done = `moodCode="EVN"`
	runFacts(t, []factCase{
		{
			name: "are told with who, where, why and how", section: "47519-4",
			entries: procedure(done, `<id root="2.16.840.1.113883.19.6" extension="1"/>`+colonoscopy+`<statusCode code="completed"/><effectiveTime><low value="20190304"/><high value="20190305"/></effectiveTime>
<methodCode code="M" codeSystem="2.16.840.1.113883.6.96"/><targetSiteCode code="71854001" codeSystem="2.16.840.1.113883.6.96"/><priorityCode code="CR" codeSystem="2.16.840.1.113883.5.7"/>
<performer><assignedEntity><id root="2.16.840.1.113883.19.8" extension="d"/><assignedPerson><name>Doc</name></assignedPerson></assignedEntity></performer>
<participant typeCode="LOC"><participantRole classCode="SDLOC"><templateId root="2.16.840.1.113883.10.20.22.4.32"/><code code="1118-9" codeSystem="2.16.840.1.113883.6.259"/><playingEntity><name>Clinic</name></playingEntity></participantRole></participant>
<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/><code code="282291009" codeSystem="2.16.840.1.113883.6.96"/><value xsi:type="CD" code="54837006" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship>`),
			want: []string{
				"Procedure | status=completed | code.coding.code=73761001 | performedPeriod.start=2019-03-04 | performedPeriod.end=2019-03-05 | bodySite.coding.code=71854001 | performer.actor.reference |" +
					" location.reference | reasonCode.coding.code=54837006 | extension.valueCodeableConcept.coding.code=M | meta.tag.code=CR",
				"Location | name=Clinic | type.coding.code=1118-9",
			},
		},
		{
			name: "that were not done say so", section: "47519-4",
			entries: procedure(done+` negationInd="true"`, colonoscopy+`<statusCode code="completed"/>`),
			want:    []string{"Procedure | status=not-done | _performedDateTime.extension.valueCode=unknown"},
		},
		{
			name: "that are planned are requests", section: "47519-4",
			entries: procedure(`moodCode="RQO"`, colonoscopy+`<statusCode code="active"/><effectiveTime value="20300101"/>`),
			want:    []string{"ServiceRequest | intent=order | status=active | code.coding.code=73761001 | occurrenceDateTime=2030-01-01"},
			never:   []string{"Procedure"},
		},
		{
			name: "of devices name them", section: "47519-4",
			entries: procedure(done, colonoscopy+`<statusCode code="completed"/><participant typeCode="DEV"><participantRole classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.37"/>
<id root="2.16.840.1.113883.3.3719" extension="(01)00643169007222(17)291128(11)141128(10)7654321D(21)10987654d321"/><playingDevice><code code="90412006" codeSystem="2.16.840.1.113883.6.96"/><manufacturerModelName>Scope 5</manufacturerModelName></playingDevice>
<scopingEntity><id root="2.16.840.1.113883.19.9"/><desc>Maker</desc></scopingEntity></participantRole></participant>`),
			want: []string{
				"Procedure | focalDevice.manipulated.reference",
				"Device | type.coding.code=90412006 | patient.reference | manufacturer=Maker | udiCarrier.deviceIdentifier=00643169007222 | lotNumber=7654321D | serialNumber=10987654d321 |" +
					" expirationDate=2029-11-28 | manufactureDate=2014-11-28 | deviceName.name=Scope 5",
			},
		},
		{
			name: "take specimens", section: "47519-4",
			entries: procedure(done, colonoscopy+`<effectiveTime value="2019"/><specimen><specimenRole><id root="2.16.840.1.113883.19.7" extension="s"/><specimenPlayingEntity><code code="309226005" codeSystem="2.16.840.1.113883.6.96"/></specimenPlayingEntity></specimenRole></specimen>`),
			want:    []string{"Specimen | type.coding.code=309226005 | collection.collectedDateTime=2019 | collection.extension.valueReference.reference"},
		},
		{
			name: "name the specimens that are collected in them", section: "47519-4",
			entries: procedure(done, colonoscopy+`<entryRelationship typeCode="COMP"><procedure classCode="PROC" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.415"/><code code="17636008"/>
<participant typeCode="PRD"><participantRole classCode="SPEC"><playingEntity><code code="258415003" codeSystem="2.16.840.1.113883.6.96"/></playingEntity></participantRole></participant></procedure></entryRelationship>`),
			want: []string{"Specimen | type.coding.code=258415003 | collection.extension.valueReference.reference"},
		},
		{
			name: "of acts are Procedures, of observations are Observations", section: "47519-4",
			entries: `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.12"/><code code="274025005" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="aborted"/></act></entry>
<entry><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.13"/><code code="275711006" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/><value xsi:type="ST">fine</value></observation></entry>`,
			want: []string{"Procedure | status=stopped | code.coding.code=274025005", "Observation | category.coding.code=procedure | code.coding.code=275711006 | valueString=fine"},
		},
		{
			name: "with complications and an encounter are linked to them", section: "47519-4",
			entries: procedure(done, colonoscopy+`<entryRelationship typeCode="COMP"><observation><templateId root="2.16.840.1.113883.10.20.22.4.4"/><code code="55607006"/><value xsi:type="CD" code="131148009" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship>
<entryRelationship typeCode="COMP" inversionInd="true"><encounter classCode="ENC" moodCode="EVN"><id root="2.16.840.1.113883.19.3" extension="e7"/></encounter></entryRelationship>`) +
				`<entry><encounter classCode="ENC" moodCode="EVN"><id root="2.16.840.1.113883.19.3" extension="e7"/><code code="99213" codeSystem="2.16.840.1.113883.6.12"/></encounter></entry>`,
			want: []string{"Procedure | complicationDetail.reference | encounter.reference", "Condition | code.coding.code=131148009", "Encounter | identifier.value=e7 | class.code=AMB"},
		},
		{
			name: "without a code have words, and without a template their section", section: `<section><title>Surgical History</title>`,
			entries: `<entry><procedure><code nullFlavor="UNK"/><text>Tonsils out</text></procedure></entry>`,
			want:    []string{"Procedure | code.text=Tonsils out | status=unknown"},
		},
		{
			name: "of CCD as acts and observations are told by their class", section: "47519-4",
			entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.1.29"/>` + colonoscopy + `<value xsi:type="CD"/></observation></entry>`,
			want:    []string{"Observation | code.coding.code=73761001 | dataAbsentReason"},
			never:   []string{"Procedure"},
		},
	})
}

func TestEquipment(t *testing.T) {
	t.Parallel()
	const cane = `<participant typeCode="PRD"><participantRole classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.37"/><id root="2.16.840.1.113883.19.4" extension="c"/>
<playingDevice><code code="87405001" codeSystem="2.16.840.1.113883.6.96" displayName="cane"/></playingDevice></participantRole></participant>`
	runFacts(t, []factCase{
		{
			name: "is a Device that was delivered", section: "46264-8",
			entries: `<entry><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.50"/><statusCode code="completed"/><effectiveTime xsi:type="IVL_TS"><high value="20030202"/></effectiveTime><quantity value="2"/>` + cane + `</supply></entry>`,
			want: []string{
				"SupplyDelivery | status=completed | suppliedItem.quantity.value=2 | suppliedItem.itemReference.reference | occurrencePeriod.end=2003-02-02",
				"Device | type.coding.code=87405001 | patient.reference | identifier.value=c",
			},
		},
		{
			name: "in an organizer keeps what the organizer says", section: "46264-8",
			entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.135"/><code code="40388003" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/><effectiveTime><low value="2007"/></effectiveTime>
<component><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.50"/><statusCode code="active"/>` + cane + `</supply></component></organizer></entry>`,
			want: []string{"Observation | code.coding.code=40388003 | effectiveDateTime=2007", "SupplyDelivery | status=in-progress", "Device | type.coding.code=87405001"},
		},
		{
			name: "of CCD is equipment and no medication", section: "46264-8",
			entries: `<entry><supply classCode="SPLY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.1.34"/>` + cane + `</supply></entry>`,
			want:    []string{"SupplyDelivery", "Device | type.coding.code=87405001"},
			never:   []string{"MedicationDispense", "MedicationRequest"},
		},
		{
			name: "has a UDI in parts", section: "46264-8",
			entries: `<entry><procedure moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.14"/>` + colonoscopy + cane + `<entryRelationship typeCode="COMP"><organizer><templateId root="2.16.840.1.113883.10.20.22.4.311"/>
<component><observation><code code="C101722" codeSystem="2.16.840.1.113883.3.26.1.1"/><value xsi:type="II" root="1.3.160" extension="00844588003288"/></observation></component>
<component><observation><code code="C101672" codeSystem="2.16.840.1.113883.3.26.1.1"/><value xsi:type="ED">M320</value></observation></component>
<component><observation><code code="C101670" codeSystem="2.16.840.1.113883.3.26.1.1"/><value xsi:type="TS" value="20300101"/></observation></component></organizer></entryRelationship></procedure></entry>`,
			want: []string{"Device | udiCarrier.deviceIdentifier=00844588003288 | lotNumber=M320 | expirationDate=2030-01-01"},
		},
	})
}

func TestASupplyOfTwoDocumentsIsOneOnlyWhenItsDeviceIs(t *testing.T) {
	t.Parallel()
	supplied := func(device string) string {
		return document(somePatient, `<structuredBody><component><section><code code="46264-8" codeSystem="2.16.840.1.113883.6.1"/><entry><supply classCode="SPLY" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.50"/><id root="2.16.840.1.113883.19.4" extension="s"/><participant typeCode="PRD"><participantRole classCode="MANU"><id root="2.16.840.1.113883.19.4" extension="d"/>
<playingDevice><code code="`+device+`" codeSystem="2.16.840.1.113883.6.96"/></playingDevice></participantRole></participant></supply></entry></section></component></structuredBody>`)
	}
	count := func(kind string, documents ...string) (n int) {
		for _, r := range documentFacts(t, documents...) {
			if r.kind == kind {
				n++
			}
		}
		return n
	}
	for kind, of := range map[string][2]int{"SupplyDelivery": {1, 2}, "Device": {1, 2}} {
		if same := count(kind, supplied("87405001"), supplied("87405001")); same != of[0] {
			t.Errorf("%d %s of one device", same, kind)
		}
		if others := count(kind, supplied("87405001"), supplied("14106009")); others != of[1] {
			t.Errorf("%d %s of two devices", others, kind)
		}
	}
}
