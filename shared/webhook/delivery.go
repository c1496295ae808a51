package webhook

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
)

// DeliveryStatus is a delivery's status.
type DeliveryStatus string

// Delivery statuses. A delivery is scheduled or in flight until it ends with one of the other statuses.
const (
	Scheduled DeliveryStatus = "scheduled"
	InFlight  DeliveryStatus = "inflight"
	Delivered DeliveryStatus = "delivered"
	Exhausted DeliveryStatus = "exhausted" // every attempt failed, or further attempts can't succeed
	Held      DeliveryStatus = "held"      // the subscription is disabled; a replay can resend the event
)

// Trigger is the reason for an attempt.
type Trigger string

// Triggers for an attempt.
const (
	ByClock Trigger = "schedule"
	ByHand  Trigger = "manual" // first attempt after a replay
)

// Delivery is the delivery of an event to a subscription.
type Delivery struct {
	ID             string // UUIDv5 of the event and the subscription
	Tenant         org.Tenant
	EventID        string
	SubscriptionID string
	Status         DeliveryStatus
	Attempt        int       // number of the next or current attempt, starting at 1
	Fence          int64     // incremented by every claim; writes by older claims are rejected
	NextAt         time.Time // earliest start of the next attempt
	Paced          bool      // whether NextAt is a slot reserved under the endpoint's rate limit
	Slowly         bool      // whether the slot at NextAt was reserved while the endpoint was slow
	Trigger        Trigger   // reason for the next or current attempt
	LastStatus     int       // HTTP status of the last attempt; 0 if there was no attempt or no response
	LastFailure    Failure   // failure of the last attempt; empty on success
	LeaseUntil     time.Time // expiry of the claim's lease
	DueAt          time.Time // time of the sweeper's next check; zero if the delivery has ended
	CreatedAt      time.Time
}

// Attempt records a delivery's POST for the delivery log.
type Attempt struct {
	Number  int // the delivery's attempt number, which is repeated after an internal failure
	Trigger Trigger
	At      time.Time
	Latency time.Duration
	// RequestHeader holds the headers that were sent, without the values of the subscription's custom headers.
	RequestHeader  map[string]string
	Status         int // HTTP status; 0 if there was no response
	ResponseHeader map[string]string
	Failure        Failure // class of the failure; empty on success
	// SealedBody holds the first 2 KiB of the response body (Subscription.OpenAnswer). The body is encrypted, because
	// it may echo the request.
	SealedBody []byte
}

// Failure classifies a failed attempt (docs/guide/webhooks.md, Retries).
type Failure string

// Classes of failed attempts.
const (
	FailedStatus  Failure = "http_status"
	FailedTimeout Failure = "timeout"
	FailedDNS     Failure = "dns"
	FailedTLS     Failure = "tls"
	FailedConnect Failure = "connect"
	FailedBlocked Failure = "blocked_address" // The IP address is not allowed, so retries can't succeed.
	Unsubscribed  Failure = "unsubscribed"    // the subscription was removed or no longer receives the type
)

// Store stores events, deliveries and subscriptions.
type Store interface {
	// Event reads an event with a consistent read.
	Event(ctx context.Context, tenant org.Tenant, id string) (Event, error)
	// Subscriptions reads the tenant's subscriptions and their health with a consistent read.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]Subscription, error)
	// FanOut creates an event's deliveries and marks the event, in a single transaction. It returns fault.Conflict if
	// the event is already marked.
	FanOut(ctx context.Context, event Event, deliveries []Delivery) error
	// ClaimDelivery marks a delivery as in flight until leaseUntil. It returns fault.Conflict unless the delivery is
	// scheduled and due at now, or in flight with an expired lease.
	ClaimDelivery(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Delivery, error)
	// RecordAttempt stores an attempt and the outcome of the claim d.Fence. It returns fault.Conflict if another claim
	// has replaced the caller's claim.
	RecordAttempt(ctx context.Context, d Delivery, attempt Attempt) error
	// ParkDelivery releases the claim d.Fence without making an attempt. It returns fault.Conflict if another claim has
	// replaced the caller's claim.
	ParkDelivery(ctx context.Context, d Delivery) error
}

// Poster sends a signed POST and reports its outcome. All errors are internal; a failure of the receiver is reported in
// the Answer instead.
type Poster interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error)
}

// Opener decrypts a subscription's sealed values.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Queue queues a delivery for the worker, with a delay of at most 15 minutes. If a message is lost, the sweeper starts
// the delivery.
type Queue interface {
	EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error
}
