// Package r4 owns the FHIR R4 (4.0.1) resources that package ccda makes, as structs with the members that it fills and
// no others, in the order in which FHIR lists them. How two resources of the same id become one is in merge.go.
package r4

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Resource is a pointer to one of the resources of this package.
type Resource interface {
	// Base is what all resources have, for reading and writing.
	Base() *Header
}

// Header begins every resource.
type Header struct {
	ResourceType string      `json:"resourceType"`
	ID           string      `json:"id"`
	Meta         *Meta       `json:"meta,omitempty"`
	Text         *Narrative  `json:"text,omitempty"`
	Extension    []Extension `json:"extension,omitempty" merge:"union"`
}

// Meta has the source of a resource, and the codes of that source that have no member of their own.
type Meta struct {
	Source string   `json:"source,omitempty"`
	Tag    []Coding `json:"tag,omitempty"`
}

// Narrative is XHTML for people.
type Narrative struct {
	Status string `json:"status"`
	Div    string `json:"div"`
	Large  *Large `json:"-"` // in place of Div
}

// Base implements Resource for everything that embeds a Header.
func (h *Header) Base() *Header { return h }

// Reference returns a reference to the resource, without a display text.
func (h *Header) Reference() *Reference {
	return &Reference{Reference: h.ResourceType + "/" + h.ID}
}

// Tag adds codings that are not there yet to meta.tag.
func (h *Header) Tag(codings ...Coding) {
	if len(codings) == 0 {
		return
	}
	if h.Meta == nil {
		h.Meta = &Meta{}
	}
	h.Meta.Tag = AppendNew(h.Meta.Tag, codings...)
}

// JSON writes a resource as one compact line without its end. Texts stand as they are: what is not HTML needs no
// escapes.
func JSON(r Resource) ([]byte, error) {
	var line line
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("r4: encode %s: %w", r.Base().ResourceType, err)
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// line keeps what an encoder writes at once, in no more memory than it takes.
type line []byte

// Write implements io.Writer.
func (l *line) Write(text []byte) (int, error) {
	if *l == nil {
		*l = bytes.Clone(text)
	} else {
		*l = append(*l, text...)
	}
	return len(text), nil
}

// AppendNew appends what a list does not have yet.
func AppendNew[T comparable](list []T, more ...T) []T {
	for _, m := range more {
		known := false
		for _, l := range list {
			known = known || l == m
		}
		if !known {
			list = append(list, m)
		}
	}
	return list
}
