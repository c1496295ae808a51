package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// NarrativeOf converts a section's text to the XHTML that FHIR allows (narrative.html). It contains no scripts, forms,
// styles or script URLs. NarrativeOf returns nil if text contains no words. The narrative's status is "additional",
// because a section may state more than its entries (narrative.html, status).
func (r *contents) NarrativeOf(text *cda.Node) *r4.Narrative {
	if !text.HasWords() {
		return nil
	}
	write := func(b textWriter) {
		writeText(b, divBegin)
		writeInner(b, text)
		writeText(b, divEnd)
	}
	if r.document.IsLarge(text) {
		return &r4.Narrative{Status: "additional", Large: r.large(write)}
	}
	var b strings.Builder
	write(&b)
	return &r4.Narrative{Status: "additional", Div: b.String()}
}

const (
	divBegin = `<div xmlns="http://www.w3.org/1999/xhtml">`
	divEnd   = `</div>`
)

// XHTML wraps content in the div that a Narrative requires.
func XHTML(inner string) string {
	return divBegin + inner + divEnd
}

// writeXHTML writes a narrative element. Unknown elements are omitted but their text is kept.
func writeXHTML(b textWriter, n *cda.Node) {
	if n.Name == "" {
		writeEscaped(b, n.Text)
		return
	}
	name := xhtmlElements.Of(n.Name)
	if n.Name == "list" && n.Attr("listType") == "ordered" {
		name = "ol"
	}
	if n.Name == "list" || n.Name == "item" {
		if caption := n.At("caption"); caption != nil && n.Name == "list" {
			writeText(b, "<p>"+Escaped(caption.Words())+"</p>")
		}
	}
	if name == "" || name == "caption" && n.Parent.Name != "table" {
		if n.Name != "caption" || n.Parent.Name != "list" {
			writeInner(b, n)
		}
		return
	}
	writeText(b, "<"+name)
	writeAttributes(b, n)
	if name == "br" || name == "col" || name == "hr" {
		writeText(b, "/>")
		return
	}
	writeText(b, ">")
	writeInner(b, n)
	writeText(b, "</"+name+">")
}

// writeInner writes the content of a narrative element as XHTML.
func writeInner(b textWriter, n *cda.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		writeXHTML(b, child)
	}
}

// writeAttributes writes the attributes that the output keeps: IDs that entries reference, table structure, emphasis
// and safe links.
func writeAttributes(b textWriter, n *cda.Node) {
	put := func(name, value string) { writeText(b, " "+name+`="`+Escaped(value)+`"`) }
	if id := n.Attr("ID"); id != "" {
		put("id", id)
	}
	for _, name := range []string{"colspan", "rowspan"} {
		if v := n.Attr(name); v != "" && strings.Trim(v, "0123456789") == "" {
			put(name, v)
		}
	}
	if style := strings.ToLower(n.Attr("styleCode")); style != "" && n.Name == "content" {
		if css := xhtmlStyles.Of(style); css != "" {
			put("style", css)
		}
	}
	if href := n.Attr("href"); n.Name == "linkHtml" && (terms.IsURI(href) || strings.HasPrefix(href, "#") ||
		strings.HasPrefix(href, "mailto:")) {
		put("href", href)
	}
}

// Escaped escapes text for XHTML content and attributes.
func Escaped(text string) string {
	if !strings.ContainsAny(text, escapedBytes) {
		return text
	}
	var b strings.Builder
	writeEscaped(&b, text)
	return b.String()
}

const escapedBytes = `&<>"`

func writeEscaped(b textWriter, text string) {
	for {
		at := strings.IndexAny(text, escapedBytes)
		if at < 0 {
			writeText(b, text)
			return
		}
		writeText(b, text[:at])
		switch text[at] {
		case '&':
			writeText(b, "&amp;")
		case '<':
			writeText(b, "&lt;")
		case '>':
			writeText(b, "&gt;")
		case '"':
			writeText(b, "&quot;")
		}
		text = text[at+1:]
	}
}

func writeText(b textWriter, text string) { _, _ = b.WriteString(text) }
