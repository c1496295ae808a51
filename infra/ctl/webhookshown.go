package main

import (
	"time"

	"recordbridge/shared/webhook"
)

// webhookShown returns a webhook's printed form, without secrets.
func webhookShown(s webhook.Subscription) map[string]any {
	shown := map[string]any{"id": s.ID, "url": s.URL, "types": s.Types, "created_at": s.CreatedAt, "disabled": s.Disabled}
	if s.Note != "" {
		shown["note"] = s.Note
	}
	if s.Rate != 0 {
		shown["rate"] = s.Rate
	}
	if s.PublicKey != "" {
		shown["public_key"] = s.PublicKey
	}
	if len(s.HeaderNames) > 0 {
		shown["headers"] = s.HeaderNames
	}
	if ends := oldSecretsEnd(s); len(ends) > 0 {
		shown["old_secrets_end"] = ends
	}
	if s.Disabled {
		shown["disabled_at"], shown["disabled_for"] = s.DisabledAt, s.DisabledFor
	}
	if h := s.Health; h.Failures > 0 {
		shown["failures"], shown["failing_since"] = h.Failures, h.FailingSince
	}
	return shown
}

// oldSecretsEnd returns the expiry times of the webhook's old secrets.
func oldSecretsEnd(s webhook.Subscription) []time.Time {
	ends := []time.Time{}
	for _, old := range s.Secrets {
		if !old.ExpiresAt.IsZero() {
			ends = append(ends, old.ExpiresAt)
		}
	}
	return ends
}
