package webhook

import (
	"context"
	"time"

	"recordbridge/shared/org"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states: scheduled and inflight until one attempt succeeds or the last has failed.
const (
	Scheduled DeliveryStatus = "scheduled"
	InFlight  DeliveryStatus = "inflight"
	Delivered DeliveryStatus = "delivered"
	Exhausted DeliveryStatus = "exhausted" // every attempt failed
)

// Delivery is one event on its way to one subscription.
type Delivery struct {
	ID             string // UUIDv5 of event and subscription
	Tenant         org.Tenant
	EventID        string
	SubscriptionID string
	Status         DeliveryStatus
	Attempt        int       // number of the attempt that is next or under way, from 1
	Fence          int64     // one more with every claim; a result of an older claim is refused
	NextAt         time.Time // when the attempt may start
	LeaseUntil     time.Time // until when the claim is alive
	CreatedAt      time.Time
}

// Attempt is one POST of a delivery, as the delivery log shows it.
type Attempt struct {
	Number  int // the delivery's attempt number; a repeated number was our own fault the first time
	At      time.Time
	Latency time.Duration
	Status  int     // HTTP status; 0 without an answer
	Failure Failure // empty on success
	Body    []byte  // first 2 KiB of the answer
}

// Failure classes an attempt that did not succeed (serverless notes section 1.3).
type Failure string

// The failure classes.
const (
	FailedStatus  Failure = "http_status"
	FailedTimeout Failure = "timeout"
	FailedDNS     Failure = "dns"
	FailedTLS     Failure = "tls"
	FailedConnect Failure = "connect"
	FailedBlocked Failure = "blocked_address" // the address may not be reached; trying again cannot help
	Unsubscribed  Failure = "unsubscribed"    // the subscription was removed, switched off or narrowed
)

// Answer is what a receiver did with a POST.
type Answer struct {
	Status  int
	Body    []byte
	Failure Failure // set when there is no answer
}

// Store keeps events, deliveries and subscriptions. Times given to it are also when the sweeper has to look again.
type Store interface {
	// Event reads an event, consistently.
	Event(ctx context.Context, tenant org.Tenant, id string) (Event, error)
	// Subscriptions lists the tenant's subscriptions.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]Subscription, error)
	// FanOut settles the event and creates its deliveries, already claimed, in one transaction; fault.Conflict when
	// the event is settled already.
	FanOut(ctx context.Context, event Event, deliveries []Delivery) error
	// ClaimDelivery puts a delivery in flight until leaseUntil, if it is scheduled and due at now, or in flight under
	// a lease that has ended; else fault.Conflict.
	ClaimDelivery(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Delivery, error)
	// SettleDelivery stores the outcome of the claim d.Fence together with its attempt; fault.Conflict when another
	// claim has taken over. dueAt is when the sweeper acts, zero when the delivery is done.
	SettleDelivery(ctx context.Context, d Delivery, attempt Attempt, dueAt time.Time) error
}

// Poster sends one signed POST and reports what came of it. Its error is our own fault, never the receiver's.
type Poster interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error)
}

// Opener opens sealed webhook secrets.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Nudger tells the worker, after a delay of at most 15 minutes, to look at a delivery. A lost nudge is made up for
// by the sweeper.
type Nudger interface {
	NudgeDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error
}
