package export

import (
	"context"
	"slices"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Status is the state of a task (docs/reference/deviations.md, "Exports").
type Status string

// The states.
const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
)

// Reason says why a task failed: failure_reason of the event (docs/guide/incomplete-records.md).
type Reason string

// The reasons that this version can give.
const (
	TokenRefreshFailure     Reason = "token_refresh_failure"
	ScopePatientMissing     Reason = "scope_patient_missing"
	ResourcePatientFailure  Reason = "resource_patient_failure"
	ResourceInvalidContent  Reason = "resource_invalid_content"
	TEFCANoDocumentsFound   Reason = "tefca_no_documents_found"
	SuppressedPleaseContact Reason = "suppressed_please_contact"
)

const (
	// Budget is how long a task may stay pending in all, without its waits in line, before it fails.
	Budget = 6 * time.Hour
	// maxFailures is after how many transient failures in a row the task fails with their reason.
	maxFailures = 5
)

// Task is one export of one connection's record.
type Task struct {
	ID            string // 32 hex digits
	Tenant        org.Tenant
	ConnectionID  string
	Previous      string // id of the connection's task before this one, empty for its first
	Status        Status
	FailureReason Reason
	Stats         webhook.Stats
	Options       Options
	Outcome       []TypeOutcome
	Scope         Scope     // set on success
	Files         []File    // in the order of their links; set on success
	FilesUntil    time.Time // when the files, and whatever else the runs left, are deleted
	CreatedAt     time.Time
	FinishedAt    time.Time
	SentAt        time.Time // when the last success event was made
	Resends       int64     // success events after the first
	Generation    int64     // one more with every claim: what a worker writes is fenced by it
	Failures      int       // transient failures in a row
	// when it can be claimed at the earliest: its worker's lease ends, or it is no longer put off
	LeaseUntil   time.Time
	PutOff       bool          // nobody works on it until LeaseUntil: it is put off, not leased
	WaitingSince time.Time     // when it joined its tenant's line (package share); zero while it does not wait there
	Waited       time.Duration // how long it has waited there before
	Progress     webhook.Progress
	ProgressAt   time.Time // when the last progress event was made
	ProgressSent int64     // progress events so far
	Checkpoint   string    // key of the checkpoint object, empty before the first
}

// Scope is what the patient's authorization was asked for and what it grants, as space-separated scopes. Either is
// empty when it is not known.
type Scope struct {
	Asked   string `json:"asked,omitempty"`
	Granted string `json:"granted,omitempty"`
}

// CanFailAgain reports whether a transient failure leaves the task another try.
func (t Task) CanFailAgain() bool { return t.Failures+1 < maxFailures }

// Began is from when on the task's time counts: its waits in line do not.
func (t Task) Began() time.Time { return t.CreatedAt.Add(t.Waited) }

// Ends returns the end of the task's time: it fails if it is still pending then.
func (t Task) Ends() time.Time { return t.Began().Add(Budget) }

// Missing is the answer for a task that is not there for this tenant.
func Missing() error { return fault.Missing("There is no such export.").About("task_id") }

// Downloadable returns the task's file of a name while it can be downloaded at now: else Missing, or fault.Gone with
// svc_export_expired.
func (t Task) Downloadable(fileName string, now time.Time) (File, error) {
	at := slices.IndexFunc(t.Files, func(f File) bool { return f.Name == fileName })
	if t.Status != Success || at < 0 {
		return File{}, Missing()
	}
	if !now.Before(t.FilesUntil) {
		return File{}, fault.New(fault.Gone, fault.CodeExportExpired,
			"The files of this export have been deleted. Request a new export.")
	}
	return t.Files[at], nil
}

// Enqueuer tells workers to look at a row. A lost message is made up for by the sweeper.
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Fail returns the task as it has failed at a time, and the event that tells of it (docs/guide/webhook-reference.md,
// "Body"). The error is only that of encoding the event.
func (t Task) Fail(reason Reason, at time.Time) (Task, webhook.Event, error) {
	t.Status, t.FailureReason, t.FinishedAt, t.FilesUntil = Failed, reason, at, at.Add(objectGrace)
	event, err := webhook.NewEvent(t.Tenant, webhook.ExportFailed, t.ID, 0, at, webhook.ExportFailure{
		FailureReason: string(reason), OrgConnectionID: t.ConnectionID, TaskID: t.ID, OrgID: t.Tenant.OrgID,
	})
	return t, event, err
}
