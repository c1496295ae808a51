package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"recordbridge/shared/ids"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

// NoticeKind says what an organisation is told by e-mail.
type NoticeKind string

// The kinds.
const (
	NoticeFailing  NoticeKind = "webhook_failing"
	NoticeDisabled NoticeKind = "webhook_disabled"
	// What was made is told (spec section 5.7), in case it was not the organisation who made it.
	NoticeWebhookCreated    NoticeKind = "webhook_created"
	NoticeSecretRotated     NoticeKind = "webhook_secret_rotated"
	NoticeCredentialCreated NoticeKind = "credential_created" //nolint:gosec // G101: the name of a kind
	NoticeKeyCreated        NoticeKind = "key_created"
)

// Notice is an e-mail to an organisation about one of its webhooks or credentials. It holds no content of events and no
// secret.
type Notice struct {
	ID             string // the same for the same occasion
	Tenant         org.Tenant
	Kind           NoticeKind
	SubscriptionID string
	URL            string // of the subscription, as far as others may see it
	Rev            int64  // of the subscription that is to be disabled
	PublicID       string // of the credential
	Reason         Reason // of a disabled one
	Failures       int
	FailingSince   time.Time
	At             time.Time
	Fence          int64 // one more with every claim; whoever has an older one may not settle it
}

// NoticeOutcome says what has become of a notice.
type NoticeOutcome string

// The outcomes.
const (
	NoticeSent      NoticeOutcome = "sent"
	NoticeNobody    NoticeOutcome = "no_addresses" // the organisation has none
	NoticeNoSender  NoticeOutcome = "no_sender"    // this stack sends no e-mails
	NoticeAbandoned NoticeOutcome = "given_up"     // it could not be sent for as long as notices are kept
)

// Notices is the outbox of e-mails. A notice that is there already is sent no second time.
type Notices interface {
	Notify(ctx context.Context, n Notice) error
}

// Outbox stores notices and has them sent at once.
type Outbox struct {
	Rows   Notices
	Nudger interface {
		NudgeNotice(ctx context.Context, tenant org.Tenant, id string) error
	}
}

// Notify implements Notices. A nudge that fails is made up for by the sweeper, so it stops nobody: what a notice tells of
// has to go on.
func (o Outbox) Notify(ctx context.Context, n Notice) error {
	if err := o.Rows.Notify(ctx, n); err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	if err := o.Nudger.NudgeNotice(ctx, n.Tenant, n.ID); err != nil {
		logx.Add(ctx, slog.Bool("notice_not_nudged", true))
	}
	return nil
}

// Created tells that a subscription was made.
func Created(s Subscription) Notice {
	return Notice{
		ID: ids.Derive("notice", s.ID, string(NoticeWebhookCreated)), Tenant: s.Tenant, Kind: NoticeWebhookCreated,
		SubscriptionID: s.ID, URL: shownURL(s.URL), At: s.CreatedAt,
	}
}

// Rotated tells that a subscription has a new signing secret. S is as it was before: its revision counts the occasions.
func Rotated(s Subscription, at time.Time) Notice {
	return Notice{
		ID: ids.Derive("notice", s.ID, string(NoticeSecretRotated), strconv.FormatInt(s.Rev, 10)), Tenant: s.Tenant, Kind: NoticeSecretRotated,
		SubscriptionID: s.ID, URL: shownURL(s.URL), At: at,
	}
}

// KeyCreated tells that a credential has another private key.
func KeyCreated(c org.Credential, key org.Key) Notice {
	return Notice{
		ID: ids.Derive("notice", key.ID, string(NoticeKeyCreated)), Tenant: c.Tenant, Kind: NoticeKeyCreated,
		PublicID: c.PublicID(), At: key.CreatedAt,
	}
}

// Stopped tells that an operator has disabled a subscription, which was s before.
func Stopped(s Subscription, at time.Time) Notice { return disabled(s, ReasonByHand, s.Health, at) }

// CredentialCreated tells that a credential was made.
func CredentialCreated(c org.Credential) Notice {
	return Notice{
		ID: ids.Derive("notice", c.ID, string(NoticeCredentialCreated)), Tenant: c.Tenant, Kind: NoticeCredentialCreated,
		PublicID: c.PublicID(), At: c.CreatedAt,
	}
}

// failing is the warning about a run of failures.
func failing(s Subscription, j judgement) Notice {
	since := j.next.FailingSince
	return Notice{
		ID:     ids.Derive("notice", s.ID, string(NoticeFailing), since.UTC().Format(time.RFC3339Nano), strconv.Itoa(j.next.Warned)),
		Tenant: s.Tenant, Kind: NoticeFailing, SubscriptionID: s.ID, URL: shownURL(s.URL),
		Failures: j.next.Failures, FailingSince: since, At: j.next.LastFailure,
	}
}

// disabled tells that a subscription was disabled. A subscription has a new revision whenever it is enabled again.
func disabled(s Subscription, reason Reason, h Health, at time.Time) Notice {
	return Notice{
		ID:     ids.Derive("notice", s.ID, string(NoticeDisabled), s.CreatedAt.UTC().Format(time.RFC3339Nano), strconv.FormatInt(s.Rev, 10)),
		Tenant: s.Tenant, Kind: NoticeDisabled, SubscriptionID: s.ID, URL: shownURL(s.URL), Rev: s.Rev, Reason: reason,
		Failures: h.Failures, FailingSince: h.FailingSince, At: at,
	}
}

// shownURL leaves out of a webhook's URL where its owner may have put a secret.
func shownURL(text string) string {
	target, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path, RawPath: target.RawPath}).String()
}
