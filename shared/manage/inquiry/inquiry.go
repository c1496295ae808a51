// Package inquiry owns what patients ask of an organisation while they connect: help, or a health system that is
// missing. Each is an event for the organisation's webhooks, and is kept for those who read it later, and answer it. It
// knows no HTTP and no AWS.
package inquiry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// Inquiry is what a patient has asked. Its texts are plain (see clean.go).
type Inquiry struct {
	ID            string // of the event that tells it
	Tenant        org.Tenant
	Type          webhook.Type
	Email         string
	EmailVerified bool   // the patient has shown that the address is theirs
	Name          string // of the patient, or of the health system that is missing
	Subject       string
	Body          string
	HealthSystem  string // where the patient was when help was needed
	Website       string
	StreetAddress string
	CreatedAt     time.Time
	Status        Status
	Answers       []Answer // oldest first
	Rev           int64    // one more with every change; 0 for one that nobody has touched
}

// From is who asks, as the page says.
type From struct {
	Tenant org.Tenant
	Email  string
	Token  secret.Text // of the address's verification; empty when there was none
	// RequestKey names one sending of one form, which counts once however often it arrives. Without one, the
	// same words count once a day.
	RequestKey string
}

// Support asks for help.
type Support struct {
	Name         string
	Subject      string
	Body         string
	HealthSystem string // optional
}

// HealthSystem asks for one that is missing.
type HealthSystem struct {
	Name          string
	Website       string // optional
	StreetAddress string // optional
}

// Store keeps inquiries (store.Inquiries).
type Store interface {
	// CreateInquiry stores one with its event and notices; fault.Conflict when it is there.
	CreateInquiry(ctx context.Context, i Inquiry, event webhook.Event, notices ...notice.Notice) error
}

// Enqueuer tells the webhook worker of an event or a notice.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Proofs tells whether a token vouches for an address (verification.Proofs).
type Proofs interface {
	Check(ctx context.Context, tenant org.Tenant, token secret.Text, a verification.Address) error
}

// Recorder takes inquiries down. Every field is needed.
type Recorder struct {
	Store    Store
	Enqueuer Enqueuer
	Proofs   Proofs
	Keys     secret.Keyring // what an inquiry is told from others by cannot be guessed from its event's id
	Own      weburl.Own     // to which no website of a health system leads; only AskHealthSystem needs it
	Now      func() time.Time
}

// AskSupport tells the organisation, and the operator, that a patient or one of the organisation's team needs help.
// fault.Invalid for what cannot be taken; what was taken before is taken again.
func (c Recorder) AskSupport(ctx context.Context, from From, s Support) error {
	i, err := c.begin(ctx, from, webhook.SupportRequested)
	var r reader
	i.Name, i.Subject = r.line("name", s.Name, maxName, required), r.line("subject", s.Subject, maxSubject, required)
	i.Body, i.HealthSystem = r.paragraphs("body", s.Body), r.line("health_system", s.HealthSystem, maxName, optional)
	if err = firstOf(err, r.err); err != nil {
		return err
	}
	return c.keep(ctx, from, i, webhook.SupportRequest{
		Email: i.Email, Name: i.HealthSystem, Body: "Subject: " + i.Subject + "\nFrom: " + i.Name + "\n\n" + i.Body,
	})
}

// AskHealthSystem tells the organisation that a patient misses a health system. Errors are those of AskSupport.
func (c Recorder) AskHealthSystem(ctx context.Context, from From, h HealthSystem) error {
	i, err := c.begin(ctx, from, webhook.HealthSystemRequested)
	var r reader
	i.Name, i.Website = r.line("name", h.Name, maxName, required), r.website(c.Own, h.Website)
	i.StreetAddress = r.line("street_address", h.StreetAddress, maxStreet, optional)
	if err = firstOf(err, r.err); err != nil {
		return err
	}
	return c.keep(ctx, from, i, webhook.HealthSystemRequest{
		Email: i.Email, Name: i.Name, Website: i.Website, StreetAddress: i.StreetAddress,
	})
}

// begin reads who asks.
func (c Recorder) begin(ctx context.Context, from From, t webhook.Type) (Inquiry, error) {
	i := Inquiry{Tenant: from.Tenant, Type: t, Status: Open, CreatedAt: c.Now()}
	address, err := verification.ParseAddress(from.Email)
	if err != nil {
		return i, fmt.Errorf("who asks: %w", err)
	}
	if len(from.RequestKey) > maxKey {
		return i, fault.BadRequest("request_key must have at most 64 bytes.").About("request_key")
	}
	i.Email = address.String()
	if from.Token.Empty() {
		return i, nil
	}
	if err := c.Proofs.Check(ctx, from.Tenant, from.Token, address); err != nil {
		return i, fmt.Errorf("who asks: %w", err)
	}
	i.EmailVerified = true
	return i, nil
}

// keep stores an inquiry and tells of it.
func (c Recorder) keep(ctx context.Context, from From, i Inquiry, data any) error {
	event, err := webhook.NewEvent(i.Tenant, i.Type, c.subject(from, i), 0, i.CreatedAt, data)
	if err != nil {
		return fmt.Errorf("tell an inquiry: %w", err)
	}
	i.ID = event.ID
	var notices []notice.Notice
	if i.Kind() == KindHelp { // the operator's support has to know of it, too
		notices = append(notices, notice.SupportRequested(i.Tenant, i.ID, i.CreatedAt))
	}
	err = c.Store.CreateInquiry(ctx, i, event, notices...)
	if errors.Is(err, fault.Conflict) {
		return nil // it has come before
	}
	if err != nil {
		return fmt.Errorf("store inquiry: %w", err)
	}
	_ = c.Enqueuer.EnqueueEvent(ctx, event.Tenant, event.ID) // the sweeper makes up for a lost message
	for _, n := range notices {
		_ = c.Enqueuer.EnqueueNotice(ctx, n.Tenant, n.ID)
	}
	return nil
}

// subject is the same for what was sent once and arrives twice. It is a keyed hash, since it shows in the event's id.
func (c Recorder) subject(from From, i Inquiry) string {
	occasion := "key\x00" + from.RequestKey
	if from.RequestKey == "" {
		occasion = "day\x00" + i.CreatedAt.UTC().Format(time.DateOnly)
	}
	parts := []string{
		"inquiry", occasion, i.Tenant.Key(), string(i.Type), i.Email, i.Name, i.Subject, i.Body,
		i.HealthSystem, i.Website, i.StreetAddress,
	}
	return hex.EncodeToString(c.Keys.Sign([]byte(strings.Join(parts, "\x00"))).Sum)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
