package refresh

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/timestamp"
)

// warn notifies the organisation that consent will soon end, once for each date on which consent ends. After consent
// ends, warn sends no notice, because a refresh is then due and will verify that consent has really ended.
func (w Worker) warn(ctx context.Context, c connection.Connection) error {
	told, conflicts := false, 0
	isOver := func(before, now connection.Connection) (bool, error) {
		conflicts++
		// If the last try ends in a conflict but the connection is unchanged, the event already exists: the end of
		// consent changed and then changed back. Earlier conflicts may instead have been caused by another transaction.
		told = now.Rev == before.Rev && conflicts == retry.Tries-1
		return !reached(now.WarnAt(), w.now()), nil
	}
	return w.onConflict(ctx, c, isOver, func(c connection.Connection) error {
		events, err := w.warnings(c, told)
		if err != nil {
			return err
		}
		c.Refresh.Warned = true
		if err = w.store.SaveConnection(ctx, c, events...); err != nil {
			return fmt.Errorf("save connection: %w", err)
		}
		for _, event := range events {
			_ = w.enqueuer.EnqueueEvent(ctx, event.Tenant, event.ID)
		}
		return nil
	})
}

// warnings returns the event that warns of the end of consent. If told is true, the event already exists, so warnings
// returns no event.
func (w Worker) warnings(c connection.Connection, told bool) ([]webhook.Event, error) {
	now := w.now()
	if told || !now.Before(c.ConsentExpiresAt) {
		return nil, nil
	}
	event, err := warning(c, now)
	return []webhook.Event{event}, err
}

// WarnAtOnce handles a new authorisation whose remaining lifetime is shorter than the usual warning period. It marks c
// as warned and returns the event that reports the end. If the authorisation does not end within the usual warning
// period, WarnAtOnce returns no event.
func WarnAtOnce(c *connection.Connection, now time.Time) ([]webhook.Event, error) {
	if at := c.WarnAt(); at.IsZero() || now.Before(at) || !now.Before(c.ConsentExpiresAt) {
		return nil, nil
	}
	event, err := warning(*c, now)
	if err != nil {
		return nil, err
	}
	c.Refresh.Warned = true
	return []webhook.Event{event}, nil
}

// warning returns the event, dated now, that warns of a connection's approaching end. The connection's WarnAt must have
// passed. The only possible error is a failure to encode the event.
func warning(c connection.Connection, now time.Time) (webhook.Event, error) {
	ends := c.ConsentExpiresAt.UTC()
	cause, action := "consent_expires", "Ask the patient to reconnect before this date."
	if c.Refresh.Unrenewable {
		cause, action = "no_refresh_token",
			"The health system issued no refresh token. Export the record before access ends; for a later export, "+
				"ask the patient to reconnect."
	}
	return webhook.NewEvent(c.Tenant, webhook.AuthorizationEnding, c.ID, warningNumber(c.Generation, ends), now,
		webhook.AuthorizationExpiring{
			OrgConnectionID: c.ID, EndpointID: c.EndpointID, PortalID: c.PortalID, BrandID: c.BrandID,
			PlatformType:     c.PlatformType,
			ConsentExpiresAt: timestamp.Of(ends), Cause: cause, SuggestedAction: action,
		})
}

// warningNumber returns a warning's event number, which is unique for each authorisation and each date on which consent
// ends.
func warningNumber(generation int64, ends time.Time) int64 {
	const generations = 1_000_000
	return ends.Unix()/(24*60*60)*generations + generation%generations
}
