package notes_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsNotesToDocumentReferences(t *testing.T) {
	t.Parallel()
	note := func(text, rest string) string {
		return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.202"/>
<id root="2.16.840.1.113883.19.5" extension="n"/><code code="34109-9" codeSystem="2.16.840.1.113883.6.1">
<translation code="11506-3" codeSystem="2.16.840.1.113883.6.1"/></code>` + text + `<statusCode code="completed"/` +
			`><effectiveTime value="20190104"/>` + ccdatest.WrittenBy + rest + `</act></entry>`
	}
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "point to the narrative", Section: "34109-9",
			Entries: `<text><list><item ID="one"><paragraph>Feels <content styleCode="Bold">well</content></paragraph>` +
				`</item></list></text>` + note(`<text><reference value="#one"/></text>`,
				`<participant typeCode="LA"><participantRole><id root="2.16.840.1.113883.19.4" extension="s"/>
<playingEntity><name><family>Signer</family></name></playingEntity></participantRole></participant>
<entryRelationship typeCode="COMP"><encounter classCode="ENC" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.49"/>
<id root="2.16.840.1.113883.19.3" extension="visit"/></encounter></entryRelationship>`),
			Want: []string{
				"DocumentReference | type.coding.0.code=11506-3 | type.coding.1.code=34109-9 | " +
					"category.coding.code=clinical-note | docStatus=final | date=2019-02-03T00:00:00+00:00 | author.display=Writer " +
					"| context.period.start=2019-01-04 |" +
					" authenticator.display=Signer | context.encounter.reference | " +
					"content.0.attachment.contentType=application/xhtml+xml | content.1.attachment.contentType=text/plain | " +
					"content.1.attachment.data=RmVlbHMgd2VsbA==",
			},
			Never: []string{"Observation", "ServiceRequest"},
		},
		{
			Name: "hold their bytes", Section: "34109-9",
			Entries: note(`<text mediaType="application/pdf" representation="B64">JVBERg==</text>`, ""),
			Want: []string{"DocumentReference | content.0.attachment.contentType=application/pdf | " +
				"content.0.attachment.data=JVBERg== | !content.1"},
		},
		{
			Name: "hold bytes of no named kind", Section: "34109-9",
			Entries: note(`<text representation="B64">JVBERg==</text>`, ""),
			Want: []string{"DocumentReference | content.0.attachment.contentType=application/octet-stream | " +
				"content.0.attachment.data=JVBERg=="},
		},
		{
			Name: "are elsewhere, and not fetched", Section: "34109-9",
			Entries: note(`<text mediaType="application/pdf"><reference value="https://example.org/n.pdf"/></text>`, ""),
			Want: []string{"DocumentReference | content.0.attachment.url=https://example.org/n.pdf | " +
				"!content.0.attachment.data"},
		},
		{
			Name: "may say nothing", Section: "34109-9",
			Entries: note(`<text/>`, ""),
			Want:    []string{"DocumentReference | content.0.attachment.title | !content.0.attachment.data"},
		},
	})
}

func TestConvertMapsNarrativeSectionsToDocumentReferences(t *testing.T) {
	t.Parallel()
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are documents of their own", Section: "10164-2", Entries: `<title>HPI</title><text>Since <br/>Monday</text>`,
			Want: []string{
				"DocumentReference | type.coding.code=10164-2 | description=HPI | content.1.attachment.data=U2luY2UKTW9uZGF5 | " +
					"date=2020-01-02T03:04:05+00:00 | context.encounter.reference",
				"Composition | section.title=HPI | section.entry.reference | section.text.div",
			},
		},
		{
			Name: "that nobody knows are, too", Section: `<section><title>Ship's log</title>`, Entries: `<text>Calm.</text>`,
			Want: []string{"DocumentReference | type.text=Ship's log | content.1.attachment.data=Q2FsbS4="},
		},
		{
			Name: "are not made of nothing", Section: "10164-2", Entries: `<title>HPI</title><text> </text>`,
			Want: []string{"Composition | section.emptyReason"}, Never: []string{"DocumentReference"},
		},
		{
			Name: "of clinical lists without entries are, too", Section: "10160-0", Entries: `<text>Aspirin</text>`,
			Want: []string{"DocumentReference | type.coding.code=10160-0"},
		},
	})
}
