package encounters_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsEncounters(t *testing.T) {
	t.Parallel()
	encounter := func(rest string) string {
		return `<entry><encounter classCode="ENC" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.49" ` +
			`extension="2015-08-01"/>` + rest + `</encounter></entry>`
	}
	const visit = `<id root="2.16.840.1.113883.19.3" extension="e1"/><code code="99213" ` +
		`codeSystem="2.16.840.1.113883.6.12"/><effectiveTime><low value="20190304"/><high value="20190305"/>` +
		`</effectiveTime>`
	const diagnosis = `<entryRelationship typeCode="SUBJ">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.80"/>
<code code="29308-4" codeSystem="2.16.840.1.113883.6.1"/>
<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.4"/>
<code code="282291009" codeSystem="2.16.840.1.113883.6.96"/>
<value xsi:type="CD" code="233604007" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship></act>
</entryRelationship>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are told with people, place and discharge", Section: "46240-8",
			Entries: encounter(visit +
				`<sdtc:admissionReferralSourceCode code="1" codeSystem="2.16.840.1.113883.6.301.4"/>
<sdtc:dischargeDispositionCode code="01" codeSystem="2.16.840.1.113883.6.301.5"/>
<performer><assignedEntity><id root="2.16.840.1.113883.19.8" extension="d"/>
<assignedPerson><name>Doc</name></assignedPerson></assignedEntity></performer>
<participant typeCode="LOC"><participantRole classCode="SDLOC">
<code code="1160-1" codeSystem="2.16.840.1.113883.6.259"/>
<playingEntity><name>Urgent Care</name></playingEntity></participantRole></participant>`),
			Want: []string{
				"Encounter | class.code=AMB | status=finished | type.coding.code=99213 | period.start=2019-03-04 | " +
					"period.end=2019-03-05 | participant.individual.reference | participant.type.coding.code=PPRF |" +
					" location.location.reference | hospitalization.dischargeDisposition.coding.code=01 | " +
					"hospitalization.admitSource.coding.code=1",
				"Location | name=Urgent Care",
			},
		},
		{
			Name: "have diagnoses", Section: "46240-8", Entries: encounter(visit + diagnosis),
			Want: []string{
				"Encounter | diagnosis.condition.reference",
				"Condition | code.coding.code=233604007 | category.coding.code=encounter-diagnosis | encounter.reference",
			},
		},
		{
			Name: "have reasons", Section: "46240-8",
			Entries: encounter(visit +
				`<entryRelationship typeCode="RSON"><observation><templateId root="2.16.840.1.113883.10.20.22.4.19"/>` +
				`<code code="75321-0"/><value xsi:type="CD" code="195967001" codeSystem="2.16.840.1.113883.6.96"/>` +
				`</observation></entryRelationship>`),
			Want: []string{"Encounter | reasonCode.coding.code=195967001"},
		},
		{
			Name: "of the id in the header are the same, as the entry knows it better", Section: "46240-8",
			Entries: encounter(
				`<id root="2.16.840.1.113883.19.3" extension="visit"/><code code="IMP" codeSystem="2.16.840.1.113883.5.4"/>` +
					`<statusCode code="completed"/><effectiveTime><low value="202001010930+0000"/><high value="20200102"/>` +
					`</effectiveTime>`),
			Want: []string{"Encounter | identifier.value=visit | class.code=IMP | status=finished | " +
				"period.start=2020-01-01T09:30:00+00:00 | period.end=2020-01-02"},
			Never: []string{"Encounter | class.code=UNK"},
		},
		{
			Name: "without anything are still valid", Section: "46240-8",
			Entries: encounter(`<code nullFlavor="UNK"/><text>Was here</text>`),
			Want:    []string{"Encounter | status=unknown | class.code=UNK | type.text=Was here"},
		},
		{
			Name: "without templates are told by a title", Section: `<section><title>Encounters</title>`,
			Entries: `<entry><encounter>` + visit + `</encounter></entry>`,
			Want:    []string{"Encounter | identifier.value=e1 | class.code=AMB"},
		},
	})
}
