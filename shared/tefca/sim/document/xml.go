package document

import (
	"bytes"
	"encoding/xml"
)

// node is an XML element or, if it has no name, a text node. A node with neither name nor text represents only its
// children.
type node struct {
	name     string
	pairs    pairs
	words    string
	children []node
}

// pairs holds attributes as alternating names and values. Empty values are omitted.
type pairs []string

func el(name string, attributes pairs, children ...node) node {
	return node{name: name, pairs: attributes, children: children}
}

func words(text string) node { return node{words: text} }

func group(children ...node) node { return node{children: children} }

func each[T any](list []T, one func(T) node) node {
	var all node
	for _, item := range list {
		all.children = append(all.children, one(item))
	}
	return all
}

func when(condition bool, n node) node {
	if condition {
		return n
	}
	return group()
}

// write appends the node's XML to a buffer. Each element starts on a new line, except in narratives, where white space
// is significant.
func (n node) write(to *bytes.Buffer) {
	if n.name == "" {
		escape(to, n.words)
		for _, child := range n.children {
			child.write(to)
		}
		return
	}
	if !isInline(n.name) {
		to.WriteByte('\n')
	}
	to.WriteString("<" + n.name)
	for i := 0; i+1 < len(n.pairs); i += 2 {
		if n.pairs[i+1] != "" {
			to.WriteString(" " + n.pairs[i] + `="`)
			escape(to, n.pairs[i+1])
			to.WriteByte('"')
		}
	}
	if len(n.children) == 0 {
		to.WriteString("/>")
		return
	}
	to.WriteByte('>')
	for _, child := range n.children {
		child.write(to)
	}
	to.WriteString("</" + n.name + ">")
}

func isInline(name string) bool {
	switch name {
	case "content", "th", "td", "given", "family", "suffix":
		return true
	}
	return false
}

// escape writes text with XML escapes. Writing to a buffer can't fail.
func escape(to *bytes.Buffer, text string) { _ = xml.EscapeText(to, []byte(text)) }
