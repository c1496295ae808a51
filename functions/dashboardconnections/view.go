package dashboardconnections

import (
	"cmp"
	"slices"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/timestamp"
)

type connectionList struct {
	Connections []link `json:"connections"` // newest first
	Next        string `json:"next,omitempty"`
	SearchedTo  string `json:"searched_to,omitempty"` // present if the search stopped before finding a full page
}

// link is the JSON form of a connection. Empty fields are omitted. Times are in RFC 3339 format.
type link struct {
	ID           string `json:"org_connection_id"`
	Status       string `json:"status"`
	ExternalID   string `json:"external_id,omitempty"`
	Cause        string `json:"cause,omitempty"`
	Action       string `json:"suggested_action,omitempty"`
	EndpointID   string `json:"endpoint_id,omitempty"`
	Endpoint     string `json:"endpoint_name,omitempty"`
	BrandID      string `json:"brand_id,omitempty"`
	PortalID     string `json:"portal_id,omitempty"`
	DirectoryID  string `json:"tefca_directory_id,omitempty"` // for TEFCA; replaces the three preceding fields
	PlatformType string `json:"platform_type"`
	CreatedAt    string `json:"created_at"`
	ConsentUntil string `json:"consent_expires_at,omitempty"`
	EndedAt      string `json:"ended_at,omitempty"`
}

type detail struct {
	link

	Scope    string  `json:"scope,omitempty"`
	Renewal  renewal `json:"renewal"`
	Timeline []fact  `json:"timeline"` // newest first
	Exports  []task  `json:"exports"`  // latest exports, newest first
}

type renewal struct {
	NextAt    string `json:"next_at,omitempty"`
	RenewedAt string `json:"renewed_at,omitempty"`
	Failures  int    `json:"failures"` // consecutive failures
}

type fact struct {
	At string `json:"at"`
	// What contains the event's type: connected, tokens_renewed, renewal_refused, ended, export_begun, export_succeeded
	// or export_failed.
	What string `json:"what"`
	Task string `json:"task_id,omitempty"`
}

type task struct {
	ID            string `json:"task_id"`
	Status        string `json:"status"`
	FailureReason string `json:"failure_reason,omitempty"`
	CreatedAt     string `json:"created_at"`
	FinishedAt    string `json:"finished_at,omitempty"`
}

// erasure describes the status of a request to erase a connection. A completed erasure also includes the proof of
// deletion.
type erasure struct {
	ID          string       `json:"erasure_id"`
	Stage       string       `json:"stage"`
	RequestedAt string       `json:"requested_at"`
	FinishedAt  string       `json:"finished_at,omitempty"`
	Portal      string       `json:"portal,omitempty"` // result of revoking the token at the portal
	Counts      erase.Counts `json:"counts"`
}

func erasureOf(e erase.Erasure) erasure {
	return erasure{
		ID: e.ID, Stage: string(e.Stage), RequestedAt: timestamp.Of(e.RequestedAt),
		FinishedAt: timestamp.Of(e.FinishedAt), Portal: string(e.Portal), Counts: e.Counts,
	}
}

func linkOf(c operator.Connection) link {
	cause, action := advice(c)
	return link{
		ID: c.ID, Status: string(c.Status), ExternalID: c.ExternalID, Cause: cause, Action: action,
		EndpointID: c.EndpointID, Endpoint: c.Endpoint, BrandID: c.BrandID, PortalID: c.PortalID,
		DirectoryID: c.DirectoryID, PlatformType: c.PlatformType,
		CreatedAt: timestamp.Of(c.CreatedAt), ConsentUntil: timestamp.Of(c.ConsentExpiresAt),
		EndedAt: timestamp.Of(c.Refresh.EndedAt),
	}
}

func detailOf(c operator.Connection) detail {
	shown := detail{
		link: linkOf(c), Scope: c.Scope, Timeline: timeline(c), Exports: make([]task, 0, len(c.Exports)),
		Renewal: renewal{RenewedAt: timestamp.Of(c.Refresh.RenewedAt), Failures: c.Refresh.Failures},
	}
	if c.Status == connection.Authorized {
		shown.Renewal.NextAt = timestamp.Of(c.Refresh.RefreshAt)
	}
	for _, e := range c.Exports {
		shown.Exports = append(shown.Exports, task{
			ID: e.ID, Status: string(e.Status), FailureReason: string(e.FailureReason),
			CreatedAt: timestamp.Of(e.CreatedAt), FinishedAt: timestamp.Of(e.FinishedAt),
		})
	}
	return shown
}

// timeline returns the events recorded in the connection's rows, newest first.
func timeline(c operator.Connection) []fact {
	var all []fact
	add := func(at time.Time, what, taskID string) {
		if !at.IsZero() {
			all = append(all, fact{At: timestamp.Of(at), What: what, Task: taskID})
		}
	}
	add(c.CreatedAt, "connected", "")
	add(c.Refresh.RenewedAt, "tokens_renewed", "")
	add(c.Refresh.RefusedAt, "renewal_refused", "")
	add(c.Refresh.EndedAt, "ended", "")
	for _, e := range c.Exports {
		add(e.CreatedAt, "export_begun", e.ID)
		switch e.Status {
		case "success":
			add(e.FinishedAt, "export_succeeded", e.ID)
		case "failed":
			add(e.FinishedAt, "export_failed", e.ID)
		case "pending":
		}
	}
	slices.SortStableFunc(all, func(a, b fact) int { return cmp.Compare(b.At, a.At) })
	return all
}

// advice returns the reason why a connection is unhealthy and the action that the organisation can take. Both results
// are empty if the connection is healthy.
func advice(c operator.Connection) (cause, action string) {
	const reconnect = "Ask the patient to reconnect."
	switch c.Cause() {
	case connection.CauseDeclined:
		action = "The patient declined at the portal. Ask the patient to reconnect and allow access."
	case connection.CauseDisconnected:
		action = "Your organisation revoked this connection. To use it again, ask the patient to reconnect."
	case connection.CauseAccessEnded:
		action = "The portal doesn't support refreshing this connection's access. " + reconnect
	case connection.CauseConsentEnded:
		action = reconnect
	case connection.CauseRenewalRefused:
		action = "The portal is refusing many token refreshes, probably by mistake. We'll retry automatically."
	case connection.CauseRenewalFailing:
		action = "The portal is unreachable or failing. We'll retry automatically; no data is lost."
	case connection.CauseNotRenewable:
		action = "The portal issued no refresh token, so access ends on this date. Export now, and ask the patient to " +
			"reconnect later."
	}
	return string(c.Cause()), action
}
