package dashboarddeliveries

import (
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/timestamp"
)

type deliveryList struct {
	Deliveries []delivery `json:"deliveries"` // newest first
	Next       string     `json:"next,omitempty"`
	SearchedTo string     `json:"searched_to,omitempty"` // present if the search stopped before finding a full page
}

// delivery is the JSON form of a webhook delivery. Empty members are omitted. Times are in RFC 3339 format.
type delivery struct {
	ID        string `json:"delivery_id"`
	EventID   string `json:"event_id"`
	WebhookID string `json:"webhook_id"`
	Type      string `json:"type,omitempty"`
	Status    string `json:"status"`
	Attempt   int    `json:"attempt"` // number of the current, next or last attempt

	ConnectionID string `json:"org_connection_id,omitempty"` // connection that the event is about
	ExternalID   string `json:"external_id,omitempty"`       // organisation's ID for the connection's patient

	LastStatus  int    `json:"last_status,omitempty"` // HTTP status of the last attempt
	LastFailure string `json:"last_failure,omitempty"`

	CreatedAt string `json:"created_at"`
	NextAt    string `json:"next_at,omitempty"`
}

type detail struct {
	delivery

	Body     string    `json:"body,omitempty"` // body sent in every attempt, with file tokens removed
	Attempts []attempt `json:"attempts"`       // oldest first
}

type attempt struct {
	Number    int    `json:"number"`
	Trigger   string `json:"trigger"`
	At        string `json:"at"`
	LatencyMS int64  `json:"latency_ms"`
	Status    int    `json:"status,omitempty"` // HTTP status
	Failure   string `json:"failure,omitempty"`

	RequestHeaders  map[string]string `json:"request_headers,omitempty"`
	ResponseHeaders map[string]string `json:"response_headers,omitempty"`
	Response        string            `json:"response,omitempty"` // first 2 KiB of the body
}

func deliveryOf(e deliverylog.Entry, patients map[string]string) delivery {
	shown := delivery{
		ID: e.ID, EventID: e.EventID, WebhookID: e.SubscriptionID, Type: string(e.Type), Status: string(e.Status),
		Attempt: e.Attempt, ConnectionID: e.ConnectionID, ExternalID: patients[e.ConnectionID],
		LastStatus: e.LastStatus, LastFailure: string(e.LastFailure),
		CreatedAt: timestamp.Of(e.CreatedAt),
	}
	if e.Status == webhook.Scheduled {
		shown.NextAt = timestamp.Of(e.NextAt)
	}
	return shown
}

// detailOf renders a delivery's details. The details include requests and responses only if mayInspect is set.
func detailOf(d deliverylog.Detail, patients map[string]string, mayInspect bool) detail {
	shown := detail{delivery: deliveryOf(d.Entry, patients), Attempts: make([]attempt, 0, len(d.Attempts))}
	if mayInspect {
		shown.Body = string(d.Body)
	}
	for _, a := range d.Attempts {
		one := attempt{
			Number: a.Number, Trigger: string(a.Trigger), At: timestamp.Of(a.At), LatencyMS: a.Latency.Milliseconds(),
			Status: a.Status, Failure: string(a.Failure),
		}
		if mayInspect {
			one.RequestHeaders, one.ResponseHeaders, one.Response = a.RequestHeader, a.ResponseHeader, string(a.Answer)
		}
		shown.Attempts = append(shown.Attempts, one)
	}
	return shown
}
