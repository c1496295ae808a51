// Package notice sends email to an organisation about its webhooks and credentials, and to the operator about support
// tickets. The package defines when a notice is sent, its text and its retry period. A notice is stored as a row before
// the webhook worker sends it, so that it can't be lost (ADR 4).
package notice

import (
	"net/url"
	"strconv"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Kind is a notice's subject.
type Kind string

// Kinds of notices.
const (
	KindFailing  Kind = "webhook_failing"
	KindDisabled Kind = "webhook_disabled"
	// Notices about changes that someone outside the organisation might have made.
	KindWebhookCreated    Kind = "webhook_created"
	KindWebhookMoved      Kind = "webhook_moved"
	KindSecretRotated     Kind = "webhook_secret_rotated"
	KindCredentialCreated Kind = "credential_created" //nolint:gosec // G101: the name of a kind
	KindKeyCreated        Kind = "key_created"
	// Notices about an operator's decisions on live mode.
	KindLiveApproved  Kind = "live_access_approved"
	KindLiveRefused   Kind = "live_access_refused"
	KindLiveWithdrawn Kind = "live_access_withdrawn"
	// KindSupport marks a notice to the operator rather than to the organisation.
	KindSupport Kind = "support_requested"
)

// Notice is an email to an organisation about a webhook, a credential or live mode, or to the operator about a support
// ticket. A Notice contains no event content and no secrets.
type Notice struct {
	ID             string // identical for repeated notices about the same occasion
	Tenant         org.Tenant
	Kind           Kind
	SubscriptionID string
	URL            string // the subscription's URL, without any parts that may be secret
	Rev            int64  // revision of the subscription to disable
	PublicID       string // public ID of the credential
	InquiryID      string // ID of the support ticket's inquiry
	Reason         webhook.Reason
	Failures       int
	FailingSince   time.Time
	At             time.Time
	Fence          int64 // incremented by every claim, so that an earlier claimant can't finish the notice
}

// Outcome is the result of processing a notice.
type Outcome string

// Outcomes of processing a notice.
const (
	Sent        Outcome = "sent"
	NoAddresses Outcome = "no_addresses" // the organisation or the operator has no email address
	NoSender    Outcome = "no_sender"    // this stack does not send email
	GivenUp     Outcome = "given_up"     // the email could not be sent within the retry period

	limited Outcome = "limited" // every address has reached its limit, so the email is retried later
)

// WebhookCreated returns the notice that a subscription was created.
func WebhookCreated(s webhook.Subscription) Notice {
	n := about(s, KindWebhookCreated, s.CreatedAt)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind))
	return n
}

// WebhookMoved returns the notice that a subscription has a new URL. s holds the new URL. s.Rev, the previous revision,
// distinguishes repeated changes.
func WebhookMoved(s webhook.Subscription, at time.Time) Notice {
	n := about(s, KindWebhookMoved, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), strconv.FormatInt(s.Rev, 10))
	return n
}

// SecretRotated returns a notice that a subscription has a new signing secret. s is the subscription before the
// rotation; its revision distinguishes repeated rotations.
func SecretRotated(s webhook.Subscription, at time.Time) Notice {
	n := about(s, KindSecretRotated, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), strconv.FormatInt(s.Rev, 10))
	return n
}

// KeyCreated returns a notice that a credential has a new private key.
func KeyCreated(c org.Credential, key org.Key) Notice {
	return Notice{
		ID: ids.Derive("notice", key.ID, string(KindKeyCreated)), Tenant: c.Tenant, Kind: KindKeyCreated,
		PublicID: c.PublicID(), At: key.CreatedAt,
	}
}

// CredentialCreated returns a notice that a credential was created.
func CredentialCreated(c org.Credential) Notice {
	return Notice{
		ID: ids.Derive("notice", c.ID, string(KindCredentialCreated)), Tenant: c.Tenant, Kind: KindCredentialCreated,
		PublicID: c.PublicID(), At: c.CreatedAt,
	}
}

// LiveApproved returns a notice that an organisation has live mode. o is the organisation after the decision.
func LiveApproved(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveApproved, at) }

// LiveRefused returns the notice that an organisation's request for live mode was refused. o is the organisation after
// the decision.
func LiveRefused(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveRefused, at) }

// LiveWithdrawn returns the notice that an organisation no longer has live mode. o is the organisation after the
// decision.
func LiveWithdrawn(o org.Organisation, at time.Time) Notice { return decided(o, KindLiveWithdrawn, at) }

// decided returns the notice of a decision about live mode. The organisation's revision distinguishes repeated
// decisions.
func decided(o org.Organisation, kind Kind, at time.Time) Notice {
	return Notice{
		ID:     ids.Derive("notice", o.ID, string(kind), strconv.FormatInt(o.Rev, 10)),
		Tenant: org.Tenant{Mode: org.Live, OrgID: o.ID}, Kind: kind, At: at,
	}
}

// SupportRequested returns the notice that informs the operator of a support ticket. The notice doesn't contain the
// ticket's text.
func SupportRequested(tenant org.Tenant, inquiryID string, at time.Time) Notice {
	return Notice{
		ID: ids.Derive("notice", inquiryID, string(KindSupport)), Tenant: tenant, Kind: KindSupport,
		InquiryID: inquiryID, At: at,
	}
}

// DisabledByHand returns the notice that an operator has disabled a subscription. s is the subscription before it was
// disabled.
func DisabledByHand(s webhook.Subscription, at time.Time) Notice {
	return disabled(s, webhook.ReasonByHand, s.Health, at)
}

// failing returns the notice for the latest warning counted in h.
func failing(s webhook.Subscription, h webhook.Health) Notice {
	n := about(s, KindFailing, h.LastFailure)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), h.FailingSince.UTC().Format(time.RFC3339Nano),
		strconv.Itoa(h.Warned))
	n.Failures, n.FailingSince = h.Failures, h.FailingSince
	return n
}

// disabled returns a notice that a subscription was disabled. Enabling a subscription changes its revision, so later
// notices are distinct from earlier ones.
func disabled(s webhook.Subscription, reason webhook.Reason, h webhook.Health, at time.Time) Notice {
	n := about(s, KindDisabled, at)
	n.ID = ids.Derive("notice", s.ID, string(n.Kind), s.CreatedAt.UTC().Format(time.RFC3339Nano),
		strconv.FormatInt(s.Rev, 10))
	n.Rev, n.Reason, n.Failures, n.FailingSince = s.Rev, reason, h.Failures, h.FailingSince
	return n
}

func about(s webhook.Subscription, kind Kind, at time.Time) Notice {
	return Notice{Tenant: s.Tenant, Kind: kind, SubscriptionID: s.ID, URL: ShownURL(s.URL), At: at}
}

// ShownURL returns a webhook's URL without the parts that may be secret.
func ShownURL(text string) string {
	target, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path, RawPath: target.RawPath}).String()
}
