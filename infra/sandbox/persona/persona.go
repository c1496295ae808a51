// Package persona owns the sandbox EHR's synthetic people, with their identities and every FHIR R4 resource in their
// records. The records are either generated (Builtin) or read from a folder of bundles (LoadDir).
//
// The package doesn't contain any HTTP, OAuth or search code. Persona.Load returns complete records, which package
// fhirserver indexes and serves. The resources don't describe any real person.
package persona

import (
	"encoding/json"
	"sync"
)

// Persona is a synthetic person with a loader for the person's record. Sign-in pages and CapabilityStatements can read
// the fields without generating the record.
type Persona struct {
	// ID selects the persona on the sign-in page and in tests. Each ID is unique within a sandbox.
	ID string
	// PatientID is the ID of the persona's Patient resource.
	PatientID string
	// Name is the display name on the sign-in page.
	Name string
	// About describes the persona in a sentence for the sign-in page.
	About string
	// Resources is the number of resources that Load returns.
	Resources int
	// Types lists the resource types that may occur in the record, in sorted order.
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

// Load returns the complete record, Patient first. The record is built on the first call and then shared, so callers
// must treat it as read-only. An error means that a bundle file could not be read, or that the generator has a bug.
func (p Persona) Load() ([]Resource, error) { return p.load() }

// Builtin returns the generated personas, ordered by record size. The personas' records are identical in every process
// and on every machine.
func Builtin() []Persona {
	specs := builtinSpecs()
	personas := make([]Persona, 0, len(specs))
	for _, s := range specs {
		personas = append(personas, s.persona())
	}

	return personas
}

// Of returns a generated persona with the given demographics. sex is a FHIR administrative gender, and birth is a date.
// The record describes a healthy adult with a few years of check-ups.
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
