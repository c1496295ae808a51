package webhook

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
)

// Reason is the reason that a subscription is disabled.
type Reason string

// Reasons why a subscription is disabled.
const (
	ReasonGone    Reason = "gone"    // the receiver responded with status 410
	ReasonAsked   Reason = "asked"   // the receiver responded with "webhook-delivery: disable"
	ReasonFailing Reason = "failing" // all attempts failed for 120 hours
	ReasonByHand  Reason = "by_hand" // disabled by the operator
)

// Health records the outcomes of a subscription's attempts since its last success. A working subscription has no
// record, so a write is required only for failures, slow responses and the first success after failures.
type Health struct {
	Failures     int       // number of attempts that failed since the last success
	FailingSince time.Time // time of the first failure since the last success
	LastFailure  time.Time
	LastSuccess  time.Time // last success before the current run of failures; zero if there was none
	Warned       int       // number of warnings sent in the current run of failures
	OpenUntil    time.Time // time until which the breaker blocks all attempts
	Trips        int       // number of times the breaker has opened in the current run of failures
	NextSlot     time.Time // time of the next free slot under the endpoint's rate limit
	// SlowUntil is the time until which the webhook counts as slow, regardless of failures. Answers is the time that
	// the webhook takes to respond.
	SlowUntil time.Time
	Answers   time.Duration
}

const (
	// disableAfter is the time after which a subscription whose attempts all fail is disabled. A subscription is
	// disabled only after a failure, so the run of failures lasts at least disableAfter. The run must also contain at
	// least fewestFailures failures, which protects rarely used webhooks.
	disableAfter   = 120 * time.Hour
	fewestFailures = 5
	// tripAfter is the number of consecutive failures that open the breaker. The breaker stays open for openFor the
	// first time, and twice as long each time it reopens.
	tripAfter   = 10
	openFor     = time.Minute
	longestOpen = 15 * time.Minute
)

// warnings returns the ages at which a run of failures triggers a warning to the subscription's owner.
func warnings() [2]time.Duration { return [2]time.Duration{24 * time.Hour, 96 * time.Hour} }

// effect holds the consequences of a failed attempt.
type effect struct {
	next    Health // health to be stored
	revised bool   // whether next differs from the stored health
	warn    bool
	disable bool
}

// afterFailure returns the consequences of the failure at h.LastFailure. A probe is the single attempt that an open
// breaker admits. The failure of an attempt that was already in progress when the breaker opened has no effect.
func (h Health) afterFailure(isProbe bool) effect {
	run := h.LastFailure.Sub(h.FailingSince)
	e := effect{next: h}
	if h.Failures >= fewestFailures {
		e.disable = run >= disableAfter
		for i, age := range warnings() {
			if run >= age && h.Warned <= i {
				e.warn, e.next.Warned = !e.disable, i+1
			}
		}
	}
	if h.Failures >= tripAfter && (isProbe || !h.LastFailure.Before(h.OpenUntil)) {
		e.next.OpenUntil = h.LastFailure.Add(min(openFor<<min(h.Trips, 10), longestOpen))
		e.next.Trips++
	}
	e.revised = e.next.Warned != h.Warned || e.next.Trips != h.Trips
	return e
}

// isOpen reports whether the breaker blocks all attempts at now. After OpenUntil, the breaker admits a single attempt,
// the probe.
func (h Health) isOpen(now time.Time) bool { return now.Before(h.OpenUntil) }

// HealthStore stores the health of subscriptions.
type HealthStore interface {
	// CountFailure adds a failure and returns the subscription's updated health.
	CountFailure(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) (Health, error)
	// ReviseHealth stores the breaker and the warnings from next. It returns fault.Conflict if the stored breaker and
	// warnings differ from those in seen.
	ReviseHealth(ctx context.Context, tenant org.Tenant, subscriptionID string, seen, next Health) error
	// ClearFailures ends a run of failures with a success. It returns fault.Conflict if the subscription has no current
	// failures.
	ClearFailures(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) error
	// ReserveSlot reserves the next free slot at or after now and returns the slot's time. Slots are an interval apart.
	// seen is a hint: the next free slot as last read by the caller.
	ReserveSlot(ctx context.Context, tenant org.Tenant, subscriptionID string, seen, now time.Time,
		interval time.Duration) (time.Time, error)
	// MarkSlow stores a subscription's response time and the time until which it counts as slow. It returns
	// fault.Conflict if the subscription is already marked as slow until a later time.
	MarkSlow(ctx context.Context, tenant org.Tenant, subscriptionID string, until time.Time, answers time.Duration) error
	// DisableSubscription stops all deliveries to a subscription. It returns fault.Conflict if the subscription is
	// already disabled.
	DisableSubscription(ctx context.Context, tenant org.Tenant, subscriptionID string, reason Reason, at time.Time) error
}

// Owners notifies subscriptions' owners by email about problems with deliveries. Repeated notifications for the same
// occasion have no further effect.
type Owners interface {
	// NotifyFailing warns the owner about a run of failures. h already counts the warning.
	NotifyFailing(ctx context.Context, s Subscription, h Health) error
	// NotifyDisabled notifies the owner that a subscription is about to be disabled. s is the subscription as the
	// caller read it. NotifyDisabled returns once the notice is stored durably.
	NotifyDisabled(ctx context.Context, s Subscription, reason Reason, h Health, at time.Time) error
}
