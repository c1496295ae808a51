package fhirserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/sandbox/persona"
)

type record struct {
	byKey  map[string]*indexed
	byType map[string][]*indexed // in record order, so that pages are stable
	all    []*indexed            // in record order, Patient first
	// pointing holds the resources that _revinclude adds, under keys such as "Provenance:target Type/id".
	pointing map[string][]*indexed
}

// indexed is a resource with the values of its search parameters. References have the form "Type/id", and tokens the
// form "system|code". URLs are stored unchanged.
type indexed struct {
	persona.Resource

	values map[string][]string
	// links holds the references that includes can follow, keyed by include name.
	links map[string][]string
	// updated is meta.lastUpdated, or the zero time if the element is missing.
	updated time.Time
}

func (i *indexed) key() string { return i.Type + "/" + i.ID }

func newRecord(p persona.Persona) (*record, error) {
	resources, err := p.Load()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	rec := &record{byKey: map[string]*indexed{}, byType: map[string][]*indexed{}, pointing: map[string][]*indexed{}}
	for _, r := range resources {
		entry, err := newIndexed(r)
		if err != nil {
			return nil, fmt.Errorf("decode %s/%s: %w", r.Type, r.ID, err)
		}
		rec.byKey[entry.key()] = entry
		rec.byType[r.Type] = append(rec.byType[r.Type], entry)
		rec.all = append(rec.all, entry)
	}
	name := provenance().name()
	for _, source := range rec.byType["Provenance"] {
		for _, target := range slices.Compact(slices.Sorted(slices.Values(source.links[name]))) {
			rec.pointing[name+" "+target] = append(rec.pointing[name+" "+target], source)
		}
	}

	return rec, nil
}

func newIndexed(r persona.Resource) (*indexed, error) {
	var head struct {
		Meta struct {
			LastUpdated string `json:"lastUpdated"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(r.Body, &head); err != nil {
		return nil, fmt.Errorf("meta: %w", err)
	}
	entry := &indexed{Resource: r, values: map[string][]string{}}
	if updated, err := time.Parse(time.RFC3339Nano, head.Meta.LastUpdated); err == nil {
		entry.updated = updated
	}
	params := searchParams(r.Type)
	if len(params) == 0 {
		return entry, nil
	}
	var body any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	for _, p := range params {
		entry.values[p.name] = p.extract(body)
	}
	entry.links = links(r.Type, body)

	return entry, nil
}

func (p param) extract(body any) []string {
	var values []string
	for _, element := range p.elements(body) {
		switch p.kind {
		case kindReference:
			target := text(element, "reference")
			if target != "" && (p.target == "" || strings.HasPrefix(target, p.target+"/")) {
				values = append(values, target)
			}
		case kindToken:
			values = append(values, tokens(element)...)
		case kindURI:
			if address, is := element.(string); is {
				values = append(values, address)
			}
		case kindDate: // date searches use the field indexed.updated
		}
	}

	return values
}

func (p param) elements(body any) []any {
	found := make([]any, 0, len(p.paths))
	for _, path := range p.paths {
		found = append(found, follow(body, path)...)
	}

	return found
}

// follow returns the elements at path, descending into every item of each array.
func follow(node any, path []string) []any {
	if items, isList := node.([]any); isList {
		found := make([]any, 0, len(items))
		for _, item := range items {
			found = append(found, follow(item, path)...)
		}

		return found
	}
	if len(path) == 0 {
		return []any{node}
	}
	fields, isObject := node.(map[string]any)
	if !isObject || fields[path[0]] == nil {
		return nil
	}

	return follow(fields[path[0]], path[1:])
}

// tokens returns the tokens for a code, an ID or a CodeableConcept.
func tokens(element any) []string {
	if plain, isText := element.(string); isText {
		return []string{"|" + plain}
	}
	var found []string
	for _, coding := range follow(element, []string{"coding"}) {
		found = append(found, text(coding, "system")+"|"+text(coding, "code"))
	}

	return found
}

func text(node any, name string) string {
	fields, _ := node.(map[string]any)
	value, _ := fields[name].(string)

	return value
}
