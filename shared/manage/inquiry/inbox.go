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

// Status is an inquiry's status in the inbox.
type Status string

// Inquiry statuses.
const (
	Open     Status = "open"
	Answered Status = "answered"
	Closed   Status = "closed"
)

// ParseStatus parses the name of an inquiry status.
func ParseStatus(text string) (Status, bool) {
	s := Status(text)
	return s, s == Open || s == Answered || s == Closed
}

// Kind is the purpose of an inquiry.
type Kind string

// Kinds of inquiries.
const (
	KindHelp         Kind = "support"
	KindHealthSystem Kind = "health_system" // request for a missing health system
)

// ParseKind parses the name of an inquiry kind.
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

// Names reports whether a text in the inquiry or in one of its replies contains the given ID, ignoring case.
func (i Inquiry) Names(id string) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(id)) }
	return slices.ContainsFunc([]string{
		i.Email, i.Name, i.Subject, i.Body, i.HealthSystem, i.Website,
		i.StreetAddress,
	}, has) ||
		slices.ContainsFunc(i.Answers, func(a Answer) bool { return has(a.Text) })
}

// Delivery is the outcome, if known, of emailing a reply.
type Delivery string

// Outcomes of sending a reply.
const (
	Sending Delivery = "sending" // in progress, or outcome unknown after a crash or a missing response from SES
	Sent    Delivery = "sent"
	Refused Delivery = "refused" // SES rejected the patient's email address as invalid
)

// Answer is a reply emailed to the patient. No two replies to an inquiry have the same text.
type Answer struct {
	At       time.Time `json:"at"` // time of the latest attempt to send the reply
	By       string    `json:"by"` // actor's name in the audit log
	Text     string    `json:"text"`
	Delivery Delivery  `json:"delivery"`
}

const (
	mostADay    = 5   // maximum number of replies to an inquiry per day, not counting retries
	mostAnswers = 20  // maximum number of replies to an inquiry, which keeps rows far below DynamoDB's size limit
	mostSent    = 100 // maximum number of emails per tenant and day (UTC) from the operator's address
	day         = 24 * time.Hour
	mailTime    = 6 * time.Second
	// sendingTime is the time after which an email whose sending has not finished may be sent again.
	sendingTime = time.Minute
)

// InboxRows stores inquiry statuses and replies. store.Inquiries implements it.
type InboxRows interface {
	// Inquiry reads an inquiry. It returns fault.NotFound if the inquiry does not exist.
	Inquiry(ctx context.Context, tenant org.Tenant, id string) (Inquiry, error)
	// SaveInquiry replaces the status and replies of the inquiry if its stored revision is i.Rev. It returns
	// fault.Conflict if the stored revision differs.
	SaveInquiry(ctx context.Context, i Inquiry) error
	// CountAnswer counts an email that a tenant sends on a given day. It returns fault.Conflict if the limit has been
	// reached.
	CountAnswer(ctx context.Context, tenant org.Tenant, day time.Time, most int64) error
}

// Mailer sends an email with text and HTML bodies and a reply-to address. mail.Sender implements it. It returns
// fault.Invalid if the recipient address can't receive email.
type Mailer interface {
	SendReplyTo(ctx context.Context, to []string, replyTo, subject, text, html string) error
}

// Limits counts replies across all organisations. It returns fault.Limited if a limit is exceeded (maillimit.Limiter).
type Limits interface {
	Take(ctx context.Context, m maillimit.Mail) error
}

// Author is the writer of a reply: either an organisation or the operator.
type Author struct {
	Host org.Organisation // organisation that received the inquiry
	By   string           // author's name in audit rows
	// AsOperator sends the reply on the operator's behalf, with Inbox.Support as its reply-to address.
	AsOperator bool
}

// Inbox reads patients' inquiries and replies to them.
type Inbox struct {
	Rows   InboxRows
	Mailer Mailer // nil if this stack does not send email
	Limits Limits // nil for an operator, whose replies have no limits by account or mailbox
	// Support is the operator's email address. If Support is empty, nobody can reply as the operator.
	Support string
	Now     func() time.Time
}

// Show reads an inquiry. It returns fault.NotFound if the inquiry does not exist.
func (d Inbox) Show(ctx context.Context, tenant org.Tenant, id string) (Inquiry, error) {
	missing := fault.Missing("Inquiry not found, or older than 90 days.").About("inquiry")
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

// Move sets the status of an inquiry and reports whether the status changed. It returns fault.NotFound if the inquiry
// does not exist and fault.Conflict after repeated concurrent changes.
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

// Answer emails a reply to the patient and reports whether this call sent it. A reply that was already sent is not sent
// again. The error is fault.Invalid, fault.NotFound, fault.Conflict if no reply is possible, fault.Limited, or
// fault.Unavailable if it is unknown whether the email was sent.
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
	// A known outcome is stored even after the deadline so that the reply is not sent again.
	i, err = d.note(context.WithoutCancel(ctx), i, text, delivery)
	return i, delivery == Sent, errors.Join(failure, err)
}

// answerAt returns the index of the reply with the given text, or -1.
func answerAt(i Inquiry, text string) int {
	return slices.IndexFunc(i.Answers, func(a Answer) bool { return a.Text == text })
}

// begin records that a reply is being sent, so that concurrent calls don't send it again.
func (d Inbox) begin(ctx context.Context, from Author, i Inquiry, a Answer) (Inquiry, error) {
	if err := d.answerable(from, i, a); err != nil {
		return i, err
	}
	if err := d.count(ctx, from.Host, i, a); err != nil {
		return i, err
	}
	if err := d.Rows.CountAnswer(ctx, i.Tenant, a.At, mostSent); err != nil {
		if errors.Is(err, fault.Conflict) {
			return i, limited(fmt.Sprintf("An organisation can send at most %d replies a day. Try again "+
				"tomorrow.", mostSent),
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

// count counts a reply against the limits of the sending member, the organisation and the patient's mailbox.
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

// answerable returns nil if the reply can be sent now, or an error that states why not.
func (d Inbox) answerable(from Author, i Inquiry, a Answer) error {
	known, today := answerAt(i, a.Text), 0
	for at, sent := range i.Answers {
		if at != known && a.At.Sub(sent.At) < day {
			today++
		}
	}
	switch {
	case d.Mailer == nil:
		return fault.New(fault.Unavailable, fault.CodeUnavailable, "This service is not set up to send e-mail.")
	case i.Email == "":
		return conflict("The patient left no e-mail address, so you can't reply to this inquiry.")
	case from.AsOperator && d.Support == "":
		return conflict("This stack has no SupportMail address to receive the patient's reply.")
	case !from.AsOperator && len(from.Host.VerifiedEmails) == 0:
		return conflict("Add an e-mail address to your organisation and verify it first. The patient's reply goes " +
			"there.")
	case known >= 0 && i.Answers[known].Delivery == Sending && a.At.Sub(i.Answers[known].At) < sendingTime:
		return unknown(i.Answers[known].At.Add(sendingTime).Sub(a.At))
	case today >= mostADay:
		return limited(fmt.Sprintf("An inquiry can have at most %d replies a day.", mostADay), time.Hour)
	case known < 0 && len(i.Answers) >= mostAnswers:
		return conflict(fmt.Sprintf("An inquiry can have at most %d replies. Write to the patient "+
			"directly.", mostAnswers))
	}
	return nil
}

// send sends the email and returns its outcome. The error is nil only if the outcome is Sent.
func (d Inbox) send(ctx context.Context, from Author, i Inquiry, text string) (Delivery, error) {
	l, replyTo := written(from.Host.Name, i.Tenant.Mode, text), d.Support
	if from.AsOperator {
		l = writtenAsOperator(text)
	} else {
		replyTo = from.Host.VerifiedEmails[0]
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime) // mailTime leaves time to record a failed reply.
	defer cancel()
	err := d.Mailer.SendReplyTo(ctx, []string{i.Email}, replyTo, l.Subject, l.Text(), l.HTML())
	switch {
	case err == nil:
		return Sent, nil
	case errors.Is(err, fault.Invalid):
		return Refused, conflict("We can't send e-mail to the patient's address.").Because(err)
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

// unknown returns the error for an email whose outcome is unknown.
func unknown(wait time.Duration) *fault.Error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"We couldn't confirm whether this reply was sent. Check again in a minute before you resend it.").After(wait)
}
