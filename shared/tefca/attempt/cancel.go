package attempt

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
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

// CancelStore stores attempts when they are cancelled.
type CancelStore interface {
	Facilities
	Saver
}

// Canceler ends attempts on behalf of patients who no longer want to verify their identity. All fields except SignIns
// are required.
type Canceler struct {
	Store   CancelStore
	SignIns requestlog.Recorder
	Now     func() time.Time
}

// Cancel fails an attempt whose identity has not been verified yet, and returns its progress. It leaves other attempts
// unchanged. requestID identifies this request and is stored with the attempt's error. If a cancellation and a
// verification coincide, the store accepts only one of them. Cancel returns fault.NotFound in the same cases as
// Watcher.Progress.
func (c Canceler) Cancel(ctx context.Context, tenant org.Tenant, asked string, token secret.Text,
	requestID string,
) (p Progress, err error) {
	err = retry.OnConflict(ctx, retry.Tries, func() error {
		var failure error
		p, failure = c.cancel(ctx, tenant, asked, token, requestID)
		return failure
	})
	return p, err
}

// cancel tries to cancel an attempt, without retrying. It returns fault.Conflict if the attempt has changed since it
// was read.
func (c Canceler) cancel(ctx context.Context, tenant org.Tenant, asked string, token secret.Text,
	requestID string,
) (Progress, error) {
	watcher := Watcher{Store: c.Store, Now: c.Now}
	a, err := find(ctx, c.Store, tenant, asked, token)
	if err != nil {
		return Progress{}, err
	}
	if p, unread := watcher.progress(ctx, a); unread != nil || p.Status != Created && p.Status != Open {
		return p, unread
	}
	hasStarted := a.Status == Open
	a.Status, a.Verifier = Failed, nil
	a.Ending = endingOf(failed(binding.Cancelled, nil), requestID)
	if err = c.Store.SaveAttempt(ctx, a); err != nil {
		return Progress{}, fmt.Errorf("cancel attempt: %w", err)
	}
	logx.Add(ctx, slog.String("ended", binding.Cancelled))
	if hasStarted {
		tally.Count(ctx, tally.Patient)
	}
	c.SignIns.SignIn(ctx, unsuccessful(a, requestlog.Cancelled, c.Now()), a.ExternalID)
	return watcher.progress(ctx, a)
}

// cancelled returns an error if the patient has cancelled the attempt that a browser is about to continue.
func (a Attempt) cancelled() error {
	if a.Status != Failed || a.Ending.Cause != binding.Cancelled {
		return nil
	}
	return failed(binding.Cancelled, nil)
}

// ended returns the error to report after a write conflict. It returns the cancellation's error if a cancellation
// caused the conflict, and err otherwise.
func ended(ctx context.Context, store Attempts, a Attempt, err error) error {
	if !errors.Is(err, fault.Conflict) {
		return err
	}
	if stored, unread := store.Attempt(ctx, a.Tenant, a.ID); unread == nil {
		if cancelled := stored.cancelled(); cancelled != nil {
			return cancelled
		}
	}
	return err
}
