package ccdatest

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Shapes of large documents: an attachment, a narrative of paragraphs, a narrative with a table, entries, or all of
// these.
const (
	shapeBase64    = "base64"
	shapeNarrative = "narrative"
	shapeTable     = "table"
	shapeEntries   = "entries"
	shapeMixed     = "mixed"
)

// Shapes returns all shapes of large documents.
func Shapes() []string {
	return []string{shapeBase64, shapeNarrative, shapeTable, shapeEntries, shapeMixed}
}

// WriteLarge writes a document of the given shape with approximately size bytes. A document that consists of a table is
// only half the requested size, because its number of cells is limited. WriteLarge buffers only a small part of the
// document so that tests can measure its reader's memory use.
func WriteLarge(to io.Writer, shape string, size int) error {
	const mark = "the body"
	before, after, _ := strings.Cut(Document(SomePatient, mark), mark)
	l := large{Writer: bufio.NewWriter(to), random: rand.NewChaCha8([32]byte{49})}
	l.put(before)
	l.body(shape, size)
	l.put(after)
	if err := l.Flush(); err != nil {
		return fmt.Errorf("write a document: %w", err)
	}
	return nil
}

// large writes the parts of a large document. Flush returns the first write error, if any.
type large struct {
	*bufio.Writer

	random *rand.ChaCha8 // seeded with a constant
	rows   int           // table rows written so far
}

func (l *large) put(text string) { _, _ = l.WriteString(text) }

func (l *large) body(shape string, size int) {
	if shape == shapeBase64 {
		l.put(`<nonXMLBody><text mediaType="application/pdf" representation="B64">`)
		l.base64(size)
		l.put(`</text></nonXMLBody>`)
		return
	}
	l.put("<structuredBody>")
	switch shape {
	case shapeNarrative:
		l.section("10164-2", func() { l.paragraphs(size) }, nil)
	case shapeTable:
		l.section("10164-2", func() { l.table(size / 2) }, nil)
	case shapeEntries:
		l.section("30954-2", nil, func() { l.entries(size) })
	case shapeMixed:
		l.section("10164-2", func() { l.paragraphs(size / 4) }, nil)
		l.section("30954-2", func() { l.table(size / 8) }, func() { l.entries(size / 8 * 3) })
		l.section("34109-9", nil, func() { l.note(size / 4) })
	}
	l.put("</structuredBody>")
}

func (l *large) section(code string, text, entries func()) {
	l.put(`<component><section><code code="` + code + `" codeSystem="2.16.840.1.113883.6.1"/><title>Section</title>`)
	if text != nil {
		l.put("<text>")
		text()
		l.put("</text>")
	}
	if entries != nil {
		entries()
	}
	l.put("</section></component>")
}

func (l *large) base64(size int) {
	var raw [3 << 10]byte
	for range size / (4 << 10) {
		_, _ = l.random.Read(raw[:]) // never fails
		l.put(base64.StdEncoding.EncodeToString(raw[:]))
	}
}

func (l *large) paragraphs(size int) {
	paragraph := "<paragraph>" + strings.Repeat("some words of a narrative ", 40) + "</paragraph>"
	for range size / len(paragraph) {
		l.put(paragraph)
	}
}

func (l *large) table(size int) {
	l.put("<table><thead><tr><th>Date</th><th>Test</th><th>Value</th></tr></thead><tbody>")
	for written := 0; written < size; l.rows++ {
		n, _ := fmt.Fprintf(l, `<tr ID="r%d"><td>2024-01-01</td><td>Glucose</td><td>%d mg/dL</td></tr>`+"\n", l.rows, l.rows)
		written += max(1, n)
	}
	l.put("</tbody></table>")
}

// entries writes result observations. Each observation refers to a different table row. Observations written after all
// rows have been used contain no reference.
func (l *large) entries(size int) {
	for i, written := 0, 0; written < size; i++ {
		reference := ""
		if i < l.rows {
			reference = fmt.Sprintf(`<text><reference value="#r%d"/></text>`, i)
		}
		n, _ := fmt.Fprintf(l, `<entry><observation classCode="OBS" moodCode="EVN">`+
			`<templateId root="2.16.840.1.113883.10.20.22.4.2"/><id root="1.2.3.4" extension="o%d"/>`+
			`<code code="2345-7" codeSystem="2.16.840.1.113883.6.1" displayName="Glucose"/>%s<effectiveTime value="20240101"/>`+
			`<value xsi:type="PQ" value="%d" unit="mg/dL"/><statusCode code="completed"/></observation></entry>`,
			i, reference, i)
		written += max(1, n)
	}
}

func (l *large) note(size int) {
	l.put(`<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.202"/>` +
		`<code code="34109-9" codeSystem="2.16.840.1.113883.6.1"/><text mediaType="application/pdf" representation="B64">`)
	l.base64(size)
	l.put(`</text></act></entry>`)
}
