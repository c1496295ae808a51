package export

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// collector is one run of a task: it writes what it collects into one segment. Requests are made ahead and side by side,
// but only one goroutine writes, in the order of the checkpoint.
type collector struct {
	*session

	worker     Worker
	task       Task
	base       fhir.Base
	patient    string
	hold       *hold
	saveBy     time.Time // when this run saves what it has and goes on
	state      *checkpoint
	out        *tally // nil between segments
	resumed    bool   // the next link is an earlier run's
	silent     int    // failures in a row that may pass
	begunAgain map[plan.Query]bool
	searches   map[plan.Query]*stream
	reads      map[reference]*stream
	running    sync.WaitGroup
}

// run collects from the task's checkpoint on. It returns nil once the task is finished; a handOverError after it has saved
// task.Checkpoint.
func (w Worker) run(ctx context.Context, task *Task, hold *hold, deadline time.Time) error {
	var pauseBy time.Time
	if !deadline.IsZero() {
		pauseBy = deadline.Add(-stopBefore)
	}
	c, err := w.newCollector(ctx, *task, pauseBy)
	if err != nil {
		return err
	}
	c.hold = hold
	err = c.deliver(ctx)
	pause, ok := errors.AsType[*handOverError](err)
	if !ok {
		if c.out != nil {
			c.out.Abort(context.WithoutCancel(ctx))
		}
		return err
	}
	if err := c.closeSegment(ctx); err != nil {
		return err
	}
	c.state.Tried, task.Progress = pause.tried, c.progress()
	if task.Checkpoint != "" {
		c.state.Spent = append(c.state.Spent, task.Checkpoint)
	}
	key := checkpointKey(*task)
	if err := c.state.save(ctx, w.Files, key); err != nil {
		return err
	}
	task.Checkpoint = key
	return &handOverError{wait: pause.wait, onward: pause.onward}
}

// deliver goes all the way from the checkpoint to the finished task.
func (c *collector) deliver(ctx context.Context) error {
	if err := c.collect(ctx); err != nil {
		return err
	}
	if c.state.Later.size() > 0 {
		wait := roundWait(c.state.Round)
		c.state.nextRound()
		return &handOverError{wait: wait}
	}
	if reason, isLost := c.state.lost(); isLost {
		return &verdict{reason: reason, cause: errLost, outcome: c.outcome()}
	}
	if err := c.closeSegment(ctx); err != nil {
		return err
	}
	if err := c.render(ctx); err != nil {
		return err
	}
	return c.complete(ctx)
}

func (w Worker) newCollector(ctx context.Context, task Task, pauseBy time.Time) (*collector, error) {
	s, err := w.openSession(ctx, task, pauseBy)
	if err != nil {
		return nil, err
	}
	c := &collector{
		session: s, worker: w, task: task, patient: s.current.PatientID.Reveal(),
		searches: map[plan.Query]*stream{}, reads: map[reference]*stream{}, begunAgain: map[plan.Query]bool{}, saveBy: w.Now().Add(saveAfter),
	}
	granted := s.current.Scope
	if granted != "" && !fhir.ParseScopes(granted).Allows("Patient", fhir.Read) {
		return nil, &verdict{reason: ScopePatientMissing, cause: errors.New("granted scopes do not cover Patient")}
	}
	if c.base, err = fhir.ParseBase(s.current.FHIRBase); err != nil {
		return nil, &verdict{reason: SuppressedPleaseContact, cause: err}
	}
	if c.state, err = loadCheckpoint(ctx, w.Files, task.Checkpoint); err != nil {
		return nil, err
	}
	if c.manners.OnceNext { // the next link has been used: the query begins again, what is written stays written once
		c.state.restart()
	}
	c.base = c.base.Knowing(c.state.Own)
	c.resumed = c.state.Next != ""
	digest, err := newDigest(c.state.Digest)
	if err != nil {
		return nil, err
	}
	out, err := w.Files.Create(ctx, segmentKey(task), contentType)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	c.out = &tally{Writer: out, digest: digest}
	return c, nil
}

// collect goes through the stages: the patient, the searches of the plan, what the record refers to, and last what may be
// large.
func (c *collector) collect(ctx context.Context) error {
	ctx, leave := c.untilPause(ctx)
	defer leave()
	ahead, stop := context.WithCancel(ctx)
	defer c.running.Wait()
	defer stop()
	if !c.state.Planned {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	for len(c.state.Queries) > 0 {
		if c.state.full() {
			c.endQuery(c.state.Queries[0], &fhir.RequestError{Class: fhir.TooLarge, Cause: errLimit})
			continue
		}
		if err := c.search(ctx, ahead); err != nil {
			return err
		}
	}
	c.settle()
	if c.state.full() {
		c.state.abandon()
	}
	for len(c.state.Refs) > 0 || len(c.state.Binaries) > 0 {
		todo := &c.state.Refs
		if len(*todo) == 0 {
			todo = &c.state.Binaries
		}
		if err := c.follow(ctx, ahead, todo); err != nil {
			return err
		}
	}
	for len(c.state.Attachments) > 0 {
		if err := c.attach(ctx); err != nil {
			return err
		}
	}
	return nil
}

// untilPause is a context that ends with a handover soon after the moment to pause: a server that is slow to answer must not
// take the time that saving needs.
func (c *collector) untilPause(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.pauseBy.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.pauseBy.Add(lastAnswer).Sub(c.now()), &handOverError{})
}

// begin reads the Patient, which decides whether there is anything to export, and makes the plan.
func (c *collector) begin(ctx context.Context) error {
	patient, err := c.readPatient(ctx)
	if err != nil {
		return err
	}
	capability, err := c.capability(ctx)
	if err != nil {
		return err
	}
	planned := plan.Build(plan.Facts{
		Capability: capability, Granted: c.current.Scope, Manners: c.manners, PatientID: c.patient,
		Types: c.task.Options.Types, Since: c.task.Options.Since,
	})
	c.state.Queries, c.state.Version, c.state.ByURL = planned.Queries, capability.FHIRVersion, planned.Definitions
	c.state.Listed = len(capability.Resources) > 0
	c.state.account("Patient").Answered++
	for _, q := range planned.Queries {
		if q.Type != "" {
			c.state.account(q.Type).Planned = true
		}
	}
	for _, denied := range planned.Denied {
		c.state.account(denied).fail(OutcomeDenied, LossNotGranted, 0)
	}
	c.knownAs(patient)
	c.state.Planned = true
	return c.write(patient, 0)
}

// granted reports whether the authorization allows an access to a type, as far as the server has said what it covers.
func (c *collector) granted(resourceType string, access fhir.Access) bool {
	granted := c.current.Scope
	return granted == "" || fhir.ParseScopes(granted).Allows(resourceType, access)
}

// capability reads what the server says it can do. One that cannot be read, also later, is as good as none: everything is
// asked then.
func (c *collector) capability(ctx context.Context) (fhir.Capability, error) {
	var capability fhir.Capability
	for range 2 { // one that cannot be read as one is asked for twice
		body, err := c.ask(ctx, c.tried(), c.source.Metadata)
		if err != nil {
			return fhir.Capability{}, c.withoutCapability(err)
		}
		if capability, err = fhir.ParseCapability(body); err == nil {
			return capability, nil
		}
	}
	return fhir.Capability{}, nil
}

// withoutCapability says what follows from a statement that was not sent: nil to do without it.
func (c *collector) withoutCapability(err error) error {
	failed, ok := errors.AsType[*fhir.RequestError](err)
	if !ok {
		return err
	}
	isPassing := failed.Class == fhir.Limited || failed.Class == fhir.ServerFault || failed.Class == fhir.Network
	if isPassing && c.task.Setbacks+1 < maxSetbacks {
		return c.passing(err, SuppressedPleaseContact)
	}
	return nil
}

func (c *collector) readPatient(ctx context.Context) (fhir.Resource, error) {
	if !fhir.ValidID(c.patient) {
		return fhir.Resource{}, &verdict{reason: ResourcePatientFailure, cause: errors.New("the token answer named no patient")}
	}
	read := c.reading(reference{Type: "Patient", ID: c.patient})
	found, err := read(ctx, "", c.tried(), fhir.MaxPage)
	if failed, ok := refusedRequest(err); ok && isRefusal(failed) {
		found, err = c.findPatient(ctx, found, err)
	}
	switch {
	case errors.Is(err, errOther):
		return fhir.Resource{}, &verdict{reason: ResourceInvalidContent, cause: err}
	case err != nil:
		return fhir.Resource{}, c.passing(err, ResourcePatientFailure)
	}
	for patient := range found.All() {
		return patient, nil
	}
	return fhir.Resource{}, &verdict{reason: ResourceInvalidContent, cause: errOther} // not reached: both ways have found one
}

// isRefusal reports whether a server that was asked for the Patient may know it by a search.
func isRefusal(failed *fhir.RequestError) bool {
	return failed.Class == fhir.NotFound || failed.Class == fhir.Rejected || failed.Class == fhir.Forbidden
}

// findPatient searches for the Patient where reading it was refused: some servers do no more than that (fhir notes section
// 1.6, quirk table). What reading has come to stands when it is not found; an answer that cannot be read is another matter.
func (c *collector) findPatient(ctx context.Context, unread fhir.Bundle, refusal error) (fhir.Bundle, error) {
	search := c.searching(plan.Query{Type: "Patient", Params: url.Values{"_id": {c.patient}}.Encode()}, c.base)
	found, err := search(ctx, "", 0, fhir.MaxPage)
	if failed, ok := refusedRequest(err); ok && failed.Class != fhir.Content {
		return unread, refusal
	}
	if err != nil {
		return fhir.Bundle{}, err
	}
	for one := range found.All() {
		if one.Type == "Patient" && one.ID == c.patient {
			return one.Alone(), nil
		}
	}
	if found.Unusable > 0 { // it is there, and cannot be told
		return fhir.Bundle{}, &fhir.RequestError{Class: fhir.Content, Status: 200}
	}
	return unread, refusal
}

// tried is how often earlier runs have tried the request that comes next.
func (c *collector) tried() int {
	tried := c.state.Tried
	c.state.Tried = 0
	return tried
}

// scan reads the resource that was asked for; ok is false when body is anything else.
func scan(body []byte, resourceType, id string) (resource fhir.Resource, ok bool) {
	resource, err := fhir.Scan(body)
	return resource, err == nil && resource.Type == resourceType && resource.ID == id
}

// passing turns a failed request that the task cannot do without into a setback or a verdict with reason.
func (c *collector) passing(err error, reason Reason) error {
	failed, ok := errors.AsType[*fhir.RequestError](err)
	if !ok {
		return err
	}
	switch failed.Class {
	case fhir.Limited, fhir.ServerFault, fhir.Network:
		return &setback{reason: reason, wait: failed.RetryAfter, cause: err}
	case fhir.Content:
		reason = ResourceInvalidContent
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
	}
	return &verdict{reason: reason, cause: err}
}

// checkTime asks for a handover when the deadline is near, and to save what there is when that was a while ago. The middle
// of a query is a worse place to save than its end, since some servers forget their pages.
func (c *collector) checkTime() error {
	now := c.now()
	if !c.pauseBy.IsZero() && now.After(c.pauseBy) {
		return &handOverError{}
	}
	if now.After(c.saveBy) && (c.state.Pages == 0 || now.After(c.saveBy.Add(saveAfter))) {
		return &handOverError{onward: true}
	}
	return nil
}
