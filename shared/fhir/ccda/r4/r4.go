// Package r4 defines the FHIR R4 (4.0.1) resources that package ccda creates. Each struct has only the members that
// package ccda sets, in FHIR's order. Filler merges resources with the same id.
package r4

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Resource is a pointer to one of this package's resources.
type Resource interface {
	// Base returns the fields that all resources share. The caller may modify the returned Header.
	Base() *Header
}

// Header holds the leading members of every resource.
type Header struct {
	ResourceType string      `json:"resourceType"`
	ID           string      `json:"id"`
	Meta         *Meta       `json:"meta,omitempty"`
	Text         *Narrative  `json:"text,omitempty"`
	Extension    []Extension `json:"extension,omitempty" merge:"union"`
}

// Meta holds a resource's source and those of the source's codes that no FHIR element can hold.
type Meta struct {
	Source string   `json:"source,omitempty"`
	Tag    []Coding `json:"tag,omitempty"`
}

// Narrative is XHTML for human readers.
type Narrative struct {
	Status string `json:"status"`
	Div    string `json:"div"`
	Large  *Large `json:"-"` // replaces Div
}

// Base implements Resource for every type that embeds a Header.
func (h *Header) Base() *Header { return h }

// Reference returns a reference to the resource, without display text.
func (h *Header) Reference() *Reference {
	return &Reference{Reference: h.ResourceType + "/" + h.ID}
}

// Tag adds the codings that are not yet in meta.tag.
func (h *Header) Tag(codings ...Coding) {
	if len(codings) == 0 {
		return
	}
	if h.Meta == nil {
		h.Meta = &Meta{}
	}
	h.Meta.Tag = AppendNew(h.Meta.Tag, codings...)
}

// JSON encodes a resource as one compact line without a line feed. HTML characters are not escaped.
func JSON(r Resource) ([]byte, error) {
	var line line
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("r4: encode %s: %w", r.Base().ResourceType, err)
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// line collects an encoder's output without allocating spare capacity.
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

// AppendNew appends the elements that list does not yet contain.
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
