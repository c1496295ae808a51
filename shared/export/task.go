package export

import (
	"context"
	"slices"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Status is a task's state (docs/reference/deviations.md, "Exports").
type Status string

// States of a task.
const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
)

// Reason is the cause of a task's failure, reported as the event's failure_reason (docs/guide/incomplete-records.md).
type Reason string

// Failure reasons that this version reports.
const (
	TokenRefreshFailure     Reason = "token_refresh_failure"
	ScopePatientMissing     Reason = "scope_patient_missing"
	ResourcePatientFailure  Reason = "resource_patient_failure"
	ResourceInvalidContent  Reason = "resource_invalid_content"
	TEFCANoDocumentsFound   Reason = "tefca_no_documents_found"
	SuppressedPleaseContact Reason = "suppressed_please_contact"
)

const (
	// Budget is the time that a task may stay pending before it fails, excluding the task's waits in line.
	Budget = 6 * time.Hour
	// maxFailures is the number of consecutive transient failures after which the task fails with the reason of those
	// failures.
	maxFailures = 5
)

// Task is one export of one connection's record.
type Task struct {
	ID            string // 32 hex digits
	Tenant        org.Tenant
	ConnectionID  string
	Previous      string // connection's previous task; empty for its first task
	Status        Status
	FailureReason Reason
	Stats         webhook.Stats
	Options       Options
	Outcome       []TypeOutcome
	Scope         Scope     // set if the task succeeds
	Files         []File    // in the order of the links; set on success
	FilesUntil    time.Time // when the files and all other objects of the runs are deleted
	CreatedAt     time.Time
	FinishedAt    time.Time
	SentAt        time.Time // creation time of the latest success event
	Resends       int64     // number of success events after the first
	Generation    int64     // incremented by every claim, to fence off earlier workers' writes
	Failures      int       // number of consecutive transient failures
	// earliest time of the next claim: the expiry of the worker's lease, or the end of the deferral
	LeaseUntil   time.Time
	Deferred     bool          // whether the task is deferred, rather than leased, until LeaseUntil
	WaitingSince time.Time     // when the task joined its tenant's line (package share); zero if not waiting
	Waited       time.Duration // total time of earlier waits in line
	Progress     webhook.Progress
	ProgressAt   time.Time // creation time of the latest progress event
	ProgressSent int64     // number of progress events so far
	Checkpoint   string    // key of the checkpoint object; empty before the first checkpoint
}

// Scope holds the requested and granted scopes of the patient's authorization. Each field is a space-separated list, or
// empty if unknown.
type Scope struct {
	Asked   string `json:"asked,omitempty"`
	Granted string `json:"granted,omitempty"`
}

// CanFailAgain reports whether the task may be retried after another transient failure.
func (t Task) CanFailAgain() bool { return t.Failures+1 < maxFailures }

// Began returns the start of the task's time budget: the task's creation time plus its waits in line, which do not
// count.
func (t Task) Began() time.Time { return t.CreatedAt.Add(t.Waited) }

// Ends returns the end of the task's time budget. A task that is still pending at that time fails.
func (t Task) Ends() time.Time { return t.Began().Add(Budget) }

// Missing returns the error for a task that does not exist in the tenant.
func Missing() error { return fault.Missing("Export not found.").About("task_id") }

// Downloadable returns the task's file with the given name if the file can be downloaded at now. Otherwise it returns
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

// Enqueuer sends a message that makes a worker process a row. If the message is lost, the sweeper sends it again.
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Fail returns the task with the status failed at the given time, and the task's failure event
// (docs/guide/webhook-reference.md, "Body"). The only possible error comes from encoding the event.
func (t Task) Fail(reason Reason, at time.Time) (Task, webhook.Event, error) {
	t.Status, t.FailureReason, t.FinishedAt, t.FilesUntil = Failed, reason, at, at.Add(objectGrace)
	event, err := webhook.NewEvent(t.Tenant, webhook.ExportFailed, t.ID, 0, at, webhook.ExportFailure{
		FailureReason: string(reason), OrgConnectionID: t.ConnectionID, TaskID: t.ID, OrgID: t.Tenant.OrgID,
	})
	return t, event, err
}
