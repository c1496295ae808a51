package persona

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// notes adds documents in the three forms that portals use: a Binary at a relative URL, inline data, and both in one
// document.
func notes(c *chart) {
	c.note(0)
	text := "Sandbox note.\nThe attachment of this document is inline: there is no Binary to fetch.\n"
	c.add("DocumentReference", c.document(noteTypes[3], 0, list{inline("text/plain", text)}))
	c.add("DocumentReference", c.document(noteTypes[1], 0, list{
		inline("text/html", "<!doctype html><title>Note</title><p>Bold claims &amp; <b>bold</b> text.</p>"),
		c.file("application/pdf", tinyPDF("Letter to "+c.spec.given+" "+c.spec.family)),
	}))
}

func (c *chart) note(n int) {
	all := noteTypes
	kind := all[c.roll("note", n, len(all))]
	attachment := c.file("text/plain", c.noteText(kind, n))
	document := c.add("DocumentReference", c.document(kind, n, list{attachment}))
	// The R4 search parameter Provenance.patient requires the patient as a target.
	c.add("Provenance", object{
		"target":   list{reference(document), c.patient()},
		"recorded": instant(c.at(n, 40)),
		"agent": list{object{
			"type":       concept(terminology+"provenance-participant-type", "author", "Author"),
			"who":        reference(c.doctor(n)),
			"onBehalfOf": reference(c.clinic()),
		}},
	})
}

func (c *chart) document(kind code, n int, attachments list) object {
	content := make(list, 0, len(attachments))
	for _, attachment := range attachments {
		content = append(content, object{"attachment": attachment})
	}

	return object{
		"status":    "current",
		"docStatus": "final",
		"type":      coded(kind),
		"category": list{concept("http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category",
			"clinical-note", "Clinical Note")},
		"subject":   c.patient(),
		"date":      instant(c.at(n, 40)),
		"author":    list{reference(c.doctor(n))},
		"custodian": reference(c.clinic()),
		"content":   content,
		"context":   object{"encounter": list{reference(c.encounter)}},
	}
}

func (c *chart) file(contentType, data string) object {
	url := c.add("Binary", object{
		"contentType": contentType,
		"data":        base64.StdEncoding.EncodeToString([]byte(data)),
	})

	return object{"contentType": contentType, "url": url, "size": len(data)}
}

func inline(contentType, data string) object {
	return object{
		"contentType": contentType,
		"data":        base64.StdEncoding.EncodeToString([]byte(data)),
		"size":        len(data),
	}
}

func (c *chart) noteText(kind code, n int) string {
	sentences := []string{
		"The patient feels well and has no new complaints.",
		"Sleep and appetite are normal.",
		"Medication is taken as prescribed, without side effects.",
		"Examination of heart and lungs is unremarkable.",
		"Blood results were discussed; no change is needed.",
		"A brisk walk of thirty minutes on most days is advised.",
		"Return in three months, or earlier when anything changes.",
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nPatient: %s %s (synthetic)\nDate: %s\n\n",
		strings.ToUpper(kind.display), c.spec.given, c.spec.family, date(c.at(n, 0)))
	for i := range 12 + c.roll("note length", n, 30) {
		text.WriteString(sentences[c.roll("sentence", n*100+i, len(sentences))])
		text.WriteString("\n")
	}

	return text.String()
}

// tinyPDF returns a minimal PDF containing one line of text. The text must not contain parentheses.
func tinyPDF(line string) string {
	drawing := "BT /F1 18 Tf 72 720 Td (" + line + ") Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " +
			"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(drawing), drawing),
	}
	var pdf, table strings.Builder
	pdf.WriteString("%PDF-1.4\n")
	for i, body := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", pdf.Len())
		fmt.Fprintf(&pdf, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	start := pdf.Len()
	fmt.Fprintf(&pdf, "xref\n0 %d\n0000000000 65535 f \n%s", len(objects)+1, table.String())
	fmt.Fprintf(&pdf, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)

	return pdf.String()
}
