// Package persona provides the sandbox EHR's synthetic patients: their identities and complete FHIR R4 records. Builtin
// generates records, and LoadDir reads them from a folder of bundles. No record describes a real person.
//
// The package contains no HTTP, OAuth or search code. Persona.Load returns complete records, which package fhirserver
// indexes and serves.
package persona

import (
	"encoding/json"
	"sync"
)

// Persona is a synthetic person and a loader for the person's record. Its fields are available without generating the
// record, for sign-in pages and CapabilityStatements.
type Persona struct {
	// ID identifies the persona on the sign-in page and in tests. ID is unique within a sandbox.
	ID string
	// PatientID is the ID of the persona's Patient resource.
	PatientID string
	// Name is the display name on the sign-in page.
	Name string
	// About describes the persona in one sentence, shown on the sign-in page.
	About string
	// Resources is the number of resources that Load returns.
	Resources int
	// Types lists, in sorted order, the resource types that may occur in the record.
	Types []string

	load func() ([]Resource, error)
}

// Resource is a FHIR R4 resource encoded as compact JSON. Every literal reference in Body is relative ("Type/id") and
// resolves within the same record, or refers to the resource itself ("#id").
type Resource struct {
	Type string
	ID   string
	Body json.RawMessage
}

// Load returns the complete record, Patient first. The first call builds the record; later calls return the same slice,
// so callers must not modify it. An error indicates an unreadable bundle file or a bug in the generator.
func (p Persona) Load() ([]Resource, error) { return p.load() }

// Builtin returns the generated personas, ordered by record size. Generation is deterministic: records are identical in
// every process and on every machine.
func Builtin() []Persona {
	specs := builtinSpecs()
	personas := make([]Persona, 0, len(specs))
	for _, s := range specs {
		personas = append(personas, s.persona())
	}

	return personas
}

// Of returns a generated persona with the given demographics. sex is a FHIR administrative gender, and birth is a FHIR
// date. The record describes a healthy adult with a few years of check-ups.
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
