package persona

import (
	"encoding/json"
	"sync"
)

// Persona is one synthetic person and the way to their record. The fields are known without building the record, so
// that a sign-in page or a CapabilityStatement costs no generation.
type Persona struct {
	// ID is how a person or a test picks the persona, unique in one sandbox.
	ID string
	// PatientID is the id of the persona's Patient resource.
	PatientID string
	// Name is shown on the sign-in page.
	Name string
	// About is one sentence for the sign-in page.
	About string
	// Resources is how many resources Load returns.
	Resources int
	// Types are the resource types that may occur in the record, sorted.
	Types []string

	load func() ([]Resource, error)
}

// Resource is one FHIR R4 resource as compact JSON. Every literal reference in Body is relative ("Type/id") and
// resolves within the same record, or points into the resource itself ("#id").
type Resource struct {
	Type string
	ID   string
	Body json.RawMessage
}

// Load returns the whole record, Patient first. It is built on the first call and shared afterwards: treat it as
// read-only. The error is that of reading a bundle file, or of a bug in the generator.
func (p Persona) Load() ([]Resource, error) { return p.load() }

// Builtin returns the generated personas, smallest record first. Their records are the same bytes in every process
// and on every machine.
func Builtin() []Persona {
	specs := builtinSpecs()
	personas := make([]Persona, 0, len(specs))
	for _, s := range specs {
		personas = append(personas, Persona{
			ID:        s.id,
			PatientID: s.patientID(),
			Name:      s.given + " " + s.family,
			About:     s.about,
			Resources: s.size,
			Types:     generatedTypes(),
			load:      sync.OnceValues(s.generate),
		})
	}

	return personas
}
