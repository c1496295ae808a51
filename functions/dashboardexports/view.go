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

// task represents an export. Empty fields are omitted. Times are in RFC 3339 format.
type task struct {
	webhook.Shortfall

	ID            string           `json:"task_id"`
	ConnectionID  string           `json:"org_connection_id"`
	Status        string           `json:"status"`
	FailureReason string           `json:"failure_reason,omitempty"`
	CreatedAt     string           `json:"created_at"`
	FinishedAt    string           `json:"finished_at,omitempty"`
	FilesUntil    string           `json:"files_until,omitempty"` // successful exports only
	Progress      webhook.Progress `json:"progress"`
}

type detail struct {
	task

	EventID string               `json:"event_id,omitempty"` // ID of the event that reports that the export has ended
	Stats   *webhook.Stats       `json:"stats,omitempty"`
	Scope   *export.Scope        `json:"scope,omitempty"`
	Outcome []export.TypeOutcome `json:"outcome"`
	Files   []export.FileSummary `json:"files"`      // without links
	Told    []delivery           `json:"deliveries"` // deliveries of the event that reports the end of the export
	Action  string               `json:"suggested_action"`
}

type delivery struct {
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
		Files: []export.FileSummary{}, Told: make([]delivery, 0, len(e.Deliveries)),
		Action: action(e),
	}
	for _, d := range e.Deliveries {
		shown.Told = append(shown.Told, delivery{ID: d.ID, WebhookID: d.SubscriptionID, Status: string(d.Status)})
	}
	if e.Status == export.Success {
		shown.Stats, shown.Scope, shown.Files = &e.Stats, &e.Scope, append(shown.Files, e.Summaries()...)
	}
	return shown
}

// action returns the action that the organisation should take, or an empty string if the export needs none.
func action(e operator.Export) string {
	switch {
	case e.Status == export.Pending:
		return ""
	case e.Status == export.Success && e.Shortfall().Complete == nil:
		return ""
	case e.Status == export.Success:
		return "Use the partial record. If you need the missing data, request another export later; the reasons say " +
			"what failed."
	}
	switch e.FailureReason {
	case export.TokenRefreshFailure:
		return "Check the connection. If consent has ended, ask the patient to reconnect."
	case export.ScopePatientMissing:
		if e.Blame != operator.BlamePatient {
			return "Demographics are required for every export, but were not requested or the portal refuses them " +
				"despite the grant. Contact the operator."
		}
		return "Ask the patient to reconnect and allow demographics, which every export requires."
	case export.ResourcePatientFailure, export.ResourceInvalidContent:
		return "Request another export later. If it keeps failing, the portal isn't serving this patient's record " +
			"correctly: contact the operator."
	case export.TEFCANoDocumentsFound:
		return "The facility has no documents for this patient. In test mode, request a fixture. Otherwise, ask the " +
			"patient to try another facility."
	case export.SuppressedPleaseContact:
		return "Too little of the record could be read. Request another export once the portal has recovered."
	}
	return "Request a new export."
}
