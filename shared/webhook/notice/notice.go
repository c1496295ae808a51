// Package notice owns what an organisation is told by e-mail of its webhooks and credentials, and the operator of
// support tickets: when it is told, in which words, and for how long an e-mail that cannot be sent is tried again. A
// notice is a row first, so that none is forgotten (ADR 4); the webhook worker sends it. It knows no SES and no table.
package notice

import (
	"net/url"
	"strconv"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Kind says what an organisation is told.
type Kind string

// The kinds.
const (
	KindFailing  Kind = "webhook_failing"
	KindDisabled Kind = "webhook_disabled"
	// What was made is told in case it was not the organisation who had it made.
	KindWebhookCreated    Kind = "webhook_created"
	KindWebhookMoved      Kind = "webhook_moved"
	KindSecretRotated     Kind = "webhook_secret_rotated"
	KindCredentialCreated Kind = "credential_created" //nolint:gosec // G101: the name of a kind
	KindKeyCreated        Kind = "key_created"
	// An operator decides on live mode.
	KindLiveApproved  Kind = "live_access_approved"
	KindLiveRefused   Kind = "live_access_refused"
	KindLiveWithdrawn Kind = "live_access_withdrawn"
	// KindSupport goes to the operator, not to the organisation.
	KindSupport Kind = "support_requested"
)

// Notice is an e-mail to an organisation about one of its webhooks or credentials, or its live mode, or one to the
// operator about a support ticket. It holds no content of events and no secret.
type Notice struct {
	ID             string // the same for the same occasion
	Tenant         org.Tenant
	Kind           Kind
	SubscriptionID string
	URL            string // of the subscription, as far as others may see it
	Rev            int64  // of the subscription that is to be disabled
	PublicID       string // of the credential
	InquiryID      string // of the support ticket
	Reason         webhook.Reason
	Failures       int
	FailingSince   time.Time
	At             time.Time
	Fence          int64 // one more with every claim; whoever has an older one may not finish it
}

// Outcome says what has become of a notice.
type Outcome string

// The outcomes.
const (
	Sent        Outcome = "sent"
	NoAddresses Outcome = "no_addresses" // the organisation, or the operator, has none
	NoSender    Outcome = "no_sender"    // this stack sends no e-mails
	GivenUp     Outcome = "given_up"     // it could not be sent for as long as notices are kept

	limited Outcome = "limited" // no address can be sent another notice now; it is tried again
)

// WebhookCreated tells that a subscription was made.
func WebhookCreated(s webhook.Subscription) Notice {
	n := about(s, KindWebhookCreated, s.CreatedAt)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind))
	return n
}

// WebhookMoved tells that a subscription has another address, which is that of s. Its revision, as it was
// before, counts the occasions.
func WebhookMoved(s webhook.Subscription, at time.Time) Notice {
	n := about(s, KindWebhookMoved, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), strconv.FormatInt(s.Rev, 10))
	return n
}

// SecretRotated tells that a subscription has a new signing secret. S is as it was before: its revision counts the
// occasions.
func SecretRotated(s webhook.Subscription, at time.Time) Notice {
	n := about(s, KindSecretRotated, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), strconv.FormatInt(s.Rev, 10))
	return n
}

// KeyCreated tells that a credential has another private key.
func KeyCreated(c org.Credential, key org.Key) Notice {
	return Notice{
		ID: ids.Derive("notice", key.ID, string(KindKeyCreated)), Tenant: c.Tenant, Kind: KindKeyCreated,
		PublicID: c.PublicID(), At: key.CreatedAt,
	}
}

// CredentialCreated tells that a credential was made.
func CredentialCreated(c org.Credential) Notice {
	return Notice{
		ID: ids.Derive("notice", c.ID, string(KindCredentialCreated)), Tenant: c.Tenant, Kind: KindCredentialCreated,
		PublicID: c.PublicID(), At: c.CreatedAt,
	}
}

// LiveApproved tells an organisation, as it was decided on, that it has live mode.
func LiveApproved(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveApproved, at) }

// LiveRefused tells an organisation, as it was decided on, that its request for live mode was refused.
func LiveRefused(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveRefused, at) }

// LiveWithdrawn tells an organisation, as it was decided on, that it no longer has live mode.
func LiveWithdrawn(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveWithdrawn, at) }

// decided is a notice about live mode. The organisation's revision counts the occasions.
func decided(o org.Organisation, kind Kind, at time.Time) Notice {
	return Notice{
		ID:     ids.Derive("notice", o.ID, string(kind), strconv.FormatInt(o.Rev, 10)),
		Tenant: org.Tenant{Mode: org.Live, OrgID: o.ID}, Kind: kind, At: at,
	}
}

// SupportRequested tells the operator that a support ticket was filed. What it says stays in the inquiry.
func SupportRequested(tenant org.Tenant, inquiryID string, at time.Time) Notice {
	return Notice{
		ID: ids.Derive("notice", inquiryID, string(KindSupport)), Tenant: tenant, Kind: KindSupport,
		InquiryID: inquiryID, At: at,
	}
}

// DisabledByHand tells that an operator has disabled a subscription, which was s before.
func DisabledByHand(s webhook.Subscription, at time.Time) Notice {
	return disabled(s, webhook.ReasonByHand, s.Health, at)
}

// failing is the warning about a run of failures, the one that h counts last.
func failing(s webhook.Subscription, h webhook.Health) Notice {
	n := about(s, KindFailing, h.LastFailure)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), h.FailingSince.UTC().Format(time.RFC3339Nano),
		strconv.Itoa(h.Warned))
	n.Failures, n.FailingSince = h.Failures, h.FailingSince
	return n
}

// disabled tells that a subscription was disabled. A subscription has a new revision whenever it is enabled again.
func disabled(s webhook.Subscription, reason webhook.Reason, h webhook.Health, at time.Time) Notice {
	n := about(s, KindDisabled, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), s.CreatedAt.UTC().Format(time.RFC3339Nano),
		strconv.FormatInt(s.Rev, 10))
	n.Rev, n.Reason, n.Failures, n.FailingSince = s.Rev, reason, h.Failures, h.FailingSince
	return n
}

func about(s webhook.Subscription, kind Kind, at time.Time) Notice {
	return Notice{Tenant: s.Tenant, Kind: kind, SubscriptionID: s.ID, URL: shownURL(s.URL), At: at}
}

// shownURL leaves out of a webhook's URL where its owner may have put a secret.
func shownURL(text string) string {
	target, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path, RawPath: target.RawPath}).String()
}
