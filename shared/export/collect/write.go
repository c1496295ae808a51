package collect

import (
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
)

// writer writes each resource of the record once, as a line of the run's segment.
type writer struct {
	run           *run
	owner         owner
	refers        refers
	addMetaSource bool
}

func newWriter(r *run, addMetaSource bool) *writer {
	return &writer{
		run: r, owner: owner{patient: r.patient, known: &r.state.Patient}, refers: refers{run: r}, addMetaSource: addMetaSource,
	}
}

// write appends a resource to the segment, once, and notes what it refers to. It was found after some rounds of following
// references, 0 for what a search has found.
func (w *writer) write(resource fhir.Resource, round int) error {
	if !w.isNew(resource) || !w.belongs(resource) {
		return nil
	}
	address := ""
	if w.isSourced() && fhir.ValidID(resource.ID) {
		address = w.run.base.Join(resource.Type, resource.ID)
	}
	if err := w.line(resource, address); err != nil {
		return err
	}
	w.refers.note(resource, round)
	return nil
}

// writeOwn appends a resource that is known to be the patient's, once. Where it comes from has no address.
func (w *writer) writeOwn(resource fhir.Resource) error {
	if !w.isNew(resource) || !w.isWanted(resource) {
		return nil
	}
	return w.line(resource, "")
}

// isNew notes a resource, and reports whether it was not there before and there is room for it.
func (w *writer) isNew(resource fhir.Resource) bool {
	state := w.run.state
	mark := checkpoint.MarkOf(resource.Type + "/" + resource.ID)
	if resource.ID == "" {
		mark = checkpoint.MarkOf(resource.JSON) // without an id only the content tells resources apart
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
	if err := resource.WriteLine(w.run.out, address); err != nil {
		return err
	}
	w.run.state.Accounts.Count(resource.Type)
	return nil
}

// belongs reports whether a resource that was found is part of this export. One that is another patient's never is,
// whatever search has returned it.
func (w *writer) belongs(resource fhir.Resource) bool {
	switch {
	case resource.Type == "Patient" && resource.ID == w.run.patient:
		return true
	case resource.Type == "Patient", w.owner.of(resource) == anothers: // an include may drag other patients in
		w.run.state.Accounts.Of(resource.Type).LeftOut++
		return false
	}
	return w.isWanted(resource)
}

// isWanted reports whether the options leave a resource in. The Patient always is.
func (w *writer) isWanted(resource fhir.Resource) bool {
	options := w.run.task.Options
	return resource.Type == "Patient" || options.Wants(resource.Type) && options.Changed(resource.LastUpdated)
}

// isSourced reports whether resources get a meta.source where they have none: R4 and later know it. A server that does not
// tell its version is taken for one of R4.
func (w *writer) isSourced() bool {
	version := w.run.state.Server.Version
	return w.addMetaSource && (version == "" || version[0] >= '4')
}
