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

// Task statuses.
const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
)

// Reason is the cause of a task's failure, reported as the event's failure_reason (docs/guide/incomplete-records.md).
type Reason string

// Failure reasons reported by this version.
const (
	TokenRefreshFailure     Reason = "token_refresh_failure"
	ScopePatientMissing     Reason = "scope_patient_missing"
	ResourcePatientFailure  Reason = "resource_patient_failure"
	ResourceInvalidContent  Reason = "resource_invalid_content"
	TEFCANoDocumentsFound   Reason = "tefca_no_documents_found"
	SuppressedPleaseContact Reason = "suppressed_please_contact"
)

const (
	// Budget is the time that a task may stay pending before it fails, excluding time spent waiting in line.
	Budget = 6 * time.Hour
	// maxFailures is the number of consecutive transient failures at which a task fails, with the last failure's
	// reason.
	maxFailures = 5
)

// Task is a single export of a connection's record.
type Task struct {
	ID            string // 32 hex digits
	Tenant        org.Tenant
	ConnectionID  string
	Previous      string // previous task of the connection; empty for its first task
	Status        Status
	FailureReason Reason
	Stats         webhook.Stats
	Options       Options
	Outcome       []TypeOutcome
	Scope         Scope     // set on success
	Files         []File    // in link order; set on success
	Manifest      Manifest  // set on success
	FilesUntil    time.Time // time at which the files and the runs' other objects are deleted
	CreatedAt     time.Time
	FinishedAt    time.Time
	SentAt        time.Time // creation time of the latest success event
	Resends       int64     // number of success events after the first
	Generation    int64     // incremented by every claim, to fence off writes by workers with earlier claims
	Failures      int       // number of consecutive transient failures
	// earliest time of the next claim: when the worker's lease expires or the deferral ends
	LeaseUntil   time.Time
	Deferred     bool          // whether the task is deferred rather than leased until LeaseUntil
	WaitingSince time.Time     // when the task joined its tenant's line (package share); zero if it is not waiting
	Waited       time.Duration // total time of earlier waits in line
	Progress     webhook.Progress
	ProgressAt   time.Time // creation time of the latest progress event
	ProgressSent int64     // number of progress events so far
	Checkpoint   string    // key of the checkpoint object; empty before the first checkpoint
}

// Scope holds the requested and granted scopes of a patient's authorization. Each field is a space-separated list, or
// empty if unknown.
type Scope struct {
	Asked   string `json:"asked,omitempty"`
	Granted string `json:"granted,omitempty"`
}

// CanFailAgain reports whether the task may be retried after another transient failure.
func (t Task) CanFailAgain() bool { return t.Failures+1 < maxFailures }

// Began returns the start of the task's time budget: the creation time plus the time spent waiting in line.
func (t Task) Began() time.Time { return t.CreatedAt.Add(t.Waited) }

// Ends returns the end of the task's time budget. A task that is still pending at the end of its time budget fails.
func (t Task) Ends() time.Time { return t.Began().Add(Budget) }

// Missing returns the error for a task that does not exist in the tenant.
func Missing() error { return fault.Missing("Export not found.").About("task_id") }

// Downloadable returns the task's file or manifest with the given name if it can be downloaded at time now. If the file
// does not exist, Downloadable returns the error from Missing. If the file has expired, it returns fault.Gone with
// svc_export_expired.
func (t Task) Downloadable(fileName string, now time.Time) (File, error) {
	files := t.Files
	if t.Manifest.Key != "" {
		files = append(slices.Clone(files), File{Name: ManifestName, ContentType: ManifestType, Key: t.Manifest.Key})
	}
	at := slices.IndexFunc(files, func(f File) bool { return f.Name == fileName })
	if t.Status != Success || at < 0 {
		return File{}, Missing()
	}
	if !now.Before(t.FilesUntil) {
		return File{}, fault.New(fault.Gone, fault.CodeExportExpired,
			"The files of this export have been deleted. Request a new export.")
	}
	return files[at], nil
}

// Enqueuer sends a message for a worker to process a row. If the message is lost, the sweeper resends it.
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Fail returns a copy of the task that failed at the given time, and its failure event
// (docs/guide/webhook-reference.md, "Body"). It returns an error only if encoding the event fails.
func (t Task) Fail(reason Reason, at time.Time) (Task, webhook.Event, error) {
	t.Status, t.FailureReason, t.FinishedAt, t.FilesUntil = Failed, reason, at, at.Add(objectGrace)
	event, err := webhook.NewEvent(t.Tenant, webhook.ExportFailed, t.ID, 0, at, webhook.ExportFailure{
		FailureReason: string(reason), OrgConnectionID: t.ConnectionID, TaskID: t.ID, OrgID: t.Tenant.OrgID,
	})
	return t, event, err
}
