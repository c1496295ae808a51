// Package export owns the bulk export of one patient's record: the task and its states, how a request finds or opens
// one, the collection loop with its checkpoints, the statistics and outcome, the failure reasons, and the download
// links. It reads FHIR through a Source and writes through Files; it knows no HTTP and no AWS.
package export

import (
	"context"
	"slices"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Status is the state of a task (decisions section 5).
type Status string

// The states.
const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
)

// Reason says why a task failed (spec section 6.2, failure_reason).
type Reason string

// The reasons that this version can give.
const (
	TokenRefreshFailure     Reason = "token_refresh_failure"
	ScopePatientMissing     Reason = "scope_patient_missing"
	ResourcePatientFailure  Reason = "resource_patient_failure"
	ResourceInvalidContent  Reason = "resource_invalid_content"
	SuppressedPleaseContact Reason = "suppressed_please_contact"
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
	Setbacks      int       // transient failures in a row
	LeaseUntil    time.Time
	Progress      webhook.Progress
	ProgressAt    time.Time // when the last progress event was made
	ProgressSent  int64     // progress events so far
	Checkpoint    string    // key of the checkpoint object, empty before the first
}

// Scope is what the patient's authorization was asked for and what it grants, as space-separated scopes. Either is empty
// when it is not known.
type Scope struct {
	Asked   string `json:"asked,omitempty"`
	Granted string `json:"granted,omitempty"`
}

// File is a finished export file.
type File struct {
	Format      Format
	ContentType string
	Name        string // last segment of the download URL (spec section 4.4)
	Key         string // object key in the exports bucket
	Bytes       int64
	SHA256      string // hex
}

// FileSummary is what is told of a file besides its link.
type FileSummary struct {
	Name       string `json:"file_name"`
	ExportType Format `json:"export_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
}

// Summaries describe the task's files, in the order of their links.
func (t Task) Summaries() []FileSummary {
	list := make([]FileSummary, 0, len(t.Files))
	for _, f := range t.Files {
		list = append(list, FileSummary{Name: f.Name, ExportType: f.Format, Bytes: f.Bytes, SHA256: f.SHA256})
	}
	return list
}

// TypeOutcome says how far the collection of one resource type came. It holds no URL and no content.
type TypeOutcome struct {
	Type    string  `json:"type"`
	Result  Outcome `json:"result"`
	Count   int     `json:"count"`
	Missing int     `json:"missing,omitempty"`     // resources that are known of, but could not be read
	LeftOut int     `json:"left_out,omitempty"`    // resources that were found and say they are another patient's
	OnlyBy  string  `json:"only_by,omitempty"`     // see plan.Query.OnlyBy
	Status  int     `json:"http_status,omitempty"` // of the answer that says most about what is missing

	Reason LossReason `json:"reason,omitempty"` // why something is missing, or nothing was asked for; empty when neither is so
}

// Outcome classes a TypeOutcome.
type Outcome string

// The outcomes.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeEmpty       Outcome = "empty"
	OutcomeDenied      Outcome = "denied"
	OutcomeUnsupported Outcome = "unsupported"
	OutcomeTruncated   Outcome = "truncated" // a later page, or some of the resources, could not be read
	OutcomeFailed      Outcome = "failed"
)

// Missing is the answer for a task that is not there for this tenant.
func Missing() error { return fault.Missing("There is no such export.") }

// Downloadable returns the task's file of a name while it can be downloaded at now: else Missing, or fault.Gone with
// svc_export_expired.
func (t Task) Downloadable(fileName string, now time.Time) (File, error) {
	at := slices.IndexFunc(t.Files, func(f File) bool { return f.Name == fileName })
	if t.Status != Success || at < 0 {
		return File{}, Missing()
	}
	if !now.Before(t.FilesUntil) {
		return File{}, fault.New(fault.Gone, fault.CodeExportExpired, "The files of this export have been deleted. Request a new export.")
	}
	return t.Files[at], nil
}

// Nudger tells workers to look at a row. A lost nudge is made up for by the sweeper.
type Nudger interface {
	NudgeTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
	NudgeEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}
