package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// maxPages bounds one search, so that a server whose pages never end cannot hold a worker.
const maxPages = 2000

// collector is one run of a task: it writes what it collects into one segment.
type collector struct {
	*session

	worker  Worker
	task    Task
	base    fhir.Base
	patient string
	state   *checkpoint
	out     Writer
	bytes   int64
	line    []byte
	resumed bool // the next link is an earlier run's
}

// run collects from the task's checkpoint on. It returns nil once the task is finished; a handOverError after it has saved
// task.Checkpoint.
func (w Worker) run(ctx context.Context, task *Task, deadline time.Time) error {
	var pauseBy time.Time
	if !deadline.IsZero() {
		pauseBy = deadline.Add(-stopBefore)
	}
	c, err := w.newCollector(ctx, *task, pauseBy)
	if err != nil {
		return err
	}
	err = c.collect(ctx)
	if err == nil {
		return c.complete(ctx)
	}
	pause, ok := errors.AsType[*handOverError](err)
	if !ok {
		c.out.Abort(context.WithoutCancel(ctx))
		return err
	}
	if err := c.closeSegment(ctx); err != nil {
		return err
	}
	c.state.Tried = c.tried
	if task.Checkpoint != "" {
		c.state.Spent = append(c.state.Spent, task.Checkpoint)
	}
	key := checkpointKey(*task)
	if err := c.state.save(ctx, w.Files, key); err != nil {
		return err
	}
	task.Checkpoint = key
	return &handOverError{wait: pause.wait}
}

func (w Worker) newCollector(ctx context.Context, task Task, pauseBy time.Time) (*collector, error) {
	s, err := w.openSession(ctx, task, pauseBy)
	if err != nil {
		return nil, err
	}
	c := &collector{session: s, worker: w, task: task, patient: s.current.PatientID.Reveal()}
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
	c.tried, c.resumed = c.state.Tried, c.state.Next != ""
	if c.out, err = w.Files.Create(ctx, segmentKey(task), ContentType); err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	return c, nil
}

func (c *collector) collect(ctx context.Context) error {
	if !c.state.Planned {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	for len(c.state.Queries) > 0 {
		if err := c.search(ctx); err != nil {
			return err
		}
	}
	for len(c.state.Refs) > 0 {
		if err := c.follow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the Patient, which decides whether there is anything to export, and makes the plan.
func (c *collector) begin(ctx context.Context) error {
	patient, err := c.readPatient(ctx)
	if err != nil {
		return err
	}
	body, err := c.ask(ctx, c.source.Metadata)
	if err != nil {
		return c.passing(err, SuppressedPleaseContact)
	}
	capability, err := fhir.ParseCapability(body)
	if err != nil {
		return &verdict{reason: ResourceInvalidContent, cause: err}
	}
	plan, denied := buildPlan(capability, c.current.Scope)
	c.state.Queries = plan
	for _, t := range denied {
		c.state.Outcome = append(c.state.Outcome, TypeOutcome{Type: t, Result: OutcomeDenied})
	}
	c.state.Planned = true
	c.state.Outcome = append(c.state.Outcome, TypeOutcome{Type: "Patient", Result: OutcomeOK, Count: 1})
	return c.write(patient)
}

func (c *collector) readPatient(ctx context.Context) (fhir.Resource, error) {
	if !fhir.ValidID(c.patient) {
		return fhir.Resource{}, &verdict{reason: ResourcePatientFailure, cause: errors.New("the token answer named no patient")}
	}
	body, err := c.ask(ctx, func(ctx context.Context) ([]byte, error) { return c.source.Read(ctx, "Patient", c.patient) })
	if err != nil {
		return fhir.Resource{}, c.passing(err, ResourcePatientFailure)
	}
	patient, ok := scan(body, "Patient", c.patient)
	if !ok {
		return fhir.Resource{}, &verdict{reason: ResourceInvalidContent, cause: errors.New("the Patient resource is not usable")}
	}
	return patient, nil
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

// search reads one page of the first query of the plan.
func (c *collector) search(ctx context.Context) error {
	if err := c.checkTime(); err != nil {
		return err
	}
	q := c.state.Queries[0]
	page, err := c.page(ctx, q)
	failed, isFailed := errors.AsType[*fhir.RequestError](err)
	switch {
	case isFailed && c.resumed:
		// Some servers forget their pages between two runs; what is written already is not written again.
		c.resumed = false
		c.state.Next, c.state.Links = "", nil
		return nil
	case isFailed:
		c.endQuery(q, failed)
		return nil
	case err != nil:
		return err
	}
	c.resumed = false
	for _, resource := range page.Resources {
		if resource.Type == "Patient" && resource.ID != c.patient {
			continue // an include may drag other patients in
		}
		if err := c.write(resource); err != nil {
			return err
		}
	}
	c.state.Pages++
	c.state.Lost += page.Unusable
	switch {
	case page.Next == "":
		c.endQuery(q, nil)
	case c.state.Pages >= maxPages || !c.state.turn(page.Next):
		c.endQuery(q, &fhir.RequestError{Class: fhir.Content})
	}
	return nil
}

func (c *collector) page(ctx context.Context, q query) (fhir.Bundle, error) {
	for try := 1; ; try++ {
		body, err := c.ask(ctx, func(ctx context.Context) ([]byte, error) {
			if c.state.Next == "" {
				return c.source.Search(ctx, q.Type, q.params(c.patient))
			}
			return c.source.Page(ctx, c.state.Next)
		})
		if err != nil {
			return fhir.Bundle{}, err
		}
		page, err := fhir.ParseBundle(body)
		if err == nil {
			return page, nil
		}
		if try == 2 {
			return fhir.Bundle{}, &fhir.RequestError{Class: fhir.Content, Status: 200}
		}
	}
}

// endQuery takes the first query off the plan and records how it ended.
func (c *collector) endQuery(q query, failed *fhir.RequestError) {
	result := TypeOutcome{Type: q.Type, Result: OutcomeOK, Count: c.state.Counts[q.Type]}
	switch {
	case failed != nil:
		result.Result, result.Status = outcomeOf(failed, c.state.Pages > 0), failed.Status
	case c.state.Lost > 0:
		result.Result = OutcomeTruncated
	case result.Count == 0:
		result.Result = OutcomeEmpty
	}
	c.state.Outcome = append(c.state.Outcome, result)
	c.state.Queries, c.state.Next, c.state.Pages, c.state.Links, c.state.Lost = c.state.Queries[1:], "", 0, nil, 0
}

func outcomeOf(failed *fhir.RequestError, begun bool) Outcome {
	if begun {
		return OutcomeTruncated
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden:
		return OutcomeDenied
	case fhir.NotFound, fhir.Gone, fhir.Rejected:
		return OutcomeUnsupported
	case fhir.Limited, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network:
	}
	return OutcomeFailed
}

// follow reads the first resource that the record refers to and that is not there yet.
func (c *collector) follow(ctx context.Context) error {
	if err := c.checkTime(); err != nil {
		return err
	}
	ref := c.state.Refs[0]
	resourceType, id, _ := strings.Cut(ref, "/")
	if c.state.isWritten(ref) {
		c.state.Refs = c.state.Refs[1:]
		return nil
	}
	body, err := c.ask(ctx, func(ctx context.Context) ([]byte, error) { return c.source.Read(ctx, resourceType, id) })
	failed, isFailed := errors.AsType[*fhir.RequestError](err)
	if err != nil && !isFailed {
		return err
	}
	c.state.Refs = c.state.Refs[1:]
	if isFailed {
		c.noteRead(resourceType, outcomeOf(failed, false), failed.Status)
		return nil
	}
	resource, ok := scan(body, resourceType, id)
	if !ok {
		c.noteRead(resourceType, OutcomeFailed, 200)
		return nil
	}
	if err := c.write(resource); err != nil {
		return err
	}
	c.noteRead(resourceType, OutcomeOK, 0)
	return nil
}

// noteRead keeps one outcome for all resources of a type that were read by reference; the worst stays.
func (c *collector) noteRead(resourceType string, result Outcome, status int) {
	at := slices.IndexFunc(c.state.Outcome, func(o TypeOutcome) bool { return o.Type == resourceType })
	if at < 0 {
		c.state.Outcome = append(c.state.Outcome, TypeOutcome{Type: resourceType, Result: result})
		at = len(c.state.Outcome) - 1
	}
	entry := &c.state.Outcome[at]
	entry.Count = c.state.Counts[resourceType]
	if result != OutcomeOK {
		entry.Result, entry.Status = result, status
	} else if entry.Result == OutcomeEmpty {
		entry.Result = OutcomeOK
	}
}

// checkTime asks for a handover when the deadline is near.
func (c *collector) checkTime() error {
	if !c.pauseBy.IsZero() && c.now().After(c.pauseBy) {
		return &handOverError{}
	}
	return nil
}
