package webhook

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
)

// Reason says why a subscription is disabled.
type Reason string

// The reasons.
const (
	ReasonGone    Reason = "gone"    // the receiver answered 410
	ReasonAsked   Reason = "asked"   // the receiver answered "webhook-delivery: disable"
	ReasonFailing Reason = "failing" // nothing but failures for 120 hours
	ReasonByHand  Reason = "by_hand" // the operator did it
)

// Health is how a subscription has fared since its last success. A subscription that works has none: what costs a write
// is failing, the first success after it, and taking long.
type Health struct {
	Failures     int       // attempts that failed since the last success
	FailingSince time.Time // the first of them
	LastFailure  time.Time
	LastSuccess  time.Time // the success that ended the run of failures before; zero when there was none
	Warned       int       // how many of the warnings were sent in this run
	OpenUntil    time.Time // until when the breaker lets nothing through
	Trips        int       // how often it has opened in this run
	NextSlot     time.Time // from when on a place in the endpoint's rate is free
	// SlowUntil is until when the webhook counts as a slow one, whether it fails or not; Answers is how long it takes.
	SlowUntil time.Time
	Answers   time.Duration
}

const (
	// disableAfter is how long a subscription may do nothing but fail. What is decided on is never younger than a failure,
	// so the run of failures is always as long, and it has fewestFailures, for a webhook that is hardly used.
	disableAfter   = 120 * time.Hour
	fewestFailures = 5
	// tripAfter failures in a row open the breaker, for openFor and then twice as long each time.
	tripAfter   = 10
	openFor     = time.Minute
	longestOpen = 15 * time.Minute
)

// warnings are the ages of a run of failures at which its owner is told.
func warnings() [2]time.Duration { return [2]time.Duration{24 * time.Hour, 96 * time.Hour} }

// effect is what follows from a failure.
type effect struct {
	next    Health // as it is to be stored
	revised bool   // next differs
	warn    bool
	disable bool
}

// afterFailure says what follows from the failure that h.LastFailure tells of. A probe is the one attempt that an open
// breaker lets through; the failures of attempts that were under way when it opened say nothing new.
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

// isOpen reports a breaker that lets nothing through at now; one that was open lets one attempt through, the probe.
func (h Health) isOpen(now time.Time) bool { return now.Before(h.OpenUntil) }

// HealthStore keeps how subscriptions fare.
type HealthStore interface {
	// CountFailure adds a failure and returns the health with it.
	CountFailure(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) (Health, error)
	// ReviseHealth stores the breaker and the warnings of next; fault.Conflict when they are not those of seen any more.
	ReviseHealth(ctx context.Context, tenant org.Tenant, subscriptionID string, seen, next Health) error
	// ClearFailures ends a run of failures with a success; fault.Conflict when there is none.
	ClearFailures(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) error
	// ReserveSlot takes the next free place of those that are an interval apart, at now or later, and returns its time.
	// Seen is where the caller saw the next free place, as a hint.
	ReserveSlot(ctx context.Context, tenant org.Tenant, subscriptionID string, seen, now time.Time,
		interval time.Duration) (time.Time, error)
	// MarkSlow stores until when a subscription counts as slow and how long it takes to answer; fault.Conflict when it
	// counts so for longer already.
	MarkSlow(ctx context.Context, tenant org.Tenant, subscriptionID string, until time.Time, answers time.Duration) error
	// DisableSubscription stops everything; fault.Conflict when it is disabled already.
	DisableSubscription(ctx context.Context, tenant org.Tenant, subscriptionID string, reason Reason, at time.Time) error
}

// Owners are told by e-mail what deliveries find out about their subscriptions. The same occasion is told once, however
// often it is said here.
type Owners interface {
	// TellFailing warns of a run of failures; h counts the warning already.
	TellFailing(ctx context.Context, s Subscription, h Health) error
	// TellDisabled tells that s, as it was read, is about to be disabled. It returns once that cannot be forgotten.
	TellDisabled(ctx context.Context, s Subscription, reason Reason, h Health, at time.Time) error
}
