package collect

import (
	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// record identifies the patient's record on the server.
type record struct {
	patient string    // patient's id on the server
	base    fhir.Base // includes the server's own base URL if it is known
}

// writer writes each of the record's resources once, as a line in the run's segment.
type writer struct {
	state         *checkpoint.State
	record        *record
	options       export.Options
	out           *segmentWriter
	owner         owner
	references    referenceQueue
	addMetaSource bool
}

func newWriter(
	session *source.Session, state *checkpoint.State, of *record, options export.Options, out *segmentWriter,
	addMetaSource bool,
) *writer {
	return &writer{
		state: state, record: of, options: options, out: out, owner: owner{patient: of.patient, known: &state.Patient},
		references:    referenceQueue{state: state, record: of, options: options, session: session},
		addMetaSource: addMetaSource,
	}
}

// write appends a resource to the segment, unless it is already written, and queues its references. The round argument
// is the number of references followed to reach the resource, or 0 for a search result.
func (w *writer) write(resource fhir.Resource, round int) error {
	if !w.isNew(resource) || !w.belongs(resource) {
		return nil
	}
	address := ""
	if w.isSourced() && fhir.ValidID(resource.ID) {
		address = w.record.base.Join(resource.Type, resource.ID)
	}
	if err := w.line(resource, address); err != nil {
		return err
	}
	w.references.note(resource, round)
	return nil
}

// writeOwn appends a resource that is known to belong to the patient, unless it is already written. The resource has no
// source URL.
func (w *writer) writeOwn(resource fhir.Resource) error {
	if !w.isNew(resource) || !w.isWanted(resource) {
		return nil
	}
	return w.line(resource, "")
}

// isNew records a resource and reports whether it is new and within the limit on distinct resources.
func (w *writer) isNew(resource fhir.Resource) bool {
	state := w.state
	mark := checkpoint.MarkOf(resource.Type + "/" + resource.ID)
	if resource.ID == "" {
		mark = checkpoint.MarkOf(resource.JSON) // a resource without an id is identified only by its content
	}
	if state.IsWritten(mark) {
		return false
	}
	if state.Full() {
		state.Accounts.Limited(resource.Type)
		return false
	}
	state.SetWritten(mark)
	return true
}

func (w *writer) line(resource fhir.Resource, address string) error {
	if err := resource.WriteLine(w.out, address); err != nil {
		return err
	}
	w.state.Accounts.Count(resource.Type)
	return nil
}

// belongs reports whether a found resource is part of this export. A resource that belongs to another patient is never
// part of the export, regardless of which search returned it.
func (w *writer) belongs(resource fhir.Resource) bool {
	switch {
	case resource.Type == "Patient" && resource.ID == w.record.patient:
		return true
	case resource.Type == "Patient", w.owner.of(resource) == ownerOther: // _include may return other patients' records
		w.state.Accounts.Of(resource.Type).LeftOut++
		return false
	}
	return w.isWanted(resource)
}

// isWanted reports whether the export's options include a resource. The Patient is always included.
func (w *writer) isWanted(resource fhir.Resource) bool {
	return resource.Type == "Patient" || w.options.Wants(resource.Type) && w.options.Changed(resource.LastUpdated)
}

// isSourced reports whether to add meta.source to resources that lack it. R4 and later versions define meta.source. A
// server that does not state its version is assumed to use R4.
func (w *writer) isSourced() bool {
	version := w.state.Server.Version
	return w.addMetaSource && (version == "" || version[0] >= '4')
}
