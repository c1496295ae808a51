package datatype

import (
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// writePlain writes the content of a narrative element without markup. Each paragraph, list item and table row becomes
// a line, with cells separated by tabs. Text without elements keeps its line breaks.
func writePlain(b textWriter, n *cda.Node) {
	if text, isOnly := n.OnlyText(); isOnly {
		writeText(b, strings.TrimSpace(text))
		return
	}
	w := lineWriter{to: b}
	w.inner(n)
	w.end()
}

// lineWriter writes lines of text.
type lineWriter struct {
	to      textWriter
	isBegun bool // whether a line has been written
	line    strings.Builder
}

// end ends the current line unless it is empty.
func (w *lineWriter) end() {
	if line := strings.Trim(w.line.String(), " \t"); line != "" {
		if w.isBegun {
			_ = w.to.WriteByte('\n')
		}
		writeText(w.to, line)
		w.isBegun = true
	}
	w.line.Reset()
}

func (w *lineWriter) inner(n *cda.Node) {
	number := 0
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if child.Name == "item" || child.Name == "li" {
			number++
		}
		w.write(child, number)
	}
}

// write writes a text node or an element. number is a list item's number.
func (w *lineWriter) write(n *cda.Node, number int) {
	switch n.Name {
	case "":
		w.words(n.Text)
	case "br":
		w.end()
	case "td", "th":
		w.inner(n)
		w.line.WriteByte('\t')
	case "item", "li":
		w.end()
		w.line.WriteString(mark(n.Parent, number))
		w.inner(n)
		w.end()
	case "paragraph", "p", "div", "list", "ul", "ol", "table", "thead", "tbody", "tfoot", "tr", "caption", "h1", "h2",
		"h3", "hr", "pre":
		w.end()
		w.inner(n)
		w.end()
	default:
		w.inner(n)
	}
}

// words writes text, collapsing each run of white space to a single space.
func (w *lineWriter) words(text string) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		if text != "" {
			w.space()
		}
		return
	}
	if strings.TrimLeft(text, " \t\r\n") != text {
		w.space()
	}
	w.line.WriteString(strings.Join(fields, " "))
	if strings.TrimRight(text, " \t\r\n") != text {
		w.space()
	}
}

// space adds a space within a line, unless the line already ends with one.
func (w *lineWriter) space() {
	if line := w.line.String(); line != "" && !strings.HasSuffix(line, " ") && !strings.HasSuffix(line, "\t") {
		w.line.WriteByte(' ')
	}
}

// mark returns the prefix of a list item, such as "1. " or "- ".
func mark(list *cda.Node, number int) string {
	if list.Name == "ol" || list.Attr("listType") == "ordered" {
		return strconv.Itoa(number) + ". "
	}
	return "- "
}
