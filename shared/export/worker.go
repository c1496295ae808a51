package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
	"recordbridge/shared/webhook"
)

const (
	// budget is how long a task may stay pending in all before it fails.
	budget = 6 * time.Hour
	// maxSetbacks is after how many transient failures in a row the task fails with their reason.
	maxSetbacks = 5
	// stopBefore is how long before its deadline a run saves its checkpoint and hands over to the next one.
	stopBefore = 75 * time.Second
	// lastAnswer is for how long of that time an answer that is under way is still waited for.
	lastAnswer = 45 * time.Second
	// saveAfter is how long a run works before it saves a checkpoint in between, so that a crash costs no more than that.
	saveAfter = 3 * time.Minute
)

// WorkStore keeps a task while it is worked on. Every write but ClaimTask is fenced by task.Generation and answers
// fault.Conflict when another worker has taken over.
type WorkStore interface {
	// ClaimTask leases a pending task whose lease has ended, raising its generation; else fault.Conflict.
	ClaimTask(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Task, error)
	// ExtendTask moves the end of the lease and stores Progress.
	ExtendTask(ctx context.Context, task Task, leaseUntil time.Time) error
	// ReportTask does the same, stores ProgressAt and ProgressSent, and the event that tells of it, in one transaction.
	ReportTask(ctx context.Context, task Task, leaseUntil time.Time, event webhook.Event) error
	// ContinueTask stores Checkpoint, clears Setbacks and raises the generation of a task that its worker goes on with.
	ContinueTask(ctx context.Context, task Task, leaseUntil time.Time) (Task, error)
	// YieldTask stores Checkpoint and Setbacks and gives the lease back; the sweeper acts at dueAt.
	YieldTask(ctx context.Context, task Task, dueAt time.Time) error
	// FinishTask stores the result and its event in one transaction.
	FinishTask(ctx context.Context, task Task, event webhook.Event) error
}

// Tokens hands out usable access tokens (tokens.Manager).
type Tokens interface {
	Current(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
	Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (tokens.Usable, error)
}

// Care looks after tokens between exports (package refresh).
type Care interface {
	// RefreshDue makes the tokens of an authorized connection due at now, and has them looked at; fault.Conflict when it is
	// not authorized.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
}

// Source reads one patient's FHIR server. Bodies are at most limit bytes, and no document is larger than fhir.MaxPage;
// failed requests are *fhir.RequestError.
type Source interface {
	Metadata(ctx context.Context) (fhir.Answer, error)
	Read(ctx context.Context, resourceType, id string, limit int64) (fhir.Answer, error)
	// Search reads the first page at path: "Observation" or "Patient/p1/$everything".
	Search(ctx context.Context, path string, params url.Values, limit int64) (fhir.Answer, error)
	Page(ctx context.Context, next string, limit int64) (fhir.Answer, error)
	// Attachment opens the content that an attachment's URL names.
	Attachment(ctx context.Context, address string, limit int64) (fhir.File, error)
}

// Portals opens the FHIR server at base, which is asked as manners say; token is asked before every request.
type Portals interface {
	Open(base string, manners plan.Manners, token func(context.Context) (secret.Text, error)) (Source, error)
}

// Manners tells how the platform at the other end of a connection wants to be asked.
type Manners interface {
	Of(ctx context.Context, tenant org.Tenant, connectionID string) (plan.Manners, error)
}

// Files keeps objects. A Writer's object exists once Close has returned nil, and never after Abort.
type Files interface {
	Create(ctx context.Context, key, contentType string) (Writer, error)
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Compose makes one object of others, in their order.
	Compose(ctx context.Context, key, contentType string, parts []string) error
	Delete(ctx context.Context, key string) error
}

// Writer writes one object in bounded memory.
type Writer interface {
	io.Writer
	// Mark remembers the place after the last byte written; Rewind takes back what was written since.
	Mark()
	Rewind(ctx context.Context) error
	Close(ctx context.Context) error
	Abort(ctx context.Context)
}

// Worker carries exports out. Its method is safe to repeat: a duplicate or late call finds nothing to claim.
type Worker struct {
	Store            WorkStore
	Tokens           Tokens
	Care             Care
	Portals          Portals
	Manners          Manners
	Files            Files
	Nudger           Nudger
	Links            Links
	Now              func() time.Time
	Lease            time.Duration
	Retention        time.Duration
	SendDownloadLink bool // send download_link too, whose removal date has passed
	PlainLines       bool // leave meta.source as the server has it
}

// Work runs a task until it is finished, has failed, or the deadline is near; then it hands over to a next call
// through the queue. The error is our own fault: the task stays pending and the sweeper tries again.
func (w Worker) Work(ctx context.Context, tenant org.Tenant, taskID string, deadline time.Time) error {
	now := w.Now()
	task, err := w.Store.ClaimTask(ctx, tenant, taskID, now, now.Add(w.Lease))
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim task: %w", err)
	}
	if now.Sub(task.CreatedAt) > budget {
		return w.fail(ctx, task, SuppressedPleaseContact)
	}
	for {
		err := w.stretch(ctx, &task, deadline)
		saved, ok := errors.AsType[*handOverError](err)
		if !ok || !saved.onward {
			return w.conclude(context.WithoutCancel(ctx), task, err)
		}
		task, err = w.Store.ContinueTask(ctx, task, w.Now().Add(w.Lease))
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("continue task: %w", err)
		}
	}
}

// stretch works on the task from its checkpoint to its end or to its next checkpoint, and keeps the lease meanwhile.
func (w Worker) stretch(ctx context.Context, task *Task, deadline time.Time) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hold := &hold{}
	beats := w.heartbeat(ctx, *task, hold, stop)
	err := w.run(ctx, task, hold, deadline)
	if errors.Is(context.Cause(ctx), errTakenOver) {
		err = errTakenOver // whatever failed on the way out
	}
	stop(nil)
	<-beats
	return err
}

// errTakenOver ends a run whose task another worker has claimed.
var errTakenOver = errors.New("another worker has taken the task over")

// setback is a failure that may pass: the task is tried again a few times, then fails with the reason.
type setback struct {
	reason Reason
	wait   time.Duration // what the other side asked for
	cause  error
}

func (s *setback) Error() string { return string(s.reason) + ": " + s.cause.Error() }
func (s *setback) Unwrap() error { return s.cause }

// verdict is a failure that ends the task.
type verdict struct {
	reason  Reason
	cause   error
	outcome []TypeOutcome // how far every type came, where that is why
}

func (v *verdict) Error() string { return string(v.reason) + ": " + v.cause.Error() }
func (v *verdict) Unwrap() error { return v.cause }

// conclude turns the end of a run into the task's next state.
func (w Worker) conclude(ctx context.Context, task Task, err error) error {
	final, isFinal := errors.AsType[*verdict](err)
	passing, isPassing := errors.AsType[*setback](err)
	saved, isSaved := errors.AsType[*handOverError](err)
	switch {
	case err == nil, errors.Is(err, errTakenOver):
		return nil
	case isSaved:
		task.Setbacks = 0
		return w.yield(ctx, task, saved.wait)
	case isFinal && (errors.Is(err, tokens.ErrRefused) || errors.Is(err, tokens.ErrNothingToRenew)):
		return w.refused(ctx, task, final.reason)
	case isFinal:
		task.Outcome = final.outcome
		return w.fail(ctx, task, final.reason)
	case isPassing && task.Setbacks+1 >= maxSetbacks:
		return w.fail(ctx, task, passing.reason)
	case isPassing:
		task.Setbacks++
		return w.yield(ctx, task, max(passing.wait, time.Duration(task.Setbacks)*15*time.Second))
	}
	return fmt.Errorf("export: %w", err)
}

// refused fails a task whose refresh token was refused, or that never had one. What that means for the connection is not decided here: its
// tokens become due, before the task fails, so that a crash in between loses nothing.
func (w Worker) refused(ctx context.Context, task Task, reason Reason) error {
	err := w.Care.RefreshDue(ctx, task.Tenant, task.ConnectionID, w.Now())
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("make tokens due: %w", err)
	}
	return w.fail(ctx, task, reason)
}

func (w Worker) yield(ctx context.Context, task Task, wait time.Duration) error {
	wait = min(wait, 15*time.Minute)
	if err := w.Store.YieldTask(ctx, task, w.Now().Add(wait+w.Lease)); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("yield task: %w", err)
	}
	// Lost nudges are made up for by the sweeper.
	_ = w.Nudger.NudgeTask(ctx, task.Tenant, task.ID, wait)
	return nil
}
