package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// attempt sends a single POST and stores the outcome. Errors are internal. An attempt whose outcome can't be stored is
// not counted, and is repeated after the lease expires.
func (w Worker) attempt(ctx context.Context, d dispatch) error {
	started := w.Now()
	k, err := d.subscription.open(ctx, w.Secrets, started)
	if err != nil {
		return err
	}
	sent, err := d.event.Wire(w.Links)
	if err != nil {
		return err
	}
	header, err := k.headers(d.event.ID, started, sent)
	if err != nil {
		return err
	}
	made, err := w.post(ctx, d.subscription, header, sent)
	if err != nil {
		return err
	}
	ended := w.Now()
	answer, err := d.event.HideLinks(made.answer, sent)
	if err != nil {
		return err
	}
	body, err := d.subscription.sealAnswer(k.private, d.delivery.ID, answer.Body)
	if err != nil {
		return err
	}
	a := Attempt{
		Number: d.delivery.Attempt, Trigger: d.delivery.Trigger, At: started, Latency: ended.Sub(started),
		RequestHeader: k.shown(header), Status: answer.Status, ResponseHeader: answer.Header,
		Failure: answer.failure(), SealedBody: body,
	}
	d.count(ctx, a)
	// The POST has been sent, so its outcome is stored even after the deadline.
	ctx = context.WithoutCancel(ctx)
	if a.Failure == "" {
		return errors.Join(w.succeed(ctx, d, answer, a, ended), made.unmarked)
	}
	return errors.Join(w.fail(ctx, d, answer, a, ended), made.unmarked)
}

func (w Worker) succeed(ctx context.Context, d dispatch, answer Answer, a Attempt, now time.Time) error {
	d.delivery.end(Delivered)
	if reason := answer.ending(); reason != "" {
		if err := w.disable(ctx, d.subscription, reason, d.subscription.Health, now); err != nil {
			return err
		}
		d.tell(ctx, a, reason)
	}
	if err := w.record(ctx, d.delivery, a); err != nil {
		return err
	}
	if d.subscription.Health.Failures == 0 {
		return nil
	}
	err := w.Health.ClearFailures(ctx, d.event.Tenant, d.subscription.ID, now)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("clear failures: %w", err)
	}
	return nil
}

func (w Worker) fail(ctx context.Context, d dispatch, answer Answer, a Attempt, now time.Time) error {
	if reason := answer.ending(); reason != "" {
		// The attempt is recorded only after the subscription is disabled. If disabling fails, the attempt is repeated
		// and gets the same response.
		if err := w.disable(ctx, d.subscription, reason, d.subscription.Health, now); err != nil {
			return err
		}
		d.delivery.hold()
		d.tell(ctx, a, reason)
		return w.record(ctx, d.delivery, a)
	}
	// The outcome is already stored, so the attempt is not repeated if counting fails.
	isDisabled, uncounted := w.countFailure(ctx, d, now)
	wait, isMore := nextDelay(d.delivery.Attempt+1, answer, now, w.Jitter())
	switch {
	case isDisabled:
		d.delivery.hold()
	case !isMore, a.Failure == FailedBlocked, answer.asks(controlAbort):
		d.delivery.end(Exhausted)
	default:
		d.delivery.Attempt++
		d.delivery.Trigger, d.delivery.Paced, d.delivery.Slowly = ByClock, false, false
		d.delivery.schedule(now, now.Add(wait))
	}
	disabled := Reason("")
	if isDisabled {
		disabled = ReasonFailing
	}
	d.tell(ctx, a, disabled)
	if err := w.record(ctx, d.delivery, a); err != nil || d.delivery.Status != Scheduled {
		return errors.Join(err, uncounted)
	}
	return errors.Join(w.enqueue(ctx, d.delivery), uncounted)
}

// countFailure adds a failure to the subscription's health. Depending on the new health, it warns the owner, updates
// the breaker or disables the subscription.
func (w Worker) countFailure(ctx context.Context, d dispatch, now time.Time) (isDisabled bool, err error) {
	s := d.subscription
	counted, err := w.Health.CountFailure(ctx, s.Tenant, s.ID, now)
	if err != nil {
		return false, fmt.Errorf("count failure: %w", err)
	}
	e := counted.afterFailure(d.isProbe)
	if e.disable {
		if err = w.disable(ctx, s, ReasonFailing, counted, now); err != nil {
			return false, err
		}
		return true, nil
	}
	if e.warn {
		if err = w.Owners.NotifyFailing(ctx, s, e.next); err != nil {
			return false, fmt.Errorf("warn of failures: %w", err)
		}
	}
	if !e.revised {
		return false, nil
	}
	// If another worker wrote first, its write or the next failure has the same effect.
	err = w.Health.ReviseHealth(ctx, s.Tenant, s.ID, counted, e.next)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return false, fmt.Errorf("revise health: %w", err)
	}
	return false, nil
}

// disable stops all deliveries to a subscription. The owner is notified before the subscription is disabled, so that
// the notice can't be lost (docs/reference/deviations.md, Webhooks).
func (w Worker) disable(ctx context.Context, s Subscription, reason Reason, h Health, now time.Time) error {
	if err := w.Owners.NotifyDisabled(ctx, s, reason, h, now); err != nil {
		return fmt.Errorf("tell that a webhook is disabled: %w", err)
	}
	err := w.Health.DisableSubscription(ctx, s.Tenant, s.ID, reason, now)
	switch {
	case errors.Is(err, fault.Conflict):
	case err != nil:
		return fmt.Errorf("disable webhook: %w", err)
	default:
		logx.Measure(ctx, metric.Count(metric.WebhooksStopped, string(reason)))
	}
	return nil
}
