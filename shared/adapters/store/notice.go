package store

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Notices stores notices until they are sent.
type Notices Work

// Mailings stores notices and the rows needed to send them: the recipients' organisations and the subscriptions to
// disable.
type Mailings struct {
	Notices
	OrganisationHooks
}

// NewMailings returns a Mailings that uses the Work and Control tables.
func NewMailings(work Work, control Control) Mailings {
	return Mailings{Notices: Notices(work), OrganisationHooks: NewOrganisationHooks(control)}
}

// Notify implements notice.Rows. Notify stores the notice as a pending row for a worker to send.
func (s Notices) Notify(ctx context.Context, n notice.Notice) error {
	if err := create(ctx, s.DB, s.Table, noticeItem(n)); !errors.Is(err, fault.Conflict) {
		return err
	}
	return nil
}

func noticeItem(n notice.Notice) item {
	row := newItem(noticeKey(n.Tenant, n.ID))
	row.setText("kind", string(n.Kind))
	row.setText("subscription_id", n.SubscriptionID)
	row.setText("url", n.URL)
	row.setInt("of_rev", n.Rev)
	row.setText("public_id", n.PublicID)
	row.setText("inquiry_id", n.InquiryID)
	row.setText("reason", string(n.Reason))
	row.setInt("failures", int64(n.Failures))
	row.setTime("failing_since", n.FailingSince)
	row.setTime("created_at", n.At)
	row.setTime("next_at", n.At)
	row["fence"] = number(0)
	row.setInt("ttl", n.At.Add(keepEvents).Unix())
	row.setDue(n.ID, n.At.Add(sweepAfter))
	row.listed(n.Tenant, kindName(due.Notice), n.ID, n.At)
	return row
}

// ClaimNotice claims a pending notice for the caller until leaseUntil. It returns fault.Conflict if the notice does not
// exist, is claimed by another caller, or is not due yet.
func (s Notices) ClaimNotice(ctx context.Context, tenant org.Tenant, id string, now,
	leaseUntil time.Time,
) (notice.Notice, error) {
	row, err := update(ctx, s.DB, leaseOf("fence").claim(change{
		table: s.Table, key: noticeKey(tenant, id), set: ", due_at = :until",
		when: "attribute_exists(due_at) AND next_at <= :now",
	}, now, leaseUntil))
	if err != nil {
		return notice.Notice{}, err
	}
	return notice.Notice{
		ID: id, Tenant: tenant, Kind: notice.Kind(row.text("kind")), SubscriptionID: row.text("subscription_id"),
		URL: row.text("url"), Rev: row.int("of_rev"), PublicID: row.text("public_id"), InquiryID: row.text("inquiry_id"),
		Reason:   webhook.Reason(row.text("reason")),
		Failures: int(row.int("failures")), FailingSince: row.time("failing_since"), At: row.time("created_at"),
		Fence: row.int("fence"),
	}, nil
}

// FinishNotice stores the outcome of a notice that the caller has claimed, and clears the notice's due time. It returns
// fault.Conflict if another caller has since claimed the notice.
func (s Notices) FinishNotice(ctx context.Context, n notice.Notice, outcome notice.Outcome, at time.Time) error {
	c := s.unclaimNotice(n, change{
		set:    "SET outcome = :outcome, settled_at = :at",
		values: item{":outcome": text(string(outcome)), ":at": moment(at)},
	})
	c.set += ", due_shard, due_at, next_at"
	_, err := update(ctx, s.DB, c)
	return err
}

// PostponeNotice releases the caller's claim on a notice and postpones the notice until the given time. It returns
// fault.Conflict if another caller has since claimed the notice.
func (s Notices) PostponeNotice(ctx context.Context, n notice.Notice, until time.Time) error {
	_, err := update(ctx, s.DB, s.unclaimNotice(n, change{
		set: "SET next_at = :next, due_at = :next", values: item{":next": moment(until)},
	}))
	return err
}

// unclaimNotice changes c to also release the claim on n.
func (s Notices) unclaimNotice(n notice.Notice, c change) change {
	c.table, c.key, c.when = s.Table, noticeKey(n.Tenant, n.ID), "attribute_exists(due_at)"
	return leaseOf("fence").release(leaseOf("fence").held(c, number(n.Fence)))
}

// DisableForNotice disables the subscription that a notice reports as disabled, in case the notice's writer crashed
// before disabling it. DisableForNotice returns fault.Conflict if the subscription has changed since the notice was
// written.
func (s Hooks) DisableForNotice(ctx context.Context, n notice.Notice) error {
	c := s.disable(n.Tenant, n.SubscriptionID, n.Reason, n.At)
	c.when += " AND rev = :rev"
	c.values[":rev"] = number(n.Rev)
	_, err := update(ctx, s.DB, c)
	return err
}
