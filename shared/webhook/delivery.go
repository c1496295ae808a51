package webhook

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
)

// DeliveryStatus is the status of a delivery.
type DeliveryStatus string

// The statuses: scheduled and inflight until the delivery ends with one of the others.
const (
	Scheduled DeliveryStatus = "scheduled"
	InFlight  DeliveryStatus = "inflight"
	Delivered DeliveryStatus = "delivered"
	Exhausted DeliveryStatus = "exhausted" // every attempt failed, or further attempts cannot help
	Held      DeliveryStatus = "held"      // its subscription is disabled; stored for a replay
)

// Trigger is the reason for an attempt.
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
	Attempt        int       // number of the next or current attempt, from 1
	Fence          int64     // incremented by every claim; results of older claims are refused
	NextAt         time.Time // earliest start of the attempt
	Paced          bool      // NextAt is a slot in the endpoint's rate, reserved for this delivery
	Slowly         bool      // the slot was reserved while the endpoint was slow
	Trigger        Trigger   // of the next or current attempt
	LeaseUntil     time.Time // end of the claim's lease
	DueAt          time.Time // time of the sweeper's next check; zero once ended
	CreatedAt      time.Time
}

// Attempt is one POST of a delivery, as the delivery log shows it.
type Attempt struct {
	Number  int // the delivery's attempt number; repeated after an internal failure
	Trigger Trigger
	At      time.Time
	Latency time.Duration
	// RequestHeader holds the headers sent; of the subscription's own headers, only the names are stored.
	RequestHeader  map[string]string
	Status         int // HTTP status; 0 without a response
	ResponseHeader map[string]string
	Failure        Failure // empty on success
	// SealedBody is the first 2 KiB of the response, which may echo the request (Subscription.OpenAnswer).
	SealedBody []byte
}

// Failure classifies an attempt that did not succeed (docs/guide/webhooks.md, Retries).
type Failure string

// The failure classes.
const (
	FailedStatus  Failure = "http_status"
	FailedTimeout Failure = "timeout"
	FailedDNS     Failure = "dns"
	FailedTLS     Failure = "tls"
	FailedConnect Failure = "connect"
	FailedBlocked Failure = "blocked_address" // the address is not permitted; retries cannot help
	Unsubscribed  Failure = "unsubscribed"    // the subscription was removed or no longer receives the type
)

// Store stores events, deliveries and subscriptions.
type Store interface {
	// Event reads an event, consistently.
	Event(ctx context.Context, tenant org.Tenant, id string) (Event, error)
	// Subscriptions returns the tenant's subscriptions with their health, consistently.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]Subscription, error)
	// FanOut creates an event's deliveries with their statuses and marks the event, in one transaction; fault.Conflict if
	// that has already been done.
	FanOut(ctx context.Context, event Event, deliveries []Delivery) error
	// ClaimDelivery marks a delivery as in flight until leaseUntil if it is scheduled and due at now, or in flight under
	// an expired lease; else fault.Conflict.
	ClaimDelivery(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Delivery, error)
	// RecordAttempt stores the outcome of the claim d.Fence together with its attempt; fault.Conflict if another claim has
	// taken over.
	RecordAttempt(ctx context.Context, d Delivery, attempt Attempt) error
	// ParkDelivery ends the claim d.Fence without an attempt; fault.Conflict if another claim has taken over.
	ParkDelivery(ctx context.Context, d Delivery) error
}

// Poster sends one signed POST and reports its outcome. An error is internal, never the receiver's.
type Poster interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error)
}

// Opener decrypts the sealed values of a subscription.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Queue asks the worker to process a delivery after a delay of at most 15 minutes. The sweeper makes up for a lost
// message.
type Queue interface {
	EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error
}
