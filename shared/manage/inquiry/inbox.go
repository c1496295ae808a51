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

// Status is how far an inquiry is.
type Status string

// The statuses.
const (
	Open     Status = "open" // of one that nobody has touched, too
	Answered Status = "answered"
	Closed   Status = "closed"
)

// ParseStatus reads a status.
func ParseStatus(text string) (Status, bool) {
	s := Status(text)
	return s, s == Open || s == Answered || s == Closed
}

// Kind is what an inquiry is about.
type Kind string

// The kinds.
const (
	KindHelp         Kind = "support"
	KindHealthSystem Kind = "health_system" // one that is missing
)

// ParseKind reads a kind.
func ParseKind(text string) (Kind, bool) {
	k := Kind(text)
	return k, k == KindHelp || k == KindHealthSystem
}

// Kind is what it is about.
func (i Inquiry) Kind() Kind {
	if i.Type == webhook.HealthSystemRequested {
		return KindHealthSystem
	}
	return KindHelp
}

// Names tells whether a text of it, or of an answer to it, has an id, in whatever case it is written.
func (i Inquiry) Names(id string) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(id)) }
	return slices.ContainsFunc([]string{
		i.Email, i.Name, i.Subject, i.Body, i.HealthSystem, i.Website,
		i.StreetAddress,
	}, has) ||
		slices.ContainsFunc(i.Answers, func(a Answer) bool { return has(a.Text) })
}

// Delivery is what is known of an answer's e-mail.
type Delivery string

// What is known.
const (
	Sending Delivery = "sending" // or nobody knows: who sent it has crashed, or SES has not answered
	Sent    Delivery = "sent"
	Refused Delivery = "refused" // SES takes the patient's address for none
)

// Answer is an e-mail to the patient. An inquiry has no two of the same text.
type Answer struct {
	At       time.Time `json:"at"` // when it was last sent, or tried
	By       string    `json:"by"` // as the audit log names them
	Text     string    `json:"text"`
	Delivery Delivery  `json:"delivery"`
}

const (
	mostADay    = 5   // answers to one inquiry within a day, tries counted once
	mostAnswers = 20  // to one inquiry; with all of them its row is far below what DynamoDB holds
	mostSent    = 100 // of one tenant on a day (UTC): e-mails that come from the operator's address
	day         = 24 * time.Hour
	mailTime    = 6 * time.Second
	// sendingTime is how long an e-mail may be on its way; then it may be tried again by who wants it.
	sendingTime = time.Minute
)

// InboxRows keeps what has become of inquiries (store.Inquiries).
type InboxRows interface {
	// Inquiry reads one; fault.NotFound.
	Inquiry(ctx context.Context, tenant org.Tenant, id string) (Inquiry, error)
	// SaveInquiry stores status and answers over revision i.Rev; fault.Conflict.
	SaveInquiry(ctx context.Context, i Inquiry) error
	// CountAnswer counts an e-mail of a tenant's on a day; fault.Conflict when there were so many already.
	CountAnswer(ctx context.Context, tenant org.Tenant, day time.Time, most int64) error
}

// Mailer sends a mail in both forms, to which the reader answers at another address (mail.Sender). fault.Invalid when
// nobody can be reached at such an address.
type Mailer interface {
	SendReplyTo(ctx context.Context, to []string, replyTo, subject, text, html string) error
}

// Limits counts answers over all organisations; fault.Limited (maillimit.Limiter).
type Limits interface {
	Take(ctx context.Context, m maillimit.Mail) error
}

// Author is the sender of an answer: an organisation or the operator.
type Author struct {
	Host org.Organisation // whose inquiry it is
	By   string           // as the audit log names them
	// AsOperator answers in the name of whoever runs the service; replies then go to Inbox.Support.
	AsOperator bool
}

// Inbox is where inquiries are read and answered.
type Inbox struct {
	Rows   InboxRows
	Mailer Mailer // nil: this stack sends no e-mails
	Limits Limits // nil for an operator, whose answers are not counted by account and mailbox
	// Support is the operator's own address; empty: nobody can answer as the operator.
	Support string
	Now     func() time.Time
}

// Show reads an inquiry; fault.NotFound.
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

// Move gives an inquiry a status, and tells whether it had another one. fault.NotFound and fault.Conflict.
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

// Answer sends what an organisation or the operator answers to whoever asked, and tells whether it has gone now: what
// was sent is not sent again, however often it is asked for. Errors are fault.Invalid, fault.NotFound, fault.Conflict
// when it cannot be answered, fault.Limited, and fault.Unavailable when nobody knows whether the e-mail has gone.
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
	// What has become of it is known; a deadline that passes now must not make it go again.
	i, err = d.note(context.WithoutCancel(ctx), i, text, delivery)
	return i, delivery == Sent, errors.Join(failure, err)
}

// answerAt is the answer of a text; -1 for none.
func answerAt(i Inquiry, text string) int {
	return slices.IndexFunc(i.Answers, func(a Answer) bool { return a.Text == text })
}

// begin writes down that an answer is on its way, so that nobody else sends it.
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

// count counts an answer's e-mail by the member who sends it, the organisation and the patient's mailbox.
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

// answerable is why an answer cannot be sent now.
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

// send says what is known of the e-mail then; the error is for who asked, and is there unless it is Sent.
func (d Inbox) send(ctx context.Context, from Author, i Inquiry, text string) (Delivery, error) {
	l, replyTo := written(from.Host.Name, i.Tenant.Mode, text), d.Support
	if from.AsOperator {
		l = writtenAsOperator(text)
	} else {
		replyTo = from.Host.VerifiedEmails[0]
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime) // there has to be time left to say that it did not go
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

// note writes down what has become of an answer, whoever changes the inquiry at the same time.
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

// unknown is of an e-mail of which nobody knows yet whether it has gone.
func unknown(wait time.Duration) *fault.Error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"We couldn't confirm whether this reply was sent. Check again in a minute before you resend it.").After(wait)
}
