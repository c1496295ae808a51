// Package persona owns the sandbox EHR's synthetic people: their identities and every FHIR R4 resource in their
// records, either generated (Builtin) or read from a folder of bundles (LoadDir).
//
// It contains no HTTP, OAuth or search code: it returns complete records, which package fhirserver indexes and serves.
// No resource describes a real person.
package persona

import (
	"encoding/json"
	"sync"
)

// Persona is a synthetic person with a loader for the record. Its fields are available without generating the record,
// as sign-in pages and CapabilityStatements need.
type Persona struct {
	// ID selects the persona on the sign-in page and in tests. It is unique within a sandbox.
	ID string
	// PatientID is the ID of the persona's Patient resource.
	PatientID string
	// Name is the display name on the sign-in page.
	Name string
	// About describes the persona in one sentence for the sign-in page.
	About string
	// Resources is the number of resources that Load returns.
	Resources int
	// Types lists the resource types that may occur in the record, sorted.
	Types []string

	load func() ([]Resource, error)
}

// Resource is a FHIR R4 resource as compact JSON. Every literal reference in Body is relative ("Type/id") and resolves
// within the same record, or refers to the resource itself ("#id").
type Resource struct {
	Type string
	ID   string
	Body json.RawMessage
}

// Load returns the complete record, starting with the Patient. It is built on the first call and then shared, so treat
// it as read-only. An error means that a bundle file could not be read, or a bug in the generator.
func (p Persona) Load() ([]Resource, error) { return p.load() }

// Builtin returns the generated personas, ordered by record size. Their records are identical in every process and on
// every machine.
func Builtin() []Persona {
	specs := builtinSpecs()
	personas := make([]Persona, 0, len(specs))
	for _, s := range specs {
		personas = append(personas, s.persona())
	}

	return personas
}

// Of returns a generated persona with these demographics. sex is a FHIR administrative gender and birth a date. The
// record is that of a healthy adult with a few years of check-ups.
func Of(id, given, family, sex, birth string) Persona {
	return spec{
		id: id, given: given, family: family, gender: sex, birth: birth, size: 75, firstVisit: "2023-01-10",
		visitEvery: 180 * day,
		about:      "A healthy adult with a few years of check-ups.", chronic: code{snomed, "55822004", "Hyperlipidemia"},
	}.persona()
}

func (s spec) persona() Persona {
	return Persona{
		ID:        s.id,
		PatientID: s.patientID(),
		Name:      s.given + " " + s.family,
		About:     s.about,
		Resources: s.size,
		Types:     generatedTypes,
		load:      sync.OnceValues(s.generate),
	}
}
