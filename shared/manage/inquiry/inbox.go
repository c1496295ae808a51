package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// Status is the processing status of an inquiry.
type Status string

// The statuses.
const (
	Open     Status = "open" // also that of a new inquiry
	Answered Status = "answered"
	Closed   Status = "closed"
)

// ParseStatus parses a status.
func ParseStatus(text string) (Status, bool) {
	s := Status(text)
	return s, s == Open || s == Answered || s == Closed
}

// Kind is the subject of an inquiry.
type Kind string

// The kinds.
const (
	KindHelp         Kind = "support"
	KindHealthSystem Kind = "health_system" // a missing one
)

// ParseKind parses a kind.
func ParseKind(text string) (Kind, bool) {
	k := Kind(text)
	return k, k == KindHelp || k == KindHealthSystem
}

// Kind returns the inquiry's kind.
func (i Inquiry) Kind() Kind {
	if i.Type == webhook.HealthSystemRequested {
		return KindHealthSystem
	}
	return KindHelp
}

// Names reports whether a text of the inquiry, or of a reply to it, contains an id, ignoring case.
func (i Inquiry) Names(id string) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(id)) }
	return slices.ContainsFunc([]string{
		i.Email, i.Name, i.Subject, i.Body, i.HealthSystem, i.Website,
		i.StreetAddress,
	}, has) ||
		slices.ContainsFunc(i.Answers, func(a Answer) bool { return has(a.Text) })
}

// Delivery is the known outcome of sending a reply's e-mail.
type Delivery string

// The outcomes.
const (
	Sending Delivery = "sending" // being sent, or unknown: the sender crashed or SES did not respond
	Sent    Delivery = "sent"
	Refused Delivery = "refused" // SES considers the patient's address invalid
)

// Answer is a reply by e-mail to the patient. No two replies to an inquiry have the same text.
type Answer struct {
	At       time.Time `json:"at"` // of the last attempt to send it
	By       string    `json:"by"` // the actor's name in the audit log
	Text     string    `json:"text"`
	Delivery Delivery  `json:"delivery"`
}

const (
	mostADay    = 5   // replies to one inquiry within a day; retries do not count
	mostAnswers = 20  // replies to one inquiry; its row then remains far below DynamoDB's size limit
	mostSent    = 100 // e-mails of one tenant on a day (UTC), from the operator's address
	day         = 24 * time.Hour
	mailTime    = 6 * time.Second
	// sendingTime is the time after which an unfinished e-mail may be sent again on request.
	sendingTime = time.Minute
)

// InboxRows stores the status of inquiries and their replies (store.Inquiries).
type InboxRows interface {
	// Inquiry reads an inquiry; fault.NotFound.
	Inquiry(ctx context.Context, tenant org.Tenant, id string) (Inquiry, error)
	// SaveInquiry stores status and replies over revision i.Rev; fault.Conflict.
	SaveInquiry(ctx context.Context, i Inquiry) error
	// CountAnswer counts an e-mail of a tenant on a day; fault.Conflict if the limit is reached.
	CountAnswer(ctx context.Context, tenant org.Tenant, day time.Time, most int64) error
}

// Mailer sends a mail in both formats with a reply-to address (mail.Sender). It returns fault.Invalid if the
// recipient's address cannot receive mail.
type Mailer interface {
	SendReplyTo(ctx context.Context, to []string, replyTo, subject, text, html string) error
}

// Limits counts replies across all organisations; fault.Limited (maillimit.Limiter).
type Limits interface {
	Take(ctx context.Context, m maillimit.Mail) error
}

// Author is the author of a reply: an organisation or the operator.
type Author struct {
	Host org.Organisation // organisation that received the inquiry
	By   string           // the actor's name in the audit log
	// AsOperator replies in the name of the service's operator; responses then go to Inbox.Support.
	AsOperator bool
}

// Inbox reads inquiries and replies to them.
type Inbox struct {
	Rows   InboxRows
	Mailer Mailer // nil: this stack sends no e-mails
	Limits Limits // nil for an operator, whose replies are not limited by account and mailbox
	// Support is the operator's own email address; if empty, replies as the operator are impossible.
	Support string
	Now     func() time.Time
}

// Show reads an inquiry; fault.NotFound.
func (d Inbox) Show(ctx context.Context, tenant org.Tenant, id string) (Inquiry, error) {
	missing := fault.Missing("There is no such inquiry, or it is older than 90 days.").About("inquiry")
	parsed, ok := ids.ParseUUID(id)
	if !ok {
		return Inquiry{}, missing
	}
	i, err := d.Rows.Inquiry(ctx, tenant, parsed)
	if errors.Is(err, fault.NotFound) {
		return Inquiry{}, missing.Because(err)
	}
	if err != nil {
		return Inquiry{}, fmt.Errorf("read inquiry: %w", err)
	}
	return i, nil
}

// Move changes the status of an inquiry and reports whether it was different. Errors: fault.NotFound, fault.Conflict.
func (d Inbox) Move(ctx context.Context, tenant org.Tenant, id string, to Status) (i Inquiry, isMoved bool, err error) {
	err = retry.OnConflict(ctx, retry.Tries, func() (err error) {
		if i, err = d.Show(ctx, tenant, id); err != nil || i.Status == to {
			return err
		}
		i.Status = to
		i, err = d.save(ctx, i)
		isMoved = err == nil
		return err
	})
	return i, isMoved, err
}

// Answer sends a reply of an organisation or the operator to the patient, and reports whether it was sent by this call:
// a reply that was sent is not sent again, however often it is requested. Errors are fault.Invalid, fault.NotFound,
// fault.Conflict if no reply is possible, fault.Limited, and fault.Unavailable if it is unknown whether the e-mail was
// sent.
func (d Inbox) Answer(ctx context.Context, from Author, tenant org.Tenant, id,
	text string,
) (i Inquiry, isSent bool, err error) {
	var r reader
	if text = r.paragraphs("text", text); r.err != nil {
		return Inquiry{}, false, r.err
	}
	wasSent := false
	err = retry.OnConflict(ctx, retry.Tries, func() (err error) {
		if i, err = d.Show(ctx, tenant, id); err != nil {
			return err
		}
		at := answerAt(i, text)
		if wasSent = at >= 0 && i.Answers[at].Delivery == Sent; wasSent {
			return nil
		}
		i, err = d.begin(ctx, from, i, Answer{At: d.Now(), By: from.By, Text: text, Delivery: Sending})
		return err
	})
	if err != nil || wasSent {
		return i, false, err
	}
	delivery, failure := d.send(ctx, from, i, text)
	if delivery == Sending {
		return i, false, failure
	}
	// The outcome is known; a deadline that passes now must not cause the reply to be sent again.
	i, err = d.note(context.WithoutCancel(ctx), i, text, delivery)
	return i, delivery == Sent, errors.Join(failure, err)
}

// answerAt returns the index of the reply with a text; -1 if there is none.
func answerAt(i Inquiry, text string) int {
	return slices.IndexFunc(i.Answers, func(a Answer) bool { return a.Text == text })
}

// begin records that a reply is being sent, so that nobody else sends it.
func (d Inbox) begin(ctx context.Context, from Author, i Inquiry, a Answer) (Inquiry, error) {
	if err := d.answerable(from, i, a); err != nil {
		return i, err
	}
	if err := d.count(ctx, from.Host, i, a); err != nil {
		return i, err
	}
	if err := d.Rows.CountAnswer(ctx, i.Tenant, a.At, mostSent); err != nil {
		if errors.Is(err, fault.Conflict) {
			return i, limited(fmt.Sprintf("An organisation can send %d answers a day. Try again tomorrow.", mostSent),
				time.Hour).Because(err)
		}
		return i, fmt.Errorf("count answer: %w", err)
	}
	i.Answers = slices.Clone(i.Answers)
	if at := answerAt(i, a.Text); at >= 0 {
		i.Answers[at] = a
	} else {
		i.Answers = append(i.Answers, a)
	}
	return d.save(ctx, i)
}

// count counts a reply's e-mail by the member who sends it, the organisation and the patient's mailbox.
func (d Inbox) count(ctx context.Context, host org.Organisation, i Inquiry, a Answer) error {
	if d.Limits == nil {
		return nil
	}
	from := maillimit.From{Account: strings.TrimPrefix(a.By, account.Actor("")), Organisation: host.MailSender()}
	if err := d.Limits.Take(ctx, maillimit.Mail{Purpose: maillimit.Answer, From: from, To: i.Email}); err != nil {
		return fmt.Errorf("count answer: %w", err)
	}
	return nil
}

// answerable returns the reason for which a reply cannot be sent now, or nil.
func (d Inbox) answerable(from Author, i Inquiry, a Answer) error {
	known, today := answerAt(i, a.Text), 0
	for at, sent := range i.Answers {
		if at != known && a.At.Sub(sent.At) < day {
			today++
		}
	}
	switch {
	case d.Mailer == nil:
		return fault.New(fault.Unavailable, fault.CodeUnavailable, "This service is not set up to send e-mails.")
	case i.Email == "":
		return conflict("The patient has left no e-mail address, so that this inquiry cannot be answered.")
	case from.AsOperator && d.Support == "":
		return conflict("This stack has no SupportMail, to which a reply to the operator could go.")
	case !from.AsOperator && len(from.Host.VerifiedEmails) == 0:
		return conflict("First add an e-mail address to your organisation and verify it. The patient's reply goes there.")
	case known >= 0 && i.Answers[known].Delivery == Sending && a.At.Sub(i.Answers[known].At) < sendingTime:
		return unknown(i.Answers[known].At.Add(sendingTime).Sub(a.At))
	case today >= mostADay:
		return limited(fmt.Sprintf("An inquiry can have %d answers within a day.", mostADay), time.Hour)
	case known < 0 && len(i.Answers) >= mostAnswers:
		return conflict(fmt.Sprintf("An inquiry can have %d answers. Write to the patient yourself.", mostAnswers))
	}
	return nil
}

// send sends the e-mail and returns its outcome; the error is for the caller, and is nil only if the outcome is Sent.
func (d Inbox) send(ctx context.Context, from Author, i Inquiry, text string) (Delivery, error) {
	l, replyTo := written(from.Host.Name, i.Tenant.Mode, text), d.Support
	if from.AsOperator {
		l = writtenAsOperator(text)
	} else {
		replyTo = from.Host.VerifiedEmails[0]
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime) // leaves time to record a failure
	defer cancel()
	err := d.Mailer.SendReplyTo(ctx, []string{i.Email}, replyTo, l.Subject, l.Text(), l.HTML())
	switch {
	case err == nil:
		return Sent, nil
	case errors.Is(err, fault.Invalid):
		return Refused, conflict("No e-mail can be sent to the patient's address.").Because(err)
	}
	return Sending, unknown(sendingTime).Because(err)
}

// note records the outcome of a reply despite concurrent changes to the inquiry.
func (d Inbox) note(ctx context.Context, i Inquiry, text string, delivery Delivery) (Inquiry, error) {
	isAgain := false
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		if isAgain {
			if i, err = d.Show(ctx, i.Tenant, i.ID); err != nil {
				return err
			}
		}
		isAgain = true
		i.Answers = slices.Clone(i.Answers)
		if at := answerAt(i, text); at >= 0 {
			i.Answers[at].Delivery = delivery
		}
		if delivery == Sent {
			i.Status = Answered
		}
		i, err = d.save(ctx, i)
		return err
	})
	return i, err
}

func (d Inbox) save(ctx context.Context, i Inquiry) (Inquiry, error) {
	if err := d.Rows.SaveInquiry(ctx, i); err != nil {
		return i, fmt.Errorf("save inquiry: %w", err)
	}
	i.Rev++
	return i, nil
}

func conflict(public string) *fault.Error {
	return fault.New(fault.Conflict, fault.CodeConflict, public)
}

func limited(public string, wait time.Duration) *fault.Error {
	return fault.New(fault.Limited, fault.CodeRateLimited, public).After(wait)
}

// unknown returns the error for an e-mail whose outcome is not known yet.
func unknown(wait time.Duration) *fault.Error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"It is not known whether this answer has gone. Look again in a minute before you send it again.").After(wait)
}
