package collect

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/known"
	"recordbridge/shared/export/manifest"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
)

// beginner runs an export's first stage, which reads the Patient and creates the plan.
type beginner struct {
	task    export.Task
	session *source.Session
	state   *checkpoint.State
	record  *record
	memory  *memory
	writer  *writer
}

// all reads the Patient and creates the plan, unless an earlier run has already created it. If the Patient is
// unreadable, the export fails.
func (b beginner) all(ctx context.Context) (export.Result, error) {
	if b.state.Server.Planned {
		return export.Result{}, nil
	}
	tried := b.state.Work.TakeTried() // the number of earlier attempts applies to only one of the two requests
	b.session.Statement(ctx, tried)
	patient, stop, err := b.readPatient(ctx, tried)
	if err != nil || stop.Stops() {
		return stop, err
	}
	capability, stop, err := b.capability(ctx)
	if err != nil || stop.Stops() {
		return stop, err
	}
	facts := plan.Facts{
		Capability: capability, Granted: b.session.Tokens().Scope, Profile: b.session.Profile(), PatientID: b.record.patient,
		Types: b.task.Options.Types, Since: b.task.Options.Since,
	}
	b.memory.server = b.memory.server.Of(known.ReleaseOf(capability.Software, capability.Release, capability.Date))
	facts.Attaches, _ = b.memory.server.AttachesProvenance(b.memory.now())
	planned := plan.Build(facts)
	server, accounts := &b.state.Server, &b.state.Accounts
	server.Version, server.ByURL = capability.FHIRVersion, planned.Definitions
	server.Software = manifest.SoftwareOf(capability.Software, capability.Release)
	server.Listed, server.Learned.ByID = len(capability.Resources) > 0, planned.ByID
	b.begin(facts, planned.Queries)
	accounts.Of("Patient").Answer("")
	for _, q := range planned.Queries {
		if q.Type != "" {
			accounts.Of(q.Type).Planned = true
		}
	}
	for _, denied := range planned.Denied {
		accounts.Of(denied).Fail(export.OutcomeDenied, b.session.Withheld(denied, fhir.Search), 0)
	}
	b.writer.references.knownAs(patient)
	server.Planned = true
	return export.Result{}, b.writer.write(patient, 0)
}

// begin queues the searches in an order that depends on what is known about the server.
func (b beginner) begin(facts plan.Facts, queries []plan.Query) {
	learned, capability := &b.state.Server.Learned, facts.Capability
	learned.Release = b.memory.server.Release
	learned.PageSize, learned.MaxSize = b.memory.server.PageSize(b.memory.now())
	learned.Batches = capability.Batches && len(b.session.Profile().Query) == 0 && b.memory.server.Batches(b.memory.now())
	answered, trials := b.unlisted(facts)
	b.state.Work.Queries, learned.Last = b.memory.last(slices.Concat(queries, answered), learned.Batches)
	b.state.Work.Queries = append(b.state.Work.Queries, trials...)
	_, isKnown := b.memory.server.AttachesProvenance(b.memory.now())
	learned.MayAttach = !b.memory.isNone() && !isKnown && plan.MayAttach(facts)
}

// capability reads the server's CapabilityStatement. If the request keeps failing, the export continues without a
// CapabilityStatement and requests every type.
func (b beginner) capability(ctx context.Context) (fhir.Capability, export.Result, error) {
	capability, answer, err := b.session.Capability(ctx)
	failed := answer.Failed
	switch {
	case err != nil || answer.Stop.Stops():
		return fhir.Capability{}, answer.Stop, err
	case failed == nil:
		return capability, export.Result{}, nil
	case isPassing(failed.Class) && b.task.CanFailAgain():
		return fhir.Capability{}, b.failure(fault.StepMetadata, failed, export.SuppressedPleaseContact), nil
	}
	return fhir.Capability{}, export.Result{}, nil
}

func (b beginner) readPatient(ctx context.Context, tried int) (fhir.Resource, export.Result, error) {
	if !fhir.ValidID(b.record.patient) { // the token response contained no valid patient ID
		return fhir.Resource{}, export.Result{
			Kind: export.Fatal, Reason: export.ResourcePatientFailure,
			Cause: b.session.Spot(fault.StepIdentity, "no_patient").Failed(errNoPatient),
		}, nil
	}
	found, err := b.session.Read("Patient", b.record.patient)(ctx, source.Wanted{Tried: tried, Limit: fhir.MaxPage})
	if err == nil && found.Failed != nil && isRefusal(found.Failed.Class) {
		found, err = b.findPatient(ctx, found)
	}
	switch {
	case err != nil || found.Stop.Stops():
		return fhir.Resource{}, found.Stop, err
	case found.Failed != nil:
		return fhir.Resource{}, b.failure(fault.StepPatient, found.Failed, export.ResourcePatientFailure), nil
	}
	for patient := range found.All() {
		return patient, export.Result{}, nil
	}
	// unreachable: a successful read or search contains a Patient
	return fhir.Resource{}, export.Result{Kind: export.Fatal, Reason: export.ResourceInvalidContent}, nil
}

// findPatient searches for the Patient after the server refused to read it, because some servers support only searches
// (docs/reference/deviations.md, "Exports"). If the search finds nothing, findPatient returns the result of the failed
// read. If the search response is unreadable, findPatient returns the failure of the search.
func (b beginner) findPatient(ctx context.Context, unread source.Page) (source.Page, error) {
	search := b.session.Search(
		plan.Query{Type: "Patient", Params: url.Values{"_id": {b.record.patient}}.Encode()}, b.record.base,
	)
	found, err := search(ctx, source.Wanted{Limit: fhir.MaxPage})
	switch {
	case err != nil || found.Stop.Stops():
		return found, err
	case found.Failed != nil && found.Failed.Class != fhir.Content:
		return unread, nil
	case found.Failed != nil:
		return found, nil
	}
	for one := range found.All() {
		if one.Type == "Patient" && one.ID == b.record.patient {
			return source.Page{Bundle: one.Alone()}, nil
		}
	}
	if found.Unusable > 0 { // the Patient exists but is unreadable
		return source.Page{Failed: &fhir.RequestError{Class: fhir.Content, Status: 200}}, nil
	}
	return unread, nil
}

// isRefusal reports whether a search might find the Patient although the read failed with the given class.
func isRefusal(class fhir.Class) bool {
	return class == fhir.NotFound || class == fhir.Rejected || class == fhir.Forbidden
}

// isPassing reports whether a failure is temporary and unrelated to the requested resource.
func isPassing(class fhir.Class) bool {
	return class == fhir.Limited || class == fhir.ServerFault || class == fhir.Network
}

// errNoPatient means that the token response contained no valid patient ID.
var errNoPatient = errors.New("the portal has not said whose record it is")

// failure returns the export's result after a required request failed.
func (b beginner) failure(step fault.Step, failed *fhir.RequestError, reason export.Reason) export.Result {
	because := b.session.Spot(step, "").Failed(failed)
	switch {
	case isPassing(failed.Class):
		return export.Result{Kind: export.Retryable, Reason: reason, Wait: failed.RetryAfter, Cause: because}
	case failed.Class == fhir.Content:
		reason = export.ResourceInvalidContent
	}
	return export.Result{Kind: export.Fatal, Reason: reason, Cause: because}
}
