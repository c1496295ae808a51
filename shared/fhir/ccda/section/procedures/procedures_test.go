package procedures_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsProcedures(t *testing.T) {
	t.Parallel()
	procedure := func(attributes, rest string) string {
		return `<entry><procedure classCode="PROC" ` + attributes +
			`><templateId root="2.16.840.1.113883.10.20.22.4.14" extension="2014-06-09"/>` + rest + `</procedure></entry>`
	}
	const done = `moodCode="EVN"`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are told with who, where, why and how", Section: "47519-4",
			Entries: procedure(done, `<id root="2.16.840.1.113883.19.6" extension="1"/>`+ccdatest.Colonoscopy+
				`<statusCode code="completed"/><effectiveTime><low value="20190304"/><high value="20190305"/></effectiveTime>
<methodCode code="M" codeSystem="2.16.840.1.113883.6.96"/>
<targetSiteCode code="71854001" codeSystem="2.16.840.1.113883.6.96"/>
<priorityCode code="CR" codeSystem="2.16.840.1.113883.5.7"/>
<performer><assignedEntity><id root="2.16.840.1.113883.19.8" extension="d"/>
<assignedPerson><name>Doc</name></assignedPerson></assignedEntity></performer>
<participant typeCode="LOC"><participantRole classCode="SDLOC"><templateId root="2.16.840.1.113883.10.20.22.4.32"/>
<code code="1118-9" codeSystem="2.16.840.1.113883.6.259"/>
<playingEntity><name>Clinic</name></playingEntity></participantRole></participant>
<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/>
<code code="282291009" codeSystem="2.16.840.1.113883.6.96"/>
<value xsi:type="CD" code="54837006" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship>`),
			Want: []string{
				"Procedure | status=completed | code.coding.code=73761001 | performedPeriod.start=2019-03-04 | " +
					"performedPeriod.end=2019-03-05 | bodySite.coding.code=71854001 | performer.actor.reference |" +
					" location.reference | reasonCode.coding.code=54837006 | extension.valueCodeableConcept.coding.code=M | " +
					"meta.tag.code=CR",
				"Location | name=Clinic | type.coding.code=1118-9",
			},
		},
		{
			Name: "that were not done say so", Section: "47519-4",
			Entries: procedure(done+` negationInd="true"`, ccdatest.Colonoscopy+`<statusCode code="completed"/>`),
			Want:    []string{"Procedure | status=not-done | _performedDateTime.extension.valueCode=unknown"},
		},
		{
			Name: "that are planned are requests", Section: "47519-4",
			Entries: procedure(`moodCode="RQO"`, ccdatest.Colonoscopy+
				`<statusCode code="active"/><effectiveTime value="20300101"/>`),
			Want: []string{"ServiceRequest | intent=order | status=active | code.coding.code=73761001 | " +
				"occurrenceDateTime=2030-01-01"},
			Never: []string{"Procedure"},
		},
		{
			Name: "of devices name them", Section: "47519-4",
			Entries: procedure(done, ccdatest.Colonoscopy+
				`<statusCode code="completed"/><participant typeCode="DEV">
<participantRole classCode="MANU"><templateId root="2.16.840.1.113883.10.20.22.4.37"/>
<id root="2.16.840.1.113883.3.3719" extension="(01)00643169007222(17)291128(11)141128(10)7654321D(21)10987654d321"/>
<playingDevice><code code="90412006" codeSystem="2.16.840.1.113883.6.96"/>
<manufacturerModelName>Scope 5</manufacturerModelName></playingDevice>
<scopingEntity><id root="2.16.840.1.113883.19.9"/><desc>Maker</desc></scopingEntity></participantRole></participant>`),
			Want: []string{
				"Procedure | focalDevice.manipulated.reference",
				"Device | type.coding.code=90412006 | patient.reference | manufacturer=Maker | " +
					"udiCarrier.deviceIdentifier=00643169007222 | lotNumber=7654321D | serialNumber=10987654d321 |" +
					" expirationDate=2029-11-28 | manufactureDate=2014-11-28 | deviceName.name=Scope 5",
			},
		},
		{
			Name: "take specimens", Section: "47519-4",
			Entries: procedure(done, ccdatest.Colonoscopy+
				`<effectiveTime value="2019"/><specimen><specimenRole><id root="2.16.840.1.113883.19.7" extension="s"/>`+
				`<specimenPlayingEntity><code code="309226005" codeSystem="2.16.840.1.113883.6.96"/>`+
				`</specimenPlayingEntity></specimenRole></specimen>`),
			Want: []string{"Specimen | type.coding.code=309226005 | collection.collectedDateTime=2019 | note.text"},
		},
		{
			Name: "name the specimens that are collected in them", Section: "47519-4",
			Entries: procedure(done, ccdatest.Colonoscopy+
				`<entryRelationship typeCode="COMP">
<procedure classCode="PROC" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.415"/><code code="17636008"/>
<participant typeCode="PRD"><participantRole classCode="SPEC">
<playingEntity><code code="258415003" codeSystem="2.16.840.1.113883.6.96"/></playingEntity></participantRole>
</participant></procedure></entryRelationship>`),
			Want: []string{"Specimen | type.coding.code=258415003 | note.text"},
		},
		{
			Name: "of acts are Procedures, of observations are Observations", Section: "47519-4",
			Entries: `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.12"/>
<code code="274025005" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="aborted"/></act></entry>
<entry><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.13"/>
<code code="275711006" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/>
<value xsi:type="ST">fine</value></observation></entry>`,
			Want: []string{
				"Procedure | status=stopped | code.coding.code=274025005",
				"Observation | category.coding.code=procedure | code.coding.code=275711006 | valueString=fine",
			},
		},
		{
			Name: "with complications and an encounter are linked to them", Section: "47519-4",
			Entries: procedure(done, ccdatest.Colonoscopy+
				`<entryRelationship typeCode="COMP">
<observation><templateId root="2.16.840.1.113883.10.20.22.4.4"/><code code="55607006"/>
<value xsi:type="CD" code="131148009" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship>
<entryRelationship typeCode="COMP" inversionInd="true">
<encounter classCode="ENC" moodCode="EVN">
<id root="2.16.840.1.113883.19.3" extension="e7"/></encounter></entryRelationship>`) +
				`<entry><encounter classCode="ENC" moodCode="EVN"><id root="2.16.840.1.113883.19.3" extension="e7"/>` +
				`<code code="99213" codeSystem="2.16.840.1.113883.6.12"/></encounter></entry>`,
			Want: []string{
				"Procedure | complicationDetail.reference | encounter.reference",
				"Condition | code.coding.code=131148009", "Encounter | identifier.value=e7 | class.code=AMB",
			},
		},
		{
			Name:    "without a code have words, and without a template their section",
			Section: `<section><title>Surgical History</title>`,
			Entries: `<entry><procedure><code nullFlavor="UNK"/><text>Tonsils out</text></procedure></entry>`,
			Want:    []string{"Procedure | code.text=Tonsils out | status=unknown"},
		},
		{
			Name: "of CCD as acts and observations are told by their class", Section: "47519-4",
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.1.29"/>` + ccdatest.Colonoscopy +
				`<value xsi:type="CD"/></observation></entry>`,
			Want:  []string{"Observation | code.coding.code=73761001 | dataAbsentReason"},
			Never: []string{"Procedure"},
		},
	})
}
