package flow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CancelStore stores attempt cancellations.
type CancelStore interface {
	Attempts
	// CancelAttempt marks an attempt as failed with the given ending. If the attempt is neither created nor open,
	// CancelAttempt leaves it unchanged and returns fault.Conflict.
	CancelAttempt(ctx context.Context, attempt Attempt, ending Ending) error
}

// Canceler ends attempts that the patient no longer wants to complete. Every field except SignIns is required.
type Canceler struct {
	Store   CancelStore
	SignIns requestlog.Recorder
	Now     func() time.Time
}

// Cancel marks a widget's attempt as failed, unless the attempt has already ended, and returns the attempt's progress.
// requestID identifies the current request in the attempt's error. If a cancellation and a completion coincide, only
// one of them succeeds. If Cancel reports that an attempt was cancelled, the attempt never yields a connection. Cancel
// returns fault.NotFound in the same cases as Watcher.Progress.
func (c Canceler) Cancel(ctx context.Context, tenant org.Tenant, asked string, token secret.Text,
	requestID string,
) (Progress, error) {
	a, err := find(ctx, c.Store, tenant, asked, token)
	if err != nil {
		return Progress{}, err
	}
	if p := progress(a, c.Now()); p.Status != Created && p.Status != Open {
		return p, nil
	}
	shown := causes()[binding.Cancelled].Shown
	ending := Ending{
		Error: string(shown.Code.InBrowser()), Description: shown.Public, Cause: binding.Cancelled, RequestID: requestID,
	}
	note(ctx, a)
	err = c.Store.CancelAttempt(ctx, a, ending)
	if errors.Is(err, fault.Conflict) { // the attempt ended concurrently
		if a, err = find(ctx, c.Store, tenant, asked, token); err != nil {
			return Progress{}, err
		}
		return progress(a, c.Now()), nil
	}
	if err != nil {
		return Progress{}, fmt.Errorf("cancel attempt: %w", err)
	}
	logx.Add(ctx, slog.String("ended", binding.Cancelled))
	if a.Status == Open { // a Created attempt hasn't started
		tally.Count(ctx, tally.Patient)
	}
	row := signIn(a, requestlog.Cancelled, c.Now())
	row.Cause, row.RequestID = binding.Cancelled, requestID
	c.SignIns.SignIn(ctx, row, a.ExternalID)
	a.Status, a.Ending = Failed, ending
	return progress(a, c.Now()), nil
}

// find returns the attempt with the given ID if token belongs to that attempt. It returns fault.NotFound for an unknown
// attempt, another tenant's attempt, an attempt in redirect mode, or a wrong token.
func find(ctx context.Context, store Attempts, tenant org.Tenant, asked string, token secret.Text) (Attempt, error) {
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return Attempt{}, binding.Missing()
	}
	a, err := store.Attempt(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) || err == nil && !binding.Holds(a.TokenHash, token) {
		return Attempt{}, binding.Missing()
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read attempt: %w", err)
	}
	return a, nil
}

func (a Attempt) cancelled() error {
	if a.Status != Failed || a.Ending.Cause != binding.Cancelled {
		return nil
	}
	return failed(binding.Cancelled, nil)
}

// ended returns the error for a write that failed with a conflict: the cancellation error if the attempt was cancelled,
// and err otherwise.
func ended(ctx context.Context, store Attempts, a Attempt, err error) error {
	if !errors.Is(err, fault.Conflict) {
		return err
	}
	stored, unread := store.Attempt(ctx, a.Tenant, a.ID)
	if unread != nil {
		return err
	}
	// The conflict isn't wrapped, because a retry can't help.
	if cancelled := stored.cancelled(); cancelled != nil {
		return cancelled
	}
	return err
}
