package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// narrativeOf turns the text of a section into XHTML as FHIR allows it (narrative.html): no scripts, forms, styles or addresses
// of programs. It is nil when there are no words.
func narrativeOf(text *node) *r4.Narrative {
	if text.words() == "" {
		return nil
	}
	var b strings.Builder
	for child := text.first; child != nil; child = child.next {
		writeXHTML(&b, child)
	}
	return &r4.Narrative{Status: "generated", Div: xhtml(b.String())}
}

func xhtml(inner string) string {
	return `<div xmlns="http://www.w3.org/1999/xhtml">` + inner + `</div>`
}

// xhtmlElements has the element of XHTML for those of CDA's narrative block (StrucDoc.Text) that have one.
const xhtmlElements = `
paragraph p
content span
table table
thead thead
tbody tbody
tfoot tfoot
tr tr
th th
td td
caption caption
colgroup colgroup
col col
item li
list ul
sub sub
sup sup
br br
linkHtml a
footnote span
renderMultiMedia span
p p
b b
i i
u u
ul ul
ol ol
li li
div div
span span
strong b
em i
h1 h1
h2 h2
h3 h3
hr hr
pre pre
`

// writeXHTML writes an element of the narrative. What is no element of it is left out around its words.
func writeXHTML(b *strings.Builder, n *node) {
	if n.name == "" {
		b.WriteString(escaped(n.text))
		return
	}
	name := lookup(xhtmlElements, n.name)
	if n.name == "list" && n.attr("listType") == "ordered" {
		name = "ol"
	}
	if n.name == "list" || n.name == "item" {
		if caption := n.at("caption"); caption != nil && n.name == "list" {
			b.WriteString("<p>" + escaped(caption.words()) + "</p>")
		}
	}
	if name == "" || name == "caption" && n.parent.name != "table" {
		if n.name != "caption" || n.parent.name != "list" {
			writeInner(b, n)
		}
		return
	}
	b.WriteString("<" + name)
	writeAttributes(b, n)
	if name == "br" || name == "col" || name == "hr" {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	writeInner(b, n)
	b.WriteString("</" + name + ">")
}

func writeInner(b *strings.Builder, n *node) {
	for child := n.first; child != nil; child = child.next {
		writeXHTML(b, child)
	}
}

// writeAttributes keeps what entries refer to (ID), the shape of tables, emphasis, and links that a page may follow.
func writeAttributes(b *strings.Builder, n *node) {
	put := func(name, value string) { b.WriteString(" " + name + `="` + escaped(value) + `"`) }
	if id := n.attr("ID"); id != "" {
		put("id", id)
	}
	for _, name := range []string{"colspan", "rowspan"} {
		if v := n.attr(name); v != "" && strings.Trim(v, "0123456789") == "" {
			put(name, v)
		}
	}
	if style := strings.ToLower(n.attr("styleCode")); style != "" && n.name == "content" {
		if css := lookup("\nbold font-weight: bold\nitalics font-style: italic\nunderline text-decoration: underline\n", style); css != "" {
			put("style", css)
		}
	}
	if href := n.attr("href"); n.name == "linkHtml" && (isURI(href) || strings.HasPrefix(href, "#") || strings.HasPrefix(href, "mailto:")) {
		put("href", href)
	}
}

// escaped writes a text for XHTML, between elements and in attributes.
func escaped(text string) string {
	if !strings.ContainsAny(text, `&<>"`) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch text[i] {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
