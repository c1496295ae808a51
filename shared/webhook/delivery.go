package webhook

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states: scheduled and inflight until the delivery ends as one of the others.
const (
	Scheduled DeliveryStatus = "scheduled"
	InFlight  DeliveryStatus = "inflight"
	Delivered DeliveryStatus = "delivered"
	Exhausted DeliveryStatus = "exhausted" // every attempt failed, or another one cannot help
	Held      DeliveryStatus = "held"      // its subscription is disabled; kept for a replay
)

// Trigger says why an attempt was made.
type Trigger string

// The triggers.
const (
	ByClock Trigger = "schedule"
	ByHand  Trigger = "manual" // the first attempt after a replay
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
	Paced          bool      // NextAt is a place in the endpoint's rate that was reserved for it
	Slowly         bool      // that place was given when the endpoint was a slow one
	Trigger        Trigger   // of the attempt that is next or under way
	LeaseUntil     time.Time // until when the claim is alive
	DueAt          time.Time // when the sweeper has to look at it; zero when it is over
	CreatedAt      time.Time
}

// Attempt is one POST of a delivery, as the delivery log shows it.
type Attempt struct {
	Number  int // the delivery's attempt number; a repeated number was our own fault the first time
	Trigger Trigger
	At      time.Time
	Latency time.Duration
	// RequestHeader is what was sent; of the subscription's own headers only the names are kept.
	RequestHeader  map[string]string
	Status         int // HTTP status; 0 without an answer
	ResponseHeader map[string]string
	Failure        Failure // empty on success
	// SealedBody is the first 2 KiB of the answer, which may echo what was sent (Subscription.OpenAnswer).
	SealedBody []byte
}

// Failure classes an attempt that did not succeed (docs/guide/webhooks.md, Retries).
type Failure string

// The failure classes.
const (
	FailedStatus  Failure = "http_status"
	FailedTimeout Failure = "timeout"
	FailedDNS     Failure = "dns"
	FailedTLS     Failure = "tls"
	FailedConnect Failure = "connect"
	FailedBlocked Failure = "blocked_address" // the address may not be reached; trying again cannot help
	Unsubscribed  Failure = "unsubscribed"    // the subscription was removed or narrowed
)

// Store keeps events, deliveries and subscriptions.
type Store interface {
	// Event reads an event, consistently.
	Event(ctx context.Context, tenant org.Tenant, id string) (Event, error)
	// Subscriptions lists the tenant's subscriptions with their health, consistently.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]Subscription, error)
	// FanOut creates the deliveries of an event, in the states that they have, and marks the event, in one transaction;
	// fault.Conflict when that was done before.
	FanOut(ctx context.Context, event Event, deliveries []Delivery) error
	// ClaimDelivery puts a delivery in flight until leaseUntil, if it is scheduled and due at now, or in flight under
	// a lease that has ended; else fault.Conflict.
	ClaimDelivery(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Delivery, error)
	// RecordAttempt stores the outcome of the claim d.Fence together with its attempt; fault.Conflict when another
	// claim has taken over.
	RecordAttempt(ctx context.Context, d Delivery, attempt Attempt) error
	// ParkDelivery ends the claim d.Fence without an attempt; fault.Conflict when another claim has taken over.
	ParkDelivery(ctx context.Context, d Delivery) error
}

// Poster sends one signed POST and reports what came of it. Its error is our own fault, never the receiver's.
type Poster interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error)
}

// Opener opens what is sealed of a subscription.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Queue tells the worker, after a delay of at most 15 minutes, to look at a delivery. A lost message is made up for
// by the sweeper.
type Queue interface {
	EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error
}
