// Package inquiry records requests that patients send to an organisation while connecting, either for help or about a
// missing health system. Each request becomes an event for the organisation's webhooks, and is stored so that members
// can read it and reply.
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

// Inquiry is a patient's request to an organisation. All its text fields contain plain text (see clean.go).
type Inquiry struct {
	ID            string // ID of the event that reports the inquiry
	Tenant        org.Tenant
	Type          webhook.Type
	Email         string
	EmailVerified bool   // whether the patient has proven ownership of the email address
	Name          string // name of the patient or of the missing health system
	Subject       string
	Body          string
	HealthSystem  string // health system to which the patient was connecting
	Website       string
	StreetAddress string
	CreatedAt     time.Time
	Status        Status
	Answers       []Answer // replies, oldest first
	Rev           int64    // revision, incremented by every change; 0 for a new inquiry
}

// From describes an inquiry's sender as stated by the page.
type From struct {
	Tenant org.Tenant
	Email  string
	Token  secret.Text // proof that the email address is verified; empty if it is not
	// RequestKey identifies one submission of a form. A submission is recorded only once, however often it arrives.
	// Without a RequestKey, identical texts are recorded only once a day.
	RequestKey string
}

// Support holds the fields of a request for help.
type Support struct {
	Name         string
	Subject      string
	Body         string
	HealthSystem string // optional
}

// HealthSystem holds the fields of a request for a missing health system.
type HealthSystem struct {
	Name          string
	Website       string // optional
	StreetAddress string // optional
}

// Store stores inquiries. store.Inquiries implements it.
type Store interface {
	// CreateInquiry stores an inquiry with its event and notices. It returns fault.Conflict if the inquiry already
	// exists.
	CreateInquiry(ctx context.Context, i Inquiry, event webhook.Event, notices ...notice.Notice) error
}

// Enqueuer queues an event or a notice for the webhook worker.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Proofs verifies that a token proves ownership of an email address. verification.Proofs implements it.
type Proofs interface {
	Check(ctx context.Context, tenant org.Tenant, token secret.Text, a verification.Address) error
}

// Recorder records inquiries from patients. Every field is required.
type Recorder struct {
	Store    Store
	Enqueuer Enqueuer
	Proofs   Proofs
	Keys     secret.Keyring // keys of the hashes in event IDs, which must not reveal the inquiry's text
	Own      weburl.Own     // URLs that a submitted website must not point to; used only by AskHealthSystem
	Now      func() time.Time
}

// AskSupport notifies the organisation and the operator that a patient or a member of the organisation needs help. It
// returns fault.Invalid for unacceptable input. A repeated request succeeds without being recorded again.
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

// AskHealthSystem notifies the organisation that a health system is missing from the catalogue. It returns the same
// errors as AskSupport.
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

// begin reads and validates the sender of an inquiry.
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

// keep stores an inquiry and sends its notifications.
func (c Recorder) keep(ctx context.Context, from From, i Inquiry, data any) error {
	event, err := webhook.NewEvent(i.Tenant, i.Type, c.subject(from, i), 0, i.CreatedAt, data)
	if err != nil {
		return fmt.Errorf("tell an inquiry: %w", err)
	}
	i.ID = event.ID
	var notices []notice.Notice
	if i.Kind() == KindHelp { // The operator's support team is also notified.
		notices = append(notices, notice.SupportRequested(i.Tenant, i.ID, i.CreatedAt))
	}
	err = c.Store.CreateInquiry(ctx, i, event, notices...)
	if errors.Is(err, fault.Conflict) {
		return nil // The request repeats an inquiry that was already submitted.
	}
	if err != nil {
		return fmt.Errorf("store inquiry: %w", err)
	}
	_ = c.Enqueuer.EnqueueEvent(ctx, event.Tenant, event.ID) // If a queue message is lost, the sweeper sends it later.
	for _, n := range notices {
		_ = c.Enqueuer.EnqueueNotice(ctx, n.Tenant, n.ID)
	}
	return nil
}

// subject returns the same value for two submissions of the same request. It returns a keyed hash, because the event ID
// must not reveal the inquiry's text.
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
