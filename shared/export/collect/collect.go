// Package collect performs a single run of an export. Starting from the task's checkpoint, it runs four stages
// (patient, searches, references and attachments), or a single stage for a cached record. It writes each resource once,
// in plan order, and then saves a checkpoint or creates the files. Requests are prefetched and run concurrently, but a
// single goroutine makes all decisions and writes all resources.
package collect

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/known"
	"recordbridge/shared/export/manifest"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// Collector holds the dependencies shared by all runs.
type Collector struct {
	Source        source.Opener
	Cache         Cache
	Files         export.Files
	Known         Known
	Now           func() time.Time
	Manifests     manifest.Keys // keys that sign manifests
	Release       string        // name of the service's release, which manifests contain
	AddMetaSource bool          // whether to set an empty meta.source to the resource's origin
}

// Known stores facts learned about the servers behind endpoints. Known returns the zero value for an unknown endpoint.
type Known interface {
	Known(ctx context.Context, endpointID string) (known.Server, error)
	// SaveKnown replaces the value stored for an endpoint. If several exports end at once, facts learned by one of them
	// may be lost.
	SaveKnown(ctx context.Context, endpointID string, server known.Server, until time.Time) error
}

// End is the outcome of a run.
type End struct {
	Result   export.Result
	Task     export.Task // includes any saved checkpoint and, if done, the files, statistics and outcome
	Replaced []string    // keys of objects that are obsolete once the completed task is stored
}

// run continues a task from its checkpoint, up to the creation of its files. Stages receive parts of the run, never the
// run itself.
type run struct {
	files    export.Files
	memory   *memory
	task     export.Task
	session  *source.Session
	held     *tokens.Records // set only for a cached record
	state    *checkpoint.State
	record   *record
	out      *segmentWriter // nil between segments
	schedule schedule
	outage   *outage
	signing  signing
	report   func(webhook.Progress)
}

// Run continues the collection from the task's checkpoint until the record is complete or the run must stop. The run
// stops shortly before deadline, unless deadline is zero. Run passes its progress to report. Every error from Run is an
// internal failure.
func (c Collector) Run(ctx context.Context, task export.Task, deadline time.Time,
	report func(webhook.Progress),
) (End, error) {
	times := newSchedule(c.Now, deadline)
	session, stop, err := c.Source.Open(ctx, task.Tenant, task.ConnectionID, times.pauseBy, task.Checkpoint == "")
	if err != nil || stop.Stops() {
		return End{Result: stop, Task: task}, err
	}
	set := session.Tokens()
	task.Scope = export.Scope{Asked: set.AskedScope, Granted: set.Scope} // recorded even if the export fails
	r := &run{
		files: c.Files, memory: &memory{rows: c.Known, endpoint: session.Profile().Endpoint, now: c.Now},
		task: task, session: session, schedule: times, report: report,
		signing: signing{keys: c.Manifests, release: c.Release},
	}
	if stop, err = r.open(ctx); err != nil || stop.Stops() {
		return End{Result: stop, Task: task}, err
	}
	end, err := r.toTheEnd(ctx, c)
	if err == nil {
		end.Result, err = r.keepDemand(ctx, end.Result)
	}
	if err == nil && end.Result.Saves() {
		return r.save(ctx, end.Result)
	}
	if r.out != nil {
		r.out.abort(ctx)
	}
	return end, err
}

// Errors that end a run although no request failed.
var (
	errNoScope = errors.New("the patient's authorization does not cover the Patient")
	errLost    = errors.New("too many types could not be read")
	errPutOff  = errors.New("some searches are tried again in a next round")
)

// lost returns the error to log for an export without a deliverable record. The error describes the most serious
// failure.
func (r *run) lost() error {
	spot := r.session.Spot(fault.StepSearch, "")
	for _, o := range r.task.Outcome {
		if o.Reason.Worse(export.LossReason(spot.Class)) {
			spot.Class, spot.Status = string(o.Reason), o.Status
		}
	}
	if r.session.GivenUp() {
		spot.Class = "over_time"
	}
	return spot.Failed(errLost)
}

// open loads the checkpoint and opens a segment.
func (r *run) open(ctx context.Context) (stop export.Result, err error) {
	set := r.session.Tokens()
	r.record = &record{patient: set.PatientID.Reveal()}
	if !r.session.Allows("Patient", fhir.Read) {
		withheld := r.session.Spot(fault.StepPatient, string(r.session.Withheld("Patient", fhir.Read)))
		return export.Result{Kind: export.Fatal, Reason: export.ScopePatientMissing, Cause: withheld.Failed(errNoScope)}, nil
	}
	if r.held = set.Records; r.held == nil {
		r.record.base, err = fhir.ParseBase(set.FHIRBase)
	}
	if r.held == nil && r.task.Options.Fixture != "" {
		err = errNoFixture // only a cached record can have a fixture
	}
	if err != nil {
		//nolint:nilerr // the result has it
		return export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: err}, nil
	}
	if r.state, err = checkpoint.Load(ctx, r.files, r.task.Checkpoint); err != nil {
		return export.Result{}, err
	}
	r.outage = &outage{work: &r.state.Work, now: r.schedule.now, began: r.task.Began()}
	// The next link can be used only once, so the query must start again. Resources already written are not rewritten.
	if r.session.Profile().OnceNext {
		r.state.Work.Restart()
	}
	r.record.base = r.record.base.Knowing(r.state.Server.Own)
	begin, limit := r.state.Server.Learned.InitialInFlight(), r.state.Server.Learned.InFlight
	if r.task.Checkpoint == "" && r.held == nil {
		begin, limit = r.memory.expect(ctx)
	}
	r.session.Limiter().Expect(begin, limit)
	r.session.GiveUpBy(r.task.Began().Add(lastRounds))
	if r.state.Work.OneByOne {
		r.session.Limiter().OneByOne()
	}
	r.out, err = newSegment(ctx, r.files, r.task.SegmentKey(), export.JSONLines.ContentType(""), r.state.Output.Digest)
	return export.Result{}, err
}

// toTheEnd continues the export from its checkpoint until its files exist or the run must stop.
func (r *run) toTheEnd(ctx context.Context, with Collector) (End, error) {
	stop, err := r.collect(ctx, with)
	if err == nil && !stop.Stops() && r.session.GivenUp() && r.state.Work.Deferred.Any() {
		r.state.Work.NextRound() // no more requests will be sent, so deferred work counts as missing
		stop, err = r.collect(ctx, with)
	}
	if err != nil || stop.Stops() {
		return End{Result: stop, Task: r.task}, err
	}
	if r.state.Work.Deferred.Any() {
		wait := roundWait(r.state.Work.Round)
		r.state.Work.NextRound()
		because := r.session.Spot(fault.StepSearch, "unavailable").Failed(errPutOff)
		return End{Result: export.Result{Kind: export.Yield, Wait: wait, Cause: because}, Task: r.task}, nil
	}
	if reason, isLost := r.state.Accounts.Lost(); isLost {
		r.task.Outcome = r.delivery().outcome()
		return End{Result: export.Result{Kind: export.Fatal, Reason: reason, Cause: r.lost()}, Task: r.task}, nil
	}
	if err = r.closeSegment(ctx); err != nil {
		return End{}, err
	}
	end, err := r.delivery().all(ctx)
	if err == nil && !end.Result.Stops() && r.held == nil {
		r.state.Server.Learned.AddExperience(r.session.Limiter().Load())
		r.memory.remember(ctx, r.state, r.task.Options)
	}
	return end, err
}

// collect runs the stages in order: the patient, the planned searches, the references, and the attachments. Attachments
// are last because they may be large. An export of a cached record has a single stage.
func (r *run) collect(ctx context.Context, with Collector) (export.Result, error) {
	ctx, leave := r.schedule.untilPause(ctx)
	defer leave()
	w := newWriter(r.session, r.state, r.record, r.task.Options, r.out, with.AddMetaSource)
	if r.held != nil {
		stage := &cached{task: r.task, held: *r.held, state: r.state, pace: r.pace(), writer: w, cache: with.Cache}
		stop, err := stage.all(ctx)
		if stage.outcome != nil {
			r.task.Outcome = stage.outcome
		}
		return stop, err
	}
	first := beginner{task: r.task, session: r.session, state: r.state, record: r.record, memory: r.memory, writer: w}
	searches := newSearcher(r.session, r.state, r.record, r.outage, r.pace(), w)
	follows := newFollower(r.session, r.state, r.record, r.outage, r.pace(), w)
	attachments := newAttacher(r.session, r.state, r.outage, r.pace(), w)
	defer searches.streams.Close()
	defer follows.streams.Close()
	defer attachments.streams.Close()
	step := fault.StepPatient
	for _, stage := range []func(context.Context) (export.Result, error){
		first.all, searches.all, follows.all,
		attachments.all,
	} {
		stop, err := stage(ctx)
		if errors.Is(err, errPause) {
			return export.Result{Kind: export.Yield}, nil
		}
		if err != nil || stop.Stops() {
			return r.at(step, stop), err
		}
		step = fault.StepSearch
	}
	return export.Result{}, nil
}

// at adds the export step to the cause of stop unless the cause already has one.
func (r *run) at(step fault.Step, stop export.Result) export.Result {
	if fault.SpotOf(stop.Cause) == (fault.Spot{}) {
		stop.Cause = r.session.Spot(step, "").Failed(stop.Cause)
	}
	return stop
}

func (r *run) pace() pace {
	return pace{schedule: r.schedule, session: r.session, state: r.state, out: r.out, report: r.report}
}

func (r *run) delivery() delivery {
	return delivery{
		files: r.files, task: r.task, session: r.session, state: r.state, pace: r.pace(), signing: r.signing,
	}
}

// keepDemand delays the next run by the pause that the server demanded. Without this delay, the next run would ignore
// the pause.
func (r *run) keepDemand(ctx context.Context, result export.Result) (export.Result, error) {
	switch result.Kind {
	case export.Save:
		if stop, err := r.session.Wait(ctx); err != nil || stop.Stops() {
			return r.at(fault.StepSearch, stop), err
		}
	case export.Yield, export.Retryable:
		result.Wait = max(result.Wait, r.session.Demanded())
	case export.Done, export.Fatal, export.Outage, export.Superseded:
	}
	return result, nil
}

// closeSegment stores the current segment as an object unless it is empty.
func (r *run) closeSegment(ctx context.Context) error {
	out := r.out
	if out == nil {
		return nil
	}
	r.out = nil
	if out.made.Bytes == 0 {
		out.abort(ctx)
		return nil
	}
	made, digest, err := out.close(ctx)
	if err != nil {
		return err
	}
	r.state.Output.Segments, r.state.Output.Digest = append(r.state.Output.Segments, made), digest
	return nil
}

// save closes the segment and stores a checkpoint for later runs.
func (r *run) save(ctx context.Context, result export.Result) (End, error) {
	if err := r.closeSegment(ctx); err != nil {
		return End{}, err
	}
	r.state.Work.OneByOne = r.session.Limiter().IsOneByOne() || result.Kind == export.Yield && r.session.Demanded() > 0
	r.state.Work.Tried, r.state.Server.Learned.InFlight = result.Tried, r.session.Limiter().ShownLimit()
	r.state.Server.Learned.AddExperience(r.session.Limiter().Load())
	key := r.task.CheckpointKey()
	if err := r.state.Save(ctx, r.files, key); err != nil {
		return End{}, err
	}
	r.task.Checkpoint, r.task.Progress = key, r.state.Progress(0)
	return End{Result: result, Task: r.task}, nil
}
