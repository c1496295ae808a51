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

// warn tells the organisation that consent is about to end, once for each date, and not when it has ended: the refresh
// that is then due finds out whether it really has.
func (w Worker) warn(ctx context.Context, c connection.Connection) error {
	told, conflicts := false, 0
	isOver := func(before, now connection.Connection) (bool, error) {
		conflicts++
		// If the connection is unchanged to the last try, the event exists already: the end of consent has moved away
		// and back again. The tries before may have met no more than another transaction.
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

// warnings are the events of a warning: one, or none where there is nothing more to tell.
func (w Worker) warnings(c connection.Connection, told bool) ([]webhook.Event, error) {
	now := w.now()
	if told || !now.Before(c.ConsentExpiresAt) {
		return nil, nil
	}
	event, err := warning(c, now)
	return []webhook.Event{event}, err
}

// WarnAtOnce has the event that tells of the end of an authorisation that has just been made, where that is less than
// the usual notice away, and notes in c that it is told; none else.
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

// warning is the event that tells at now of the coming end of a connection, whose WarnAt has come. The error is
// only that of encoding it.
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

// warningNumber tells the warnings about one connection apart: by the day on which consent ends, and by authorisation.
func warningNumber(generation int64, ends time.Time) int64 {
	const generations = 1_000_000
	return ends.Unix()/(24*60*60)*generations + generation%generations
}
