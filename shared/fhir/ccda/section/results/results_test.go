package results_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func results(organizer, members string) string {
	return `<entry><organizer classCode="BATTERY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.1" ` +
		`extension="2015-08-01"/>` + organizer + members + `</organizer></entry>`
}

func result(rest string) string {
	return `<component><observation classCode="OBS" moodCode="EVN"><templateId ` +
		`root="2.16.840.1.113883.10.20.22.4.2" extension="2015-08-01"/>` + rest + `</observation></component>`
}

const (
	bloodCount = `<code code="57021-8" codeSystem="2.16.840.1.113883.6.1" displayName="CBC W Auto Differential ` +
		`panel in Blood"/>`
	hemoglobin = `<code code="718-7" codeSystem="2.16.840.1.113883.6.1" displayName="Hemoglobin"/>`
)

func TestConvertMapsResults(t *testing.T) {
	t.Parallel()
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are a report with observations", Section: "30954-2",
			Entries: results(`<id root="2.16.840.1.113883.19.6" extension="r"/>`+bloodCount+`<statusCode code="completed"/>`,
				result(hemoglobin+
					`<statusCode code="completed"/><effectiveTime value="20190304"/><value xsi:type="PQ" value="13.20" unit="g/dL"/>
<interpretationCode code="N" codeSystem="2.16.840.1.113883.5.83"/>
<methodCode code="M1" codeSystem="2.16.840.1.113883.5.84"/>
<targetSiteCode code="368208006" codeSystem="2.16.840.1.113883.6.96"/>`)+
					result(
						`<code code="6690-2" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190302"/>`+
							`<value xsi:type="CD" code="260385009" codeSystem="2.16.840.1.113883.6.96"/>`)),
			Want: []string{
				"DiagnosticReport | status=final | code.coding.code=57021-8 | category.coding.code=LAB | result.1.reference | " +
					"effectivePeriod.start=2019-03-02 | effectivePeriod.end=2019-03-04 | identifier.value=r",
				"Observation | code.coding.code=718-7 | category.coding.code=laboratory | valueQuantity.value=13.2 | " +
					"interpretation.coding.code=N | method.coding.code=M1 | bodySite.coding.code=368208006",
				"Observation | code.coding.code=6690-2 | valueCodeableConcept.coding.code=260385009 | status=final",
			},
		},
		{
			Name: "keep reference ranges apart by what they are for", Section: "30954-2",
			Entries: results(bloodCount, result(hemoglobin+`<value xsi:type="PQ" value="13" unit="g/dL"/>
<referenceRange><observationRange><text>Adults</text>
<value xsi:type="IVL_PQ"><low value="12.0" unit="g/dL"/><high value="15.5" unit="g/dL"/></value>
<interpretationCode code="N" codeSystem="2.16.840.1.113883.5.83"/></observationRange></referenceRange>
<referenceRange><observationRange><value xsi:type="IVL_PQ"><high value="7" unit="g/dL"/></value>
<interpretationCode code="LL" codeSystem="2.16.840.1.113883.5.83"/></observationRange></referenceRange>
<referenceRange><observationRange><text>See note</text></observationRange></referenceRange>
<referenceRange><observationRange><value xsi:type="IVL_PQ">
<high value="6" unit="%" inclusive="false"/></value></observationRange></referenceRange>`)),
			Want: []string{"Observation | referenceRange.0.low.value=12 | referenceRange.0.high.value=15.5 | " +
				"referenceRange.0.text=Adults | !referenceRange.0.type | referenceRange.1.type.coding.code=LL |" +
				" referenceRange.1.high.value=7 | !referenceRange.1.text | referenceRange.2.text=See note | " +
				"referenceRange.3.high.value=6 | referenceRange.3.text=<6 %"},
		},
		{
			Name: "that are pending have a status and no value", Section: "30954-2",
			Entries: results(bloodCount+`<statusCode code="active"/>`,
				result(hemoglobin+`<statusCode code="held"/><value xsi:type="PQ" nullFlavor="NAV"/>`)),
			Want: []string{
				"DiagnosticReport | status=registered",
				"Observation | status=registered | dataAbsentReason.coding.code=temp-unknown",
			},
		},
		{
			Name: "that were stopped are cancelled", Section: "30954-2",
			Entries: results(bloodCount+`<statusCode code="aborted"/>`, ""),
			Want:    []string{"DiagnosticReport | status=cancelled"},
		},
		{
			Name: "in an organizer of an organizer are a panel", Section: "30954-2",
			Entries: results(bloodCount, `<component><organizer><code code="24358-4" codeSystem="2.16.840.1.113883.6.1"/>`+
				result(hemoglobin+`<value xsi:type="INT" value="3"/>`)+`</organizer></component>`),
			Want: []string{
				"DiagnosticReport | result.0.reference | !result.1",
				"Observation | code.coding.code=24358-4 | hasMember", "Observation | code.coding.code=718-7 | valueInteger=3",
			},
		},
		{
			Name: "that are files are presented with the report", Section: "30954-2",
			Entries: results(bloodCount, result(hemoglobin+
				`<value xsi:type="ED" mediaType="application/pdf" representation="B64">JVBERi0x</value>`)),
			Want: []string{
				"DiagnosticReport | presentedForm.contentType=application/pdf | presentedForm.data=JVBERi0x",
				"Observation | code.coding.code=718-7 | dataAbsentReason | !valueString",
			},
		},
		{
			Name: "that are files by themselves are documents", Section: "30954-2",
			Entries: `<entry><observation><templateId root="2.16.840.1.113883.10.20.22.4.2"/>` + hemoglobin +
				`<value xsi:type="ED" mediaType="application/pdf" representation="B64">JVBERi0x</value></observation></entry>`,
			Want: []string{
				"DocumentReference | content.attachment.data=JVBERi0x | type.coding.code=718-7",
				"Observation | derivedFrom.reference",
			},
		},
		{
			Name: "that are texts stay texts", Section: "30954-2",
			Entries: results(bloodCount, result(hemoglobin+
				`<value xsi:type="ED" mediaType="text/plain" representation="B64">Tm8gZ3Jvd3Ro</value>`)+
				result(`<code code="600-7"/><value xsi:type="ST">Growth of nothing</value>`)),
			Want: []string{"Observation | valueString=No growth", "Observation | valueString=Growth of nothing"},
		},
		{
			Name: "are of a specimen", Section: "30954-2",
			Entries: results(bloodCount+
				`<specimen><specimenRole><id root="2.16.840.1.113883.19.7" extension="s1"/><specimenPlayingEntity>`+
				`<code code="119297000" codeSystem="2.16.840.1.113883.6.96"/></specimenPlayingEntity></specimenRole>`+
				`</specimen>`,
				`<component><procedure classCode="PROC" moodCode="EVN"><code code="17636008" `+
					`codeSystem="2.16.840.1.113883.6.96"/><effectiveTime value="20190303"/>`+
					`<targetSiteCode code="368208006" codeSystem="2.16.840.1.113883.6.96"/></procedure></component>`+
					result(hemoglobin+`<value xsi:type="REAL" value="3"/>`)),
			Want: []string{
				"Specimen | identifier.value=s1 | type.coding.code=119297000 | collection.collectedDateTime=2019-03-03 | " +
					"collection.bodySite.coding.code=368208006",
				"DiagnosticReport | specimen.0.reference | !specimen.1",
				"Observation | specimen.reference | valueQuantity.value=3 | !valueQuantity.unit",
			},
			Never: []string{"Procedure"},
		},
		{
			Name: "are of a specimen that was collected as a product", Section: "30954-2",
			Entries: results(bloodCount,
				`<component><procedure classCode="PROC" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.415"/>
<code code="17636008" codeSystem="2.16.840.1.113883.6.96"/><effectiveTime value="20190303"/>
<participant typeCode="PRD"><participantRole classCode="SPEC"><id root="2.16.840.1.113883.19.7" extension="s2"/>
<playingEntity><code code="258415003" codeSystem="2.16.840.1.113883.6.96"/></playingEntity></participantRole>
</participant></procedure></component>`),
			Want: []string{"Specimen | identifier.value=s2 | type.coding.code=258415003 | " +
				"collection.collectedDateTime=2019-03-03", "DiagnosticReport | specimen.reference"},
		},
		{
			Name: "of imaging are found as such", Section: "30954-2",
			Entries: results(`<code code="30746-2" codeSystem="2.16.840.1.113883.6.1" displayName="XR Chest 2 Views"/>`,
				result(`<code code="71046" codeSystem="2.16.840.1.113883.6.12"/><value xsi:type="ST">Clear</value>`)),
			Want: []string{"DiagnosticReport | category.coding.code=LP29684-5", "Observation | category.coding.code=imaging"},
		},
		{
			Name: "have comments, performers and authors", Section: "30954-2",
			Entries: results(bloodCount, result(hemoglobin+
				`<value xsi:type="BL" value="true"/>
<performer><assignedEntity><id root="2.16.840.1.113883.19.8" extension="lab"/>
<assignedPerson><name>Lab</name></assignedPerson></assignedEntity></performer>
<author><time value="20190305101500+0000"/>
<assignedAuthor><id root="2.16.840.1.113883.19.8" extension="a"/>
<assignedPerson><name>Author</name></assignedPerson></assignedAuthor></author>
<entryRelationship typeCode="SUBJ"><act><templateId root="2.16.840.1.113883.10.20.22.4.64"/>
<code code="48767-8" codeSystem="2.16.840.1.113883.6.1"/><text>Hemolyzed</text></act></entryRelationship>`)),
			Want: []string{
				"Observation | valueBoolean=true | performer.0.display=Lab | !performer.1 | note.text=Hemolyzed | " +
					"issued=2019-03-05T10:15:00+00:00",
				"Provenance | agent.type.coding.code=author | agent.who.display=Author | " +
					"occurredDateTime=2019-03-05T10:15:00+00:00",
			},
		},
		{
			Name:    "without templates are told by a title",
			Section: `<section><title>Lab Results:</title>`,
			Entries: `<entry><organizer>` + bloodCount + `<component><observation>` + hemoglobin +
				`<value value="13" unit="g/dL"/></observation></component></organizer></entry>`,
			Want: []string{"DiagnosticReport | result", "Observation | code.coding.code=718-7 | valueQuantity.value=13"},
		},
		{
			Name: "without anything are still valid", Section: "30954-2",
			Entries: results(`<code nullFlavor="UNK"/><statusCode nullFlavor="UNK"/><effectiveTime nullFlavor="UNK"/>`,
				result(`<code nullFlavor="NI"/>`)),
			Want: []string{
				"DiagnosticReport | code.coding.code=unknown | status=unknown",
				"Observation | code.coding.code=unknown | dataAbsentReason",
			},
		},
	})
}
