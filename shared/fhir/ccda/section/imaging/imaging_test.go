package imaging_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsImagingReports(t *testing.T) {
	t.Parallel()
	const dicom = `codeSystem="1.2.840.10008.2.16.4"/>`
	const image = `<observation classCode="DGIMG" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.6.2.8"/>
<id root="1.2.840.113619.3.3"/><code code="1.2.840.10008.5.1.4.1.1.1" codeSystem="1.2.840.10008.2.6.1"/>
<text mediaType="application/dicom"><reference value="http://www.example.org/wado"/></text></observation>`
	const catalog = `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.6.2.6"/>` +
		`<id root="1.2.840.113619.1.1"/><code code="113014" ` + dicom + `<effectiveTime value="20060828"/>
<entryRelationship typeCode="COMP"><act classCode="ACT" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.63"/><id root="1.2.840.113619.2.2"/>
<code code="113015" codeSystem="1.2.840.10008.2.16.4">
<qualifier><name code="121139" ` + dicom + `<value code="CR" ` + dicom + `</qualifier></code><entryRelationship ` +
		`typeCode="COMP">` + image + `</entryRelationship></act></entryRelationship></act></entry>`
	const measured = `<entry><observation classCode="OBS" moodCode="EVN"><templateId ` +
		`root="2.16.840.1.113883.10.20.6.2.14"/><code code="246120007" ` + ccdatest.InSnomed +
		`<value xsi:type="PQ" value="45" unit="mm"/>
<entryRelationship typeCode="SUBJ">` + image + `</entryRelationship></observation></entry>`
	section := `<section><templateId root="2.16.840.1.113883.10.20.6.1.1"/><code code="121181" ` + dicom
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "have a study, and measurements from it", Section: section, Entries: measured + catalog,
			Want: []string{
				"ImagingStudy | status=available | identifier.value=urn:oid:1.2.840.113619.1.1 | started=2006-08-28 | " +
					"modality.code=CR | series.uid=1.2.840.113619.2.2 | series.modality.code=CR |" +
					" series.instance.uid=1.2.840.113619.3.3 | series.instance.sopClass.code=urn:oid:1.2.840.10008.5.1.4.1.1.1 | " +
					"note.text=http://www.example.org/wado",
				"Observation | code.coding.code=246120007 | category.coding.code=imaging | valueQuantity.value=45 | " +
					"derivedFrom.reference",
			},
			Never: []string{"Observation | code.coding.code=1.2.840.10008.5.1.4.1.1.1"},
		},
		{
			Name: "lose no image that no study lists", Section: section, Entries: measured,
			Want:  []string{"Observation | code.coding.code=1.2.840.10008.5.1.4.1.1.1 | focus.reference"},
			Never: []string{"ImagingStudy"},
		},
	})
}
