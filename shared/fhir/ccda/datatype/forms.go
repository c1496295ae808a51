package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Forms returns the concatenated parts of the narrative as two attachments, one XHTML and one plain text (C-CDA on
// FHIR, "Notes": /text/reference/@value).
func (r *contents) Forms(parts ...*cda.Node) (markup, plain *r4.Attachment) {
	markup, plain = &r4.Attachment{ContentType: "application/xhtml+xml"}, &r4.Attachment{ContentType: "text/plain"}
	isLarge := false
	for _, n := range parts {
		isLarge = isLarge || r.document.IsLarge(n)
	}
	if isLarge {
		markup.Large = r.largeData(func(b textWriter) { writeFragments(b, parts) })
		plain.Large = r.largeData(func(b textWriter) { writePlainTexts(b, parts) })
		return markup, plain
	}
	var b strings.Builder
	writeFragments(&b, parts)
	markup.Data = []byte(b.String())
	b.Reset()
	writePlainTexts(&b, parts)
	plain.Data = []byte(b.String())
	return markup, plain
}

func writeFragments(b textWriter, parts []*cda.Node) {
	writeText(b, divBegin)
	for _, n := range parts {
		if len(parts) == 1 {
			writeFragment(b, n)
			continue
		}
		writeText(b, "<div>") // text of an entry that contains mixed content ("Narrative Text")
		writeFragment(b, n)
		writeText(b, "</div>")
	}
	writeText(b, divEnd)
}

func writePlainTexts(b textWriter, parts []*cda.Node) {
	for i, n := range parts {
		if i > 0 {
			_ = b.WriteByte('\n')
		}
		writePlain(b, n)
	}
}
