package dashboardexports

import (
	"recordbridge/shared/export"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/timestamp"
)

type taskList struct {
	Exports []task `json:"exports"` // newest first
	Next    string `json:"next,omitempty"`
}

// task is one export. Empty members are omitted. Times are RFC 3339.
type task struct {
	webhook.Shortfall

	ID            string           `json:"task_id"`
	ConnectionID  string           `json:"org_connection_id"`
	Status        string           `json:"status"`
	FailureReason string           `json:"failure_reason,omitempty"`
	CreatedAt     string           `json:"created_at"`
	FinishedAt    string           `json:"finished_at,omitempty"`
	FilesUntil    string           `json:"files_until,omitempty"` // only of a successful export
	Progress      webhook.Progress `json:"progress"`
}

type detail struct {
	task

	EventID string               `json:"event_id,omitempty"` // of the event that reported its end
	Stats   *webhook.Stats       `json:"stats,omitempty"`
	Scope   *export.Scope        `json:"scope,omitempty"`
	Outcome []export.TypeOutcome `json:"outcome"`    // by type
	Files   []export.FileSummary `json:"files"`      // without their links
	Told    []told               `json:"deliveries"` // of the same event
	Action  string               `json:"suggested_action"`
}

type told struct {
	ID        string `json:"delivery_id"`
	WebhookID string `json:"webhook_id"`
	Status    string `json:"status"`
}

func taskOf(e operator.Export) task {
	shown := task{
		ID: e.ID, ConnectionID: e.ConnectionID, Status: string(e.Status), FailureReason: string(e.FailureReason),
		CreatedAt:  timestamp.Of(e.CreatedAt),
		FinishedAt: timestamp.Of(e.FinishedAt), Progress: e.Progress,
	}
	if e.Status == export.Success {
		shown.FilesUntil, shown.Shortfall = timestamp.Of(e.FilesUntil), e.Shortfall()
	}
	return shown
}

func detailOf(e operator.Export) detail {
	shown := detail{
		task: taskOf(e), EventID: e.EventID, Outcome: append([]export.TypeOutcome{}, e.Outcome...),
		Files: []export.FileSummary{}, Told: make([]told, 0, len(e.Deliveries)),
		Action: action(e),
	}
	for _, d := range e.Deliveries {
		shown.Told = append(shown.Told, told{ID: d.ID, WebhookID: d.SubscriptionID, Status: string(d.Status)})
	}
	if e.Status == export.Success {
		shown.Stats, shown.Scope, shown.Files = &e.Stats, &e.Scope, append(shown.Files, e.Summaries()...)
	}
	return shown
}

// action suggests what an organisation can do about an export; empty if nothing.
func action(e operator.Export) string {
	switch {
	case e.Status == export.Pending:
		return ""
	case e.Status == export.Success && e.Shortfall().Complete == nil:
		return ""
	case e.Status == export.Success:
		return "Use what there is, and ask again later if what is missing matters: the reasons say what was in the way."
	}
	switch e.FailureReason {
	case export.TokenRefreshFailure:
		return "Look at the connection: if consent has ended, ask the patient to reconnect."
	case export.ScopePatientMissing:
		if e.Blame != operator.BlamePatient {
			return "The demographics, without which nothing is exported, were not requested, or the portal refuses what it " +
				"has granted: tell the operator."
		}
		return "Ask the patient to reconnect and to allow the demographics, without which nothing is exported."
	case export.ResourcePatientFailure, export.ResourceInvalidContent:
		return "Ask again later. If it stays so, the portal does not serve this patient's record as it should: tell the " +
			"operator."
	case export.TEFCANoDocumentsFound:
		return "The facility has no documents of the patient. In test mode ask for a fixture; else ask the patient whether " +
			"another facility has them."
	case export.SuppressedPleaseContact:
		return "Ask again when the portal is well again: too little of the record could be read."
	}
	return "Ask for a new export."
}
