package cda

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the text of an element and its content. White space is collapsed to single spaces.
func (n *Node) Words() string {
	if n == nil {
		return ""
	}
	if text, isOnly := n.OnlyText(); isOnly && isSpaced(text) {
		return text
	}
	var text strings.Builder
	(&words{text: &text}).node(n)
	return text.String()
}

// OnlyText returns the text of an element whose only child is a text node.
func (n *Node) OnlyText() (text string, ok bool) {
	only := n.FirstChild()
	if only == nil || only.Name != "" || only.NextSibling() != nil {
		return "", false
	}
	return only.Text, true
}

// HasWords reports whether Words would return a nonempty string.
func (n *Node) HasWords() bool {
	if n == nil {
		return false
	}
	if strings.IndexFunc(n.Text, isNoSpace) >= 0 {
		return true
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if child.HasWords() {
			return true
		}
	}
	return false
}

func isNoSpace(r rune) bool { return !unicode.IsSpace(r) }

// isSpaced reports whether text consists of ASCII words separated by single spaces.
func isSpaced(text string) bool {
	wasSpace := true
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || c < ' ' || c == ' ' && wasSpace {
			return false
		}
		wasSpace = c == ' '
	}
	return text == "" || !wasSpace
}

// words writes words separated by single spaces.
type words struct {
	text interface { // reports write errors when flushed
		io.StringWriter
		io.ByteWriter
	}
	isBegun bool
	isApart bool // whether white space precedes the next word
}

func (w *words) node(n *Node) {
	w.add(n.Text)
	w.isApart = w.isApart || separates(n.Name)
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.node(child)
	}
}

func (w *words) add(text string) {
	for text != "" {
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end != 0 {
			if end < 0 {
				end = len(text)
			}
			if w.isApart && w.isBegun {
				_ = w.text.WriteByte(' ')
			}
			_, _ = w.text.WriteString(text[:end])
			w.isApart, w.isBegun = false, true
			text = text[end:]
			continue
		}
		w.isApart = true
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
}

// Write appends the text of an element and its content to text, verbatim.
func (n *Node) Write(text *strings.Builder) {
	text.WriteString(n.Text)
	if separates(n.Name) {
		text.WriteByte(' ')
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		child.Write(text)
	}
}

// separates reports whether a narrative element, such as a table cell, separates its words from the preceding ones.
func separates(name string) bool {
	switch name {
	case "br", "tr", "td", "th", "item", "paragraph", "caption", "content":
		return true
	}
	return false
}
