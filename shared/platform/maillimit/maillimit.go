// Package maillimit limits the number of emails per sender, per day, and per recipient mailbox across all organisations
// (docs/adr/0042-mail-is-not-a-relay.md). Addresses are stored only as keyed hashes.
package maillimit

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// Limiter counts emails before they are sent and enforces the limits. All fields are required.
type Limiter struct {
	Buckets Buckets
	Keys    secret.Keyring
	Now     func() time.Time
}

// Buckets stores rate limit buckets; store.Flow implements it.
type Buckets interface {
	Take(ctx context.Context, bucket string, limit ratelimit.Limit, now time.Time) (ratelimit.Decision, error)
}

// From identifies the sender responsible for an email. Empty fields are not counted.
type From struct {
	Account      string // member's account ID
	Organisation string // ID returned by org.Organisation.MailSender
}

// Mail describes an email to one address.
type Mail struct {
	Purpose Purpose
	From    From
	To      string
}

// Take counts an email against its limits. It returns fault.Limited if any limit is exceeded. The mailbox's limit is
// checked last, so that an email rejected because of its sender uses none of the mailbox's budget.
func (l Limiter) Take(ctx context.Context, m Mail) error {
	limits, mailbox := m.Purpose.limits(), Mailbox(m.To)
	senders := m.From.senders()
	for _, sender := range senders {
		if err := l.take(ctx, m.Purpose, limits.share, sender, mailbox); err != nil {
			return err
		}
	}
	for _, sender := range senders {
		if err := l.take(ctx, m.Purpose, limits.sender, sender, ""); err != nil {
			return err
		}
	}
	return l.take(ctx, m.Purpose, limits.mailbox, "", mailbox)
}

// senders returns the distinct IDs of the senders whose limits apply to an email. For an organisation whose emails
// count against its founder, the ID is the founder's.
func (f From) senders() []string {
	all := make([]string, 0, 2)
	for _, id := range []string{f.Account, f.Organisation} {
		if id != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// take counts an email against one bucket. A bucket belongs to a sender, a mailbox, or both.
func (l Limiter) take(ctx context.Context, p Purpose, perDay int, sender, mailbox string) error {
	if perDay == 0 {
		return nil
	}
	key := l.Keys.Sign([]byte(strings.Join([]string{"mail", string(p), sender, mailbox}, "\x00")))
	limit := ratelimit.Limit{Name: "mail", Quota: perDay, Window: day}
	decision, err := l.Buckets.Take(ctx, "mail-"+hex.EncodeToString(key.Sum), limit, l.Now())
	if err != nil {
		return fmt.Errorf("count e-mail: %w", err)
	}
	if decision.Allowed {
		return nil
	}
	reached, public := "mailbox", "Too many e-mails were sent to this address. Try again later."
	if mailbox == "" {
		reached, public = "sender", "Too many e-mails were sent. Try again later."
	}
	logx.Add(ctx, slog.String("mail_limited", string(p)), slog.String("mail_limit", reached))
	return fault.New(fault.Limited, fault.CodeRateLimited, public).After(decision.RetryAfter)
}

// Mailbox returns the same string for all addresses that visibly deliver to the same mailbox. Mailbox ignores case and
// any part after a plus sign (RFC 5233).
func Mailbox(address string) string {
	address = strings.ToLower(address)
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	local, _, _ := strings.Cut(address[:at], "+")
	return local + address[at:]
}
