package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
)

const (
	// firstWait is the delay after a notice's first failure. Each further failure doubles the delay, up to longestWait.
	firstWait   = time.Minute
	longestWait = 6 * time.Hour
	// longestOutageWait is the longest delay after an AWS service failed, so that notices are sent soon after the
	// service has recovered.
	longestOutageWait = 5 * time.Minute
	// keepTrying is the period during which the mailer retries sending a notice. DynamoDB deletes the notice's row
	// around the end of this period.
	keepTrying = 15 * 24 * time.Hour
)

// Store stores notices and reads their subjects; store.Mailings implements it.
type Store interface {
	// ClaimNotice claims an unsent notice for the caller until leaseUntil. It returns fault.Conflict if the notice
	// can't be claimed now.
	ClaimNotice(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (Notice, error)
	// FinishNotice stores a claimed notice's final outcome. It returns fault.Conflict if another claim has replaced the
	// caller's claim.
	FinishNotice(ctx context.Context, n Notice, outcome Outcome, at time.Time) error
	// PostponeNotice releases a claimed notice until later. It returns fault.Conflict if another claim has replaced the
	// caller's claim.
	PostponeNotice(ctx context.Context, n Notice, until time.Time) error
	// DisableForNotice disables the subscription that the notice reports as disabled. It returns fault.Conflict if the
	// subscription has changed since the notice was created.
	DisableForNotice(ctx context.Context, n Notice) error
	// Organisation reads the organisation that receives the notice.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
}

// Sender sends an email to every recipient as plain text and HTML. It is implemented by mail.Sender.
type Sender interface {
	Send(ctx context.Context, to []string, subject, text, html string) error
}

// Limits counts the emails of all organisations and returns fault.Limited above a limit; maillimit.Limiter implements
// it.
type Limits interface {
	Take(ctx context.Context, m maillimit.Mail) error
}

// Mailer sends notices by email. A claim prevents two workers from sending the same notice. After a crash between
// sending a notice and recording it, the mailer sends the notice again.
type Mailer struct {
	Store     Store
	Sender    Sender // nil if this stack does not send email
	Limits    Limits
	Dashboard string // dashboard URL to which the emails link
	Support   string // operator's email address for support tickets; if empty, no email is sent about support tickets
	Now       func() time.Time
	Lease     time.Duration // must exceed the time needed to send an email
}

// SendNotice sends an unsent notice. Errors are internal. The notice is retried later.
func (m Mailer) SendNotice(ctx context.Context, tenant org.Tenant, id string) error {
	now := m.Now()
	n, err := m.Store.ClaimNotice(ctx, tenant, id, now, now.Add(m.Lease))
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim notice: %w", err)
	}
	logx.Add(ctx, slog.String("notice", string(n.Kind)))
	outcome, err := m.send(ctx, n)
	// SendNotice stores the known outcome even after the deadline, so that the email is not sent again.
	ctx = context.WithoutCancel(ctx)
	if err != nil || outcome == limited {
		return errors.Join(err, m.putOff(ctx, n, err))
	}
	return m.finish(ctx, n, outcome)
}

func (m Mailer) send(ctx context.Context, n Notice) (Outcome, error) {
	outcome, err := m.mail(ctx, n)
	if n.Kind == KindDisabled {
		// The subscription is disabled after the attempt to send its email, regardless of the outcome. A receiver that
		// no longer wants deliveries must not get any, even while SES is unavailable. If sending failed, the stored
		// notice is sent later.
		disabling := m.Store.DisableForNotice(context.WithoutCancel(ctx), n)
		switch {
		case disabling == nil:
			logx.Measure(ctx, metric.Count(metric.WebhooksStopped, string(n.Reason)))
		case !errors.Is(disabling, fault.Conflict):
			err = errors.Join(err, fmt.Errorf("disable webhook: %w", disabling))
		}
	}
	return outcome, err
}

func (m Mailer) mail(ctx context.Context, n Notice) (Outcome, error) {
	if m.Sender == nil {
		return NoSender, nil
	}
	told, err := m.Store.Organisation(ctx, n.Tenant)
	if err != nil {
		return "", fmt.Errorf("read organisation: %w", err)
	}
	addresses, purpose := told.VerifiedEmails, maillimit.Notice
	if n.Kind == KindSupport {
		addresses, purpose = m.support(), maillimit.SupportTicket
	}
	if len(addresses) == 0 {
		return NoAddresses, nil
	}
	to, err := m.admitted(ctx, addresses, maillimit.Mail{
		Purpose: purpose,
		From:    maillimit.From{Account: "", Organisation: told.MailSender()}, To: "",
	})
	if err != nil {
		return "", err
	}
	if len(to) == 0 {
		return limited, nil
	}
	l := message(n, told.Name, m.Dashboard)
	if err := m.Sender.Send(ctx, to, l.Subject, l.Text(), l.HTML()); err != nil {
		return "", fmt.Errorf("send notice: %w", err)
	}
	return Sent, nil
}

func (m Mailer) support() []string {
	if m.Support == "" {
		return nil
	}
	return []string{m.Support}
}

// admitted returns those addresses to which an email may be sent now.
func (m Mailer) admitted(ctx context.Context, addresses []string, counted maillimit.Mail) ([]string, error) {
	to := make([]string, 0, len(addresses))
	for _, address := range addresses {
		counted.To = address
		err := m.Limits.Take(ctx, counted)
		if err == nil {
			to = append(to, address)
		} else if !errors.Is(err, fault.Limited) {
			return nil, fmt.Errorf("count notice: %w", err)
		}
	}
	if left := len(addresses) - len(to); left > 0 {
		logx.Add(ctx, slog.Int("notice_addresses_limited", left))
	}
	return to, nil
}

// putOff schedules a retry of a notice that could not be sent, unless the retry period has ended.
func (m Mailer) putOff(ctx context.Context, n Notice, cause error) error {
	longest := longestWait
	if fault.Outage(cause) {
		longest = longestOutageWait
	}
	next := m.Now().Add(min(firstWait<<min(max(n.Fence-1, 0), 10), longest))
	if next.After(n.At.Add(keepTrying)) {
		return m.finish(ctx, n, GivenUp)
	}
	logx.Add(ctx, slog.String("notice_outcome", "put_off"))
	if err := m.Store.PostponeNotice(ctx, n, next); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("postpone notice: %w", err)
	}
	return nil
}

func (m Mailer) finish(ctx context.Context, n Notice, outcome Outcome) error {
	logx.Add(ctx, slog.String("notice_outcome", string(outcome)))
	if err := m.Store.FinishNotice(ctx, n, outcome, m.Now()); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("finish notice: %w", err)
	}
	return nil
}
