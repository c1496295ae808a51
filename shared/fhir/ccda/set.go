package ccda

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Set collects related documents, such as one response from a health information network. They may concern several
// patients. A fact stated in several documents is emitted once, with the latest document's content, supplemented by the
// others. Each document's Provenance includes the merged fact as a target, so no source is lost. Patients that share an
// identifier are merged. The zero value is an empty set.
type Set struct {
	// Is reports whether the given names, family name, birth date (YYYY-MM-DD) and AdministrativeGender code, which may
	// be empty, are those of the person whom every document must describe. If Is is nil, documents may describe anyone.
	Is func(given, family, birthDate, sex string) bool

	documents []added
	bytes     int // total size of all documents, in bytes
	pieces    int // number of nodes in a piece; 0 to use the default from pieceNodes
}

// added is a document that has been parsed but not converted.
type added struct {
	cda.Parsed

	time        string
	name        string
	fingerprint string // distinguishes documents that have the same time and id
	bytes       int
}

// Add parses a document and adds it to the set. If Add returns ErrInvalid or ErrSubject, the set is unchanged.
func (s *Set) Add(document []byte) error {
	parsed, err := cda.Parse(document, s.pieceNodes(len(document)))
	if err != nil {
		return err
	}
	root := parsed.Root
	if s.Is != nil && !isAbout(root, s.Is) {
		return ErrSubject
	}
	s.documents = append(s.documents, added{
		Parsed: parsed, time: root.At("effectiveTime").Attr("value"), name: emit.NamesOf(root).Document,
		fingerprint: cda.DigestOf(document), bytes: len(document),
	})
	s.bytes += len(document)
	return nil
}

// Small document sets are held in memory as trees. Larger documents are kept as text and parsed in pieces.
const (
	treesUpTo  = 4 << 20 // total size in bytes
	pieceNodes = 128
)

// Emit calls emit once for each resource and empties the set. Documents are ordered by their time and id, regardless of
// the order in which they were added. A document's resources are in document order. Emit returns any error from emit.
func (s *Set) Emit(emit func(Resource) error) (Report, error) {
	c := s.Convert()
	err := c.each(c.store.Take, func(r r4.Resource) error { return c.emit(r, emit) })
	return c.Report, err
}

// WriteLines is like Emit, but writes the resources as NDJSON. Large resources are written without being held in
// memory.
func (s *Set) WriteLines(w io.Writer) (Report, error) {
	c := s.Convert()
	err := c.each(c.store.Take, func(r r4.Resource) error {
		if err := c.sources.Write(w, r); err != nil {
			return err
		}
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return fmt.Errorf("ccda: write a line: %w", err)
		}
		return nil
	})
	return c.Report, err
}

// Convert converts all documents and empties the set.
func (s *Set) Convert() *Converted {
	slices.SortFunc(s.documents, func(a, b added) int {
		return cmp.Or(
			cmp.Compare(a.time, b.time), cmp.Compare(a.name, b.name), cmp.Compare(a.fingerprint, b.fingerprint),
		)
	})
	m := merger{report: Report{Resources: map[string]int{}}, sources: r4.Sources{}}
	if s.pieceNodes(0) > 0 {
		m.packer = &r4.Packer{}
	}
	m.store = emit.NewStore(m.packer)
	patients := samePatients(s.documents)
	for i := range s.documents {
		m.take(s.documents[i], patients[i])
		s.documents[i].Parsed = cda.Parsed{} // frees the document's memory
	}
	s.documents, s.bytes = nil, 0
	for at := range m.store.Len() {
		m.report.Resources[m.store.Type(int32(at))]++
	}
	return &Converted{Report: m.report, store: m.store, sources: m.sources}
}

// pieceNodes returns the number of nodes per piece for a document of the given size. It returns 0 if the document
// should be parsed as a complete tree.
func (s *Set) pieceNodes(bytes int) int {
	if s.pieces == 0 && s.bytes+bytes > treesUpTo {
		return pieceNodes
	}
	return s.pieces
}

// Converted holds a set's resources in less memory than their NDJSON encoding.
type Converted struct {
	Report Report

	store   *emit.Store
	sources r4.Sources
}

// Names iterates over the "Type/id" of every resource.
func (c *Converted) Names() iter.Seq[string] { return c.store.Names() }

// Emit calls emit for each resource. Emit may be called more than once. It returns any error from emit.
func (c *Converted) Emit(emit func(Resource) error) error {
	return c.each(c.store.See, func(r r4.Resource) error { return c.emit(r, emit) })
}

func (c *Converted) emit(r r4.Resource, emit func(Resource) error) error {
	line, err := c.sources.JSON(r)
	if err != nil {
		return err
	}
	return emit(Resource{Type: r.Base().ResourceType, ID: r.Base().ID, JSON: line})
}

// each calls do for each resource that get returns.
func (c *Converted) each(get func(at int32) r4.Resource, do func(r4.Resource) error) error {
	for at := range c.store.Len() {
		r := get(int32(at))
		finish(r)
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// finish fills in members for values that no document has, such as the reason for a missing name.
func finish(r r4.Resource) {
	switch r := r.(type) {
	case *r4.MedicationRequest:
		if r.ReportedBy != nil { // reported[x] has one value, but one document may state a reference and another a flag
			r.Reported = nil
		}
	case *r4.Organization:
		if r.Name == "" {
			r.NameAbsent = datatype.Absent(nil)
		}
	case *r4.Location:
		if r.Name == "" {
			r.NameAbsent = datatype.Absent(nil)
		}
	}
}

// merger merges resources from several documents.
type merger struct {
	store   *emit.Store
	owners  []string   // patient to whom each resource belongs
	packer  *r4.Packer // nil for small documents
	filler  r4.Filler
	report  Report
	sources r4.Sources
}

// take converts a document and adds the resulting resources. If a fact has the same id as a fact about another patient,
// the document is converted again with patient-specific ids.
func (m *merger) take(one added, patientID string) {
	document := cda.Open(one.Parsed, asks())
	made := convert(document, one.bytes, patientID, "", m.packer)
	if m.isOthers(made, patientID) {
		made = convert(document, one.bytes, patientID, patientID, m.packer)
	}
	made.CountMisread(one.Parsed)
	maps.Copy(m.sources, made.Sources())
	from := made.Store()
	for i := range from.Len() {
		at := int32(i)
		place, known := m.store.Find(from.Name(at))
		if !known {
			m.store.Move(from, at)
			m.owners = append(m.owners, patientID)
			continue
		}
		r := from.Get(at)
		m.filler.Fill(r, m.store.Get(place)) // The later document takes precedence.
		m.store.Set(place, r)
		m.store.Pack()
		m.report.Merged++
	}
	m.report.Merged += made.Merged()
	m.report.Documents = append(m.report.Documents, made.Report())
	m.store.PackAll() // Packed resources don't refer to the document's memory.
}

// isOthers reports whether a fact in one patient's document has the same id as a fact about another patient. People,
// locations and software are ignored, because patients share them.
func (m *merger) isOthers(made *emit.Emitter, patientID string) bool {
	from := made.Store()
	for i := range from.Len() {
		at := int32(i)
		switch from.Type(at) {
		case "Practitioner", "PractitionerRole", "Organization", "Location", "Medication":
			continue
		case "Device":
			if device, ok := from.Get(at).(*r4.Device); ok && device.Patient == nil {
				continue
			}
		}
		if place, known := m.store.Find(from.Name(at)); known && m.owners[place] != patientID {
			return true
		}
	}
	return false
}

// samePatients returns the id of each document's Patient. Patients that share an identifier, directly or indirectly,
// get the same id, derived from the smallest identifier.
func samePatients(documents []added) []string {
	toLess := map[string]string{} // maps each identifier to a smaller identifier of the same patient, or to itself
	least := func(key string) string {
		for toLess[key] != key {
			toLess[key] = toLess[toLess[key]]
			key = toLess[key]
		}
		return key
	}
	first := make([]string, len(documents))
	for i, d := range documents {
		keys := cda.PatientKeys(d.Root)
		if keys == nil {
			keys = []string{"document|" + d.name}
		}
		first[i] = keys[0]
		for _, key := range keys {
			if toLess[key] == "" {
				toLess[key] = key
			}
			one, other := least(first[i]), least(key)
			toLess[max(one, other)] = min(one, other)
		}
	}
	ids := make([]string, len(documents))
	for i, key := range first {
		ids[i] = emit.Derive("Patient", least(key))
	}
	return ids
}
