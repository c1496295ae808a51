package verification

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

const (
	codes    = 1_000_000 // number of possible six-digit codes
	day      = 24 * time.Hour
	mailTime = 6 * time.Second
)

// Mailer sends an email with text and HTML bodies; mail.Sender implements it. It returns fault.Invalid if the address
// can't receive email.
type Mailer interface {
	Send(ctx context.Context, to []string, subject, text, html string) error
}

// Limits counts emails across all tenants; maillimit.Limiter implements it. It returns fault.Limited if an email would
// exceed a limit.
type Limits interface {
	Take(ctx context.Context, m maillimit.Mail) error
}

// Sender sends codes by email. All fields except Mailer are required.
type Sender struct {
	Store   SendStore
	Mailer  Mailer // nil if the stack can't send email
	Keys    secret.Keyring
	Random  io.Reader
	NewID   ids.Source
	Now     func() time.Time
	PerHour int // maximum codes per hour from one tenant to a mailbox; half of the daily limit
	Limits  Limits
}

// Request describes a request to send a code.
type Request struct {
	Tenant org.Tenant
	// Organisation is the organisation's name, as shown in the patient's email. Organisation is empty unless the
	// organisation is approved for live mode. Emails for unapproved organisations name the service instead of the
	// organisation, and have lower limits.
	Organisation string
	From         maillimit.From // party on whose behalf the code is sent
	Email        string
	Language     string // BCP 47 tag; emails are in English if the language is not supported
	Network      string // network from which the request came
	Occasion     Occasion
	// Device identifies a known browser of the mailbox's owner. Codes for a known browser are counted separately, so
	// other people can't exhaust the owner's limit. Device is empty if the browser is unknown.
	Device string
}

// Occasion is the purpose for which a code is sent.
type Occasion string

// Reasons for sending a code.
const (
	Form          Occasion = "" // a patient filled in a form on one of the service's pages
	SignIn        Occasion = "sign_in"
	NewAddress    Occasion = "new_address"
	NoticeAddress Occasion = "notice_address" // an organisation is verifying an email address for notices
)

// Sent describes a code sent by email.
type Sent struct {
	ID          string
	ExpiresAt   time.Time
	ResendAfter time.Time
}

// Send sends a code by email. The result doesn't depend on the address's owner. Send returns fault.Limited if too many
// codes were sent, or fault.Unavailable if the email can't be sent. If sending fails, the code still counts as sent,
// because the email may have arrived.
func (s Sender) Send(ctx context.Context, r Request) (Sent, error) {
	to, err := ParseAddress(r.Email)
	if err != nil {
		return Sent{}, err
	}
	if s.Mailer == nil {
		return Sent{}, fault.New(fault.Unavailable, fault.CodeUnavailable, "This service is not set up to send e-mail.")
	}
	digits, err := s.digits()
	if err != nil {
		return Sent{}, err
	}
	now := s.Now()
	code := Code{
		ID: s.NewID(), Tenant: r.Tenant, Address: s.Keys.Sign(addressText(r.Tenant, to)),
		ExpiresAt: now.Add(codeLife),
	}
	code.Mark = s.Keys.Sign(codeText(r.Tenant, code.ID, digits))
	if err := s.store(ctx, code, r, to); err != nil {
		return Sent{}, err
	}
	l := write(r, digits)
	ctx, cancel := context.WithTimeout(ctx, mailTime) // leaves time to report that sending failed
	defer cancel()
	if err := s.Mailer.Send(ctx, []string{to.String()}, l.Subject, l.Text(), l.HTML()); err != nil {
		return Sent{}, unsent(err)
	}
	return Sent{ID: code.ID, ExpiresAt: code.ExpiresAt, ResendAfter: now.Add(resendAfter)}, nil
}

// digits returns six random digits, chosen uniformly.
func (s Sender) digits() (string, error) {
	n, err := rand.Int(s.Random, big.NewInt(codes))
	if err != nil {
		return "", fmt.Errorf("random code: %w", err)
	}
	return fmt.Sprintf("%06d", n), nil
}

// store stores a code unless too many codes were sent to its mailbox. Concurrent requests count towards this limit.
func (s Sender) store(ctx context.Context, code Code, r Request, to Address) error {
	mailbox, now := hex.EncodeToString(s.Keys.Sign(mailboxText(r.Tenant, to, r.Device)).Sum), s.Now()
	isCounted := false
	return retry.OnConflict(ctx, retry.Tries, func() error {
		known, err := s.Store.Sendings(ctx, code.Tenant, mailbox)
		if err != nil {
			return fmt.Errorf("read sendings: %w", err)
		}
		known.Sent = slices.DeleteFunc(known.Sent, func(one Sending) bool { return !now.Before(one.At.Add(day)) })
		next := Sending{At: now, Network: hex.EncodeToString(s.Keys.Sign(networkText(known, r.Network)).Sum[:8])}
		if wait := s.wait(known.Sent, next); wait > 0 {
			return fault.New(fault.Limited, fault.CodeRateLimited,
				"A code was already sent to this address. Please wait before you request another one.").After(wait)
		}
		if !isCounted { // codes rejected by the tenant's limits do not count towards the limits across tenants
			if err = s.count(ctx, r, to); err != nil {
				return err
			}
			isCounted = true
		}
		if code.Tries = 0; len(known.Sent) >= s.perDay() {
			code.Tries = tries - 1
		}
		known.Sent = append(known.Sent, next)
		if err = s.Store.CreateCode(ctx, code, known); err != nil {
			return fmt.Errorf("store code: %w", err)
		}
		return nil
	})
}

// count counts an emailed code against the limits that apply across all tenants. Sign-in codes are exempt, because they
// all belong to a single tenant, whose own limits cover them.
func (s Sender) count(ctx context.Context, r Request, to Address) error {
	m := maillimit.Mail{Purpose: maillimit.PatientCode, From: r.From, To: to.String()}
	switch {
	case r.Occasion == SignIn:
		return nil
	case r.Occasion == NewAddress:
		m.Purpose = maillimit.AccountAddress
	case r.Occasion == NoticeAddress:
		m.Purpose = maillimit.NoticeAddress
	case r.Organisation != "":
		m.Purpose = maillimit.ApprovedCode
	}
	if err := s.Limits.Take(ctx, m); err != nil {
		return fmt.Errorf("count code: %w", err)
	}
	return nil
}

// perDay returns the number of codes per mailbox and day that allow the full number of attempts. The same number also
// limits the codes that one network may request. The limit restricts guessing without letting strangers lock out the
// owner. An attacker can use up attempts, but the owner needs only one attempt (docs/develop/threats-accounts.md,
// "Guessing codes").
func (s Sender) perDay() int { return 2 * s.PerHour }

// wait returns the time until another code may be sent to a mailbox, given the codes already sent. One code per hour is
// reserved for other networks.
func (s Sender) wait(sent []Sending, next Sending) time.Duration {
	own := slices.DeleteFunc(slices.Clone(sent), func(one Sending) bool { return one.Network != next.Network })
	return max(
		until(sent, 1, resendAfter, next.At),
		until(sent, s.PerHour, time.Hour, next.At),
		until(own, max(1, s.PerHour-1), time.Hour, next.At),
		until(own, s.perDay(), day, next.At),
	)
}

// until returns the time until fewer than n of the sent codes lie within window.
func until(sent []Sending, n int, window time.Duration, now time.Time) time.Duration {
	if len(sent) < n {
		return 0
	}
	return max(0, sent[len(sent)-n].At.Add(window).Sub(now))
}

// unsent returns the error that the patient sees if an email could not be sent.
func unsent(err error) error {
	if errors.Is(err, fault.Invalid) {
		return fault.BadRequest("We can't send e-mail to this address. Check it for typos.").About("email").Because(err)
	}
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"The e-mail could not be sent. Please try again in a minute.").
		After(resendAfter).Because(err)
}
