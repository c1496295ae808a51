package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
)

// attempt makes one POST and stores what came of it. The error is our own fault; where it comes before the outcome is
// stored, the attempt does not count and is made again when the lease has ended.
func (w Worker) attempt(ctx context.Context, e errand) error {
	started := w.Now()
	k, err := e.subscription.open(ctx, w.Secrets, started)
	if err != nil {
		return err
	}
	sent, err := e.event.Wire(w.Links)
	if err != nil {
		return err
	}
	header, err := k.headers(e.event.ID, started, sent)
	if err != nil {
		return err
	}
	answer, err := w.Poster.Post(ctx, e.subscription.URL, header, sent)
	if err != nil {
		return fmt.Errorf("post webhook: %w", err)
	}
	ended := w.Now()
	if answer, err = e.event.HideLinks(answer, sent); err != nil {
		return err
	}
	body, err := e.subscription.sealAnswer(k.private, e.delivery.ID, answer.Body)
	if err != nil {
		return err
	}
	record := Attempt{
		Number: e.delivery.Attempt, Trigger: e.delivery.Trigger, At: started, Latency: ended.Sub(started),
		RequestHeader: k.shown(header), Status: answer.Status, ResponseHeader: answer.Header,
		Failure: answer.failure(), SealedBody: body,
	}
	// The POST has happened; a deadline that passes now must not hide what came of it.
	ctx = context.WithoutCancel(ctx)
	if record.Failure == "" {
		return w.succeed(ctx, e, answer, record, ended)
	}
	return w.fail(ctx, e, answer, record, ended)
}

func (w Worker) succeed(ctx context.Context, e errand, answer Answer, record Attempt, now time.Time) error {
	if reason := answer.ending(); reason != "" {
		if err := w.disable(ctx, e.subscription, reason, e.subscription.Health, now); err != nil {
			return err
		}
	}
	e.delivery.end(Delivered)
	if err := w.settle(ctx, e.delivery, record); err != nil {
		return err
	}
	if e.subscription.Health.Failures == 0 {
		return nil
	}
	err := w.Conditions.ClearFailures(ctx, e.event.Tenant, e.subscription.ID, now)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("clear failures: %w", err)
	}
	return nil
}

func (w Worker) fail(ctx context.Context, e errand, answer Answer, record Attempt, now time.Time) error {
	if reason := answer.ending(); reason != "" {
		// Not settled before it is disabled: what fails here is made up for by another attempt, which is told the same.
		if err := w.disable(ctx, e.subscription, reason, e.subscription.Health, now); err != nil {
			return err
		}
		e.delivery.hold()
		return w.settle(ctx, e.delivery, record)
	}
	// That a failure could not be counted is no reason to make the attempt again: its outcome is stored first.
	isDisabled, uncounted := w.countFailure(ctx, e, now)
	wait, isMore := nextDelay(e.delivery.Attempt+1, answer, now, w.Luck())
	switch {
	case isDisabled:
		e.delivery.hold()
	case !isMore, record.Failure == FailedBlocked, answer.asks(controlAbort):
		e.delivery.end(Exhausted)
	default:
		e.delivery.Attempt++
		e.delivery.Trigger, e.delivery.Paced = ByClock, false
		e.delivery.schedule(now, now.Add(wait))
	}
	if err := w.settle(ctx, e.delivery, record); err != nil || e.delivery.Status != Scheduled {
		return errors.Join(err, uncounted)
	}
	return errors.Join(w.nudge(ctx, e.delivery), uncounted)
}

// countFailure adds a failure to the subscription's health and does what follows from it.
func (w Worker) countFailure(ctx context.Context, e errand, now time.Time) (isDisabled bool, err error) {
	s := e.subscription
	counted, err := w.Conditions.CountFailure(ctx, s.Tenant, s.ID, now)
	if err != nil {
		return false, fmt.Errorf("count failure: %w", err)
	}
	j := counted.judge(e.isProbe)
	if j.disable {
		if err = w.disable(ctx, s, ReasonFailing, counted, now); err != nil {
			return false, err
		}
		return true, nil
	}
	if j.warn {
		if err = w.Notices.Notify(ctx, failing(s, j)); err != nil {
			return false, fmt.Errorf("warn of failures: %w", err)
		}
	}
	if !j.revised {
		return false, nil
	}
	// When another worker was quicker, it has come to the same conclusion, or the next failure does.
	err = w.Conditions.ReviseHealth(ctx, s.Tenant, s.ID, counted, j.next)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return false, fmt.Errorf("revise health: %w", err)
	}
	return false, nil
}

// disable stops everything to a subscription. Its e-mail comes first (docs/deviations.md, Webhooks), so that none is
// forgotten.
func (w Worker) disable(ctx context.Context, s Subscription, reason Reason, h Health, now time.Time) error {
	if err := w.Notices.Notify(ctx, disabled(s, reason, h, now)); err != nil {
		return fmt.Errorf("tell that a webhook is disabled: %w", err)
	}
	err := w.Conditions.DisableSubscription(ctx, s.Tenant, s.ID, reason, now)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("disable webhook: %w", err)
	}
	return nil
}
