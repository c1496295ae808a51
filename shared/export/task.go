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

// The states of a task.
const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
)

// Reason is the cause of a task's failure: failure_reason of the event (docs/guide/incomplete-records.md).
type Reason string

// The reasons that this version reports.
const (
	TokenRefreshFailure     Reason = "token_refresh_failure"
	ScopePatientMissing     Reason = "scope_patient_missing"
	ResourcePatientFailure  Reason = "resource_patient_failure"
	ResourceInvalidContent  Reason = "resource_invalid_content"
	TEFCANoDocumentsFound   Reason = "tefca_no_documents_found"
	SuppressedPleaseContact Reason = "suppressed_please_contact"
)

const (
	// Budget is the total time for which a task may stay pending, excluding its waits in line, before it fails.
	Budget = 6 * time.Hour
	// maxFailures is the number of consecutive transient failures after which the task fails with their reason.
	maxFailures = 5
)

// Task is one export of one connection's record.
type Task struct {
	ID            string // 32 hex digits
	Tenant        org.Tenant
	ConnectionID  string
	Previous      string // id of the connection's previous task; empty for the first
	Status        Status
	FailureReason Reason
	Stats         webhook.Stats
	Options       Options
	Outcome       []TypeOutcome
	Scope         Scope     // set on success
	Files         []File    // in the order of their links; set on success
	FilesUntil    time.Time // when the files and all other objects of the runs are deleted
	CreatedAt     time.Time
	FinishedAt    time.Time
	SentAt        time.Time // when the last success event was created
	Resends       int64     // success events after the first
	Generation    int64     // incremented by every claim: fences a worker's writes
	Failures      int       // transient failures in a row
	// earliest time of the next claim: the end of its worker's lease or of its deferral
	LeaseUntil   time.Time
	Deferred     bool          // true until LeaseUntil if it is deferred rather than leased
	WaitingSince time.Time     // when it joined its tenant's line (package share); zero if it is not waiting
	Waited       time.Duration // time spent waiting there before
	Progress     webhook.Progress
	ProgressAt   time.Time // when the last progress event was created
	ProgressSent int64     // number of progress events so far
	Checkpoint   string    // key of the checkpoint object; empty before the first
}

// Scope holds the requested and the granted scopes of the patient's authorization, space-separated. Either is empty if
// unknown.
type Scope struct {
	Asked   string `json:"asked,omitempty"`
	Granted string `json:"granted,omitempty"`
}

// CanFailAgain reports whether the task may be retried after another transient failure.
func (t Task) CanFailAgain() bool { return t.Failures+1 < maxFailures }

// Began returns the start of the task's time: its creation plus its waits in line, which do not count.
func (t Task) Began() time.Time { return t.CreatedAt.Add(t.Waited) }

// Ends returns the end of the task's time: a task still pending then fails.
func (t Task) Ends() time.Time { return t.Began().Add(Budget) }

// Missing is the response if the tenant has no such task.
func Missing() error { return fault.Missing("Export not found.").About("task_id") }

// Downloadable returns the task's file with the given name if it can be downloaded at now. Otherwise it returns
// Missing, or fault.Gone with svc_export_expired.
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

// Enqueuer makes workers process a row. The sweeper makes up for a lost message.
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Fail returns the task as failed at the given time, and its failure event (docs/guide/webhook-reference.md, "Body").
// The only error is that of encoding the event.
func (t Task) Fail(reason Reason, at time.Time) (Task, webhook.Event, error) {
	t.Status, t.FailureReason, t.FinishedAt, t.FilesUntil = Failed, reason, at, at.Add(objectGrace)
	event, err := webhook.NewEvent(t.Tenant, webhook.ExportFailed, t.ID, 0, at, webhook.ExportFailure{
		FailureReason: string(reason), OrgConnectionID: t.ConnectionID, TaskID: t.ID, OrgID: t.Tenant.OrgID,
	})
	return t, event, err
}
