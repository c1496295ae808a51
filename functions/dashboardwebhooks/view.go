package dashboardwebhooks

import (
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/timestamp"
)

type hookList struct {
	Webhooks []hook `json:"webhooks"`
}

// hook is the JSON form of a webhook. A hook contains header names and the expiry times of secrets, but no header
// values or secrets.
type hook struct {
	httpapi.Versioned

	ID            string    `json:"webhook_id"`
	URL           string    `json:"url"`
	Note          string    `json:"note"`
	Types         []string  `json:"types"`
	Headers       []string  `json:"headers"`
	Rate          int       `json:"rate"` // attempts per second; 0 for the default
	PublicKey     string    `json:"public_key,omitempty"`
	OldSecretsEnd []string  `json:"old_secrets_end"` // RFC 3339 times
	Disabled      *disabled `json:"disabled,omitempty"`
	Health        health    `json:"health"`
	CreatedAt     string    `json:"created_at"` // RFC 3339 time
}

type disabled struct {
	At     string `json:"at"` // RFC 3339 time
	Reason string `json:"reason"`
}

// health describes a webhook's recent deliveries. Empty fields are omitted. Times are in RFC 3339 format.
type health struct {
	Failures     int    `json:"failures"` // consecutive failures
	FailingSince string `json:"failing_since,omitempty"`
	LastFailure  string `json:"last_failure_at,omitempty"`
	PausedUntil  string `json:"paused_until,omitempty"` // end of the pause caused by too many consecutive failures
	SlowUntil    string `json:"slow_until,omitempty"`
	AnswerMS     int64  `json:"answer_ms,omitempty"` // response time of a slow receiver
}

type newHook struct {
	Webhook hook   `json:"webhook"`
	Secret  string `json:"secret"`
}

type secretList struct {
	Secrets []signing `json:"secrets"` // newest first
}

type signing struct {
	Secret    string `json:"secret"`
	ExpiresAt string `json:"expires_at,omitempty"` // RFC 3339; omitted for the current secret
}

type enabled struct {
	Webhook     hook   `json:"webhook"`
	MissedSince string `json:"missed_since"` // RFC 3339 time
	Replayed    int    `json:"replayed"`
}

type simulated struct {
	EventID    string `json:"event_id"`
	DeliveryID string `json:"delivery_id"`
}

type replayed struct {
	Replayed int `json:"replayed"`
}

type kindList struct {
	Types []kind `json:"types"`
}

type kind struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	When      string `json:"when"`
	Default   string `json:"default"`
	Extension bool   `json:"extension"`
	Example   any    `json:"example"`
}

func hookOf(s webhook.Subscription) hook {
	h := s.Health
	shown := hook{
		Versioned: httpapi.Versioned{Version: s.Version()},
		ID:        s.ID, URL: s.URL, Note: s.Note, Types: make([]string, 0, len(s.Types)),
		Headers: append([]string{}, s.HeaderNames...), Rate: s.Rate,
		PublicKey: s.PublicKey, OldSecretsEnd: []string{}, CreatedAt: timestamp.Of(s.CreatedAt),
		Health: health{
			Failures: h.Failures, FailingSince: timestamp.Of(h.FailingSince),
			LastFailure: timestamp.Of(h.LastFailure), PausedUntil: timestamp.Of(h.OpenUntil),
			SlowUntil: timestamp.Of(h.SlowUntil), AnswerMS: h.Answers.Milliseconds(),
		},
	}
	for _, t := range s.Types {
		shown.Types = append(shown.Types, string(t))
	}
	for _, old := range s.Secrets {
		if !old.ExpiresAt.IsZero() {
			shown.OldSecretsEnd = append(shown.OldSecretsEnd, timestamp.Of(old.ExpiresAt))
		}
	}
	if s.Disabled {
		shown.Disabled = &disabled{At: timestamp.Of(s.DisabledAt), Reason: string(s.DisabledFor)}
	}
	return shown
}
