package webhook

import (
	"slices"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// SecretPurpose stands in the encryption context of what is sealed of a subscription.
const SecretPurpose = "webhook-secret"

// Subscription is one webhook of an organisation in one mode.
type Subscription struct {
	ID      string // UUID
	Tenant  org.Tenant
	URL     string
	Note    string // what its owner calls it by
	Types   []Type
	Secrets []SealedSecret // newest first; an older one still signs until it expires
	// Private is what else nobody may see, sealed as one: the ed25519 key, the values of the headers, the log's key.
	Private     []byte
	PublicKey   string   // "whpk_…" of the ed25519 key; empty without one
	HeaderNames []string // of the headers that are sent besides ours
	Rate        int      // attempts per second; 0 means defaultRate
	Disabled    bool
	DisabledAt  time.Time
	DisabledFor Reason
	CreatedAt   time.Time
	Rev         int64
	Health      Health // read with the subscription, stored beside it
}

// SealedSecret is a signing secret, sealed under the key for webhook secrets and bound to its subscription.
type SealedSecret struct {
	Sealed    []byte
	ExpiresAt time.Time // zero for the current one
}

func (s SealedSecret) isLive(now time.Time) bool {
	return s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt)
}

// SecretBinding is what a sealed secret of the subscription is bound to.
func (s Subscription) SecretBinding() string { return "webhook|" + s.Tenant.Key() + "|" + s.ID }

// Directed is the delivery of an event that is for this subscription alone, due at now.
func (s Subscription) Directed(event Event, now time.Time) Delivery {
	d := Delivery{
		ID: DeliveryID(event.ID, s.ID), Tenant: event.Tenant, EventID: event.ID, SubscriptionID: s.ID,
		Attempt: 1, Fence: 1, Trigger: ByHand, CreatedAt: now,
	}
	d.schedule(now, now)
	return d
}

// has reports whether the subscription is for events of t.
func (s Subscription) has(t Type) bool { return slices.Contains(s.Types, t) }

// defaultRate is how many attempts a second an endpoint gets that nothing else was agreed for
// (docs/guide/webhooks.md, Retries).
const defaultRate = 50

// DeliveryID is the id of an event's delivery to a subscription: always the same, so a fan-out done twice makes the
// same rows (docs/reference/deviations.md, Webhooks).
func DeliveryID(eventID, subscriptionID string) string {
	return ids.Derive("delivery", eventID, subscriptionID)
}
