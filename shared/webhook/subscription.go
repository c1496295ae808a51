package webhook

import (
	"slices"
	"strconv"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/version"
)

// SecretPurpose is the purpose in the encryption context for a subscription's sealed values.
const SecretPurpose = "webhook-secret"

// Subscription is an organisation's webhook in one mode.
type Subscription struct {
	ID      string // UUID
	Tenant  org.Tenant
	URL     string
	Note    string // label chosen by the owner
	Types   []Type
	Secrets []SealedSecret // newest first; older secrets continue to sign until they expire
	// Private holds the ed25519 key, the header values, and the log key, sealed together.
	Private     []byte
	PublicKey   string   // the ed25519 public key, "whpk_…"; empty if there is no key
	HeaderNames []string // names of the subscription's own headers
	HeaderRev   int64    // number of changes to the headers' names or values
	Rate        int      // attempts per second; 0 for defaultRate
	Disabled    bool
	DisabledAt  time.Time
	DisabledFor Reason
	CreatedAt   time.Time
	Rev         int64
	Health      Health // stored in a separate row but read together with the subscription
}

// Version returns the version of the subscription's settings. Secrets, the status and health don't affect it, so
// deliveries and rotations don't invalidate an open form.
func (s Subscription) Version() string {
	types := make([]string, len(s.Types))
	for i, t := range s.Types {
		types[i] = string(t)
	}
	return version.Of([]string{s.URL, s.Note, strconv.Itoa(s.Rate), strconv.FormatInt(s.HeaderRev, 10)}, types)
}

// SealedSecret is an encrypted signing secret, bound to its subscription.
type SealedSecret struct {
	Sealed    []byte
	ExpiresAt time.Time // zero for the current secret
}

func (s SealedSecret) isLive(now time.Time) bool {
	return s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt)
}

// SecretBinding returns the binding for the subscription's sealed secrets.
func (s Subscription) SecretBinding() string { return "webhook|" + s.Tenant.Key() + "|" + s.ID }

// Directed returns a delivery of event to this subscription only, due at now.
func (s Subscription) Directed(event Event, now time.Time) Delivery {
	d := Delivery{
		ID: DeliveryID(event.ID, s.ID), Tenant: event.Tenant, EventID: event.ID, SubscriptionID: s.ID,
		Attempt: 1, Fence: 1, Trigger: ByHand, CreatedAt: now,
	}
	d.schedule(now, now)
	return d
}

// has reports whether the subscription receives events of type t.
func (s Subscription) has(t Type) bool { return slices.Contains(s.Types, t) }

// defaultRate is the number of attempts per second for an endpoint without an agreed rate (docs/guide/webhooks.md,
// Retries).
const defaultRate = 50

// DeliveryID returns the ID of an event's delivery to a subscription. The ID is derived from both arguments, so a
// repeated fan-out creates the same rows (docs/reference/deviations.md, Webhooks).
func DeliveryID(eventID, subscriptionID string) string {
	return ids.Derive("delivery", eventID, subscriptionID)
}
