package ccda_test

import "testing"

func TestNotes(t *testing.T) {
	t.Parallel()
	note := func(text, rest string) string {
		return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.202"/><id root="2.16.840.1.113883.19.5" extension="n"/><code code="34109-9" codeSystem="2.16.840.1.113883.6.1">
<translation code="11506-3" codeSystem="2.16.840.1.113883.6.1"/></code>` + text + `<statusCode code="completed"/><effectiveTime value="20190104"/>` + writtenBy + rest + `</act></entry>`
	}
	runFacts(t, []factCase{
		{
			name: "point to the narrative", section: "34109-9",
			entries: `<text><list><item ID="one"><paragraph>Feels <content styleCode="Bold">well</content></paragraph></item></list></text>` + note(`<text><reference value="#one"/></text>`,
				`<participant typeCode="LA"><participantRole><id root="2.16.840.1.113883.19.4" extension="s"/><playingEntity><name><family>Signer</family></name></playingEntity></participantRole></participant>
<entryRelationship typeCode="COMP"><encounter classCode="ENC" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.49"/><id root="2.16.840.1.113883.19.3" extension="visit"/></encounter></entryRelationship>`),
			want: []string{
				"DocumentReference | type.coding.0.code=34109-9 | type.coding.1.code=11506-3 | category.coding.code=clinical-note | docStatus=final | date=2019-02-03T00:00:00+00:00 | author.display=Writer | context.period.start=2019-01-04 |" +
					" authenticator.display=Signer | context.encounter.reference | content.0.attachment.contentType=text/html | content.1.attachment.contentType=text/plain | content.1.attachment.data=RmVlbHMgd2VsbA==",
			},
			never: []string{"Observation", "ServiceRequest"},
		},
		{
			name: "hold their bytes", section: "34109-9",
			entries: note(`<text mediaType="application/pdf" representation="B64">JVBERg==</text>`, ""),
			want:    []string{"DocumentReference | content.0.attachment.contentType=application/pdf | content.0.attachment.data=JVBERg== | !content.1"},
		},
		{
			name: "hold bytes of no named kind", section: "34109-9",
			entries: note(`<text representation="B64">JVBERg==</text>`, ""),
			want:    []string{"DocumentReference | content.0.attachment.contentType=application/octet-stream | content.0.attachment.data=JVBERg=="},
		},
		{
			name: "are elsewhere, and not fetched", section: "34109-9",
			entries: note(`<text mediaType="application/pdf"><reference value="https://example.org/n.pdf"/></text>`, ""),
			want:    []string{"DocumentReference | content.0.attachment.url=https://example.org/n.pdf | !content.0.attachment.data"},
		},
		{
			name: "may say nothing", section: "34109-9",
			entries: note(`<text/>`, ""),
			want:    []string{"DocumentReference | content.0.attachment.title | !content.0.attachment.data"},
		},
	})
}

func TestSectionsOfWords(t *testing.T) {
	t.Parallel()
	runFacts(t, []factCase{
		{
			name: "are documents of their own", section: "10164-2", entries: `<title>HPI</title><text>Since <br/>Monday</text>`,
			want: []string{
				"DocumentReference | type.coding.code=10164-2 | description=HPI | content.1.attachment.data=U2luY2UgTW9uZGF5 | date=2020-01-02T03:04:05+00:00 | context.encounter.reference",
				"Composition | section.title=HPI | section.entry.reference | section.text.div",
			},
		},
		{
			name: "that nobody knows are, too", section: `<section><title>Ship's log</title>`, entries: `<text>Calm.</text>`,
			want: []string{"DocumentReference | type.text=Ship's log | content.1.attachment.data=Q2FsbS4="},
		},
		{
			name: "are not made of nothing", section: "10164-2", entries: `<title>HPI</title><text> </text>`,
			want: []string{"Composition | section.emptyReason"}, never: []string{"DocumentReference"},
		},
		{
			name: "of clinical lists without entries are, too", section: "10160-0", entries: `<text>Aspirin</text>`,
			want: []string{"DocumentReference | type.coding.code=10160-0"},
		},
	})
}
