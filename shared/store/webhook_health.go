package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/due"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

func healthOf(row item) webhook.Health {
	h := webhook.Health{
		Failures: int(row.int("failures")), FailingSince: row.time("failing_since"), LastFailure: row.time("last_failure"),
		LastSuccess: row.time("last_success"), Warned: int(row.int("warned")),
		OpenUntil: row.time("open_until"), Trips: int(row.int("trips")),
	}
	if slot := row.int("next_slot"); slot != 0 {
		h.NextSlot = time.UnixMicro(slot).UTC()
	}
	return h
}

// CountFailure implements webhook.Conditions. A counter has nothing to be conditional on; a lost answer may count twice.
func (s Control) CountFailure(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) (webhook.Health, error) {
	var h webhook.Health
	err := persist(ctx, func() error {
		out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: healthKey(tenant, subscriptionID).attributes(),
			UpdateExpression: aws.String(
				"ADD failures :one SET failing_since = if_not_exists(failing_since, :at), last_failure = :at"),
			ExpressionAttributeValues: item{":one": number(1), ":at": moment(at)},
			ReturnValues:              types.ReturnValueAllNew,
		})
		if err == nil {
			h = healthOf(out.Attributes)
		}
		return err
	})
	return h, err
}

// ReviseHealth implements webhook.Conditions.
func (s Control) ReviseHealth(ctx context.Context, tenant org.Tenant, subscriptionID string, seen, next webhook.Health) error {
	c := change{
		table: s.Table, key: healthKey(tenant, subscriptionID),
		set:  "SET warned = :warned, trips = :trips, open_until = :open",
		when: "attribute_exists(failures)",
		values: item{
			":warned": number(int64(next.Warned)), ":trips": number(int64(next.Trips)), ":open": moment(next.OpenUntil),
			":seen_warned": number(int64(seen.Warned)), ":seen_trips": number(int64(seen.Trips)),
		},
	}
	if next.OpenUntil.IsZero() {
		c.set = "SET warned = :warned, trips = :trips"
		delete(c.values, ":open")
	}
	c.when += unchanged("warned", ":seen_warned", seen.Warned) + unchanged("trips", ":seen_trips", seen.Trips)
	if seen.OpenUntil.IsZero() {
		c.when += " AND attribute_not_exists(open_until)"
	} else {
		c.when += " AND open_until = :seen_open"
		c.values[":seen_open"] = moment(seen.OpenUntil)
	}
	_, err := update(ctx, s.DB, c)
	return err
}

// unchanged is the condition that a counter, which is not there before its first change, is as it was seen.
func unchanged(name, value string, seen int) string {
	if seen == 0 {
		return " AND (attribute_not_exists(" + name + ") OR " + name + " = " + value + ")"
	}
	return " AND " + name + " = " + value
}

// ClearFailures implements webhook.Conditions.
func (s Control) ClearFailures(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: healthKey(tenant, subscriptionID),
		set:  "SET last_success = :at REMOVE failures, failing_since, last_failure, warned, trips, open_until",
		when: "attribute_exists(failures)", values: item{":at": moment(at)},
	})
	return err
}

// ReserveSlot implements webhook.Conditions. Times are numbers of microseconds, so that moving the next place on needs to
// know nothing: however many ask at once, each takes one call, or two where the endpoint was idle until now.
func (s Control) ReserveSlot(
	ctx context.Context, tenant org.Tenant, subscriptionID string, seen, now time.Time, interval time.Duration,
) (time.Time, error) {
	isBusy := seen.After(now)
	for {
		c := change{
			table: s.Table, key: healthKey(tenant, subscriptionID),
			set: "SET next_slot = :then", when: "attribute_not_exists(next_slot) OR next_slot <= :now",
			values: item{":then": number(now.Add(interval).UnixMicro()), ":now": number(now.UnixMicro())},
		}
		if isBusy {
			c.set, c.when = "SET next_slot = next_slot + :interval", "next_slot > :now"
			c.values = item{":interval": number(interval.Microseconds()), ":now": number(now.UnixMicro())}
		}
		row, err := update(ctx, s.DB, c)
		if err == nil {
			return time.UnixMicro(row.int("next_slot")).Add(-interval).UTC(), nil
		}
		if !errors.Is(err, fault.Conflict) {
			return time.Time{}, err
		}
		isBusy = !isBusy
	}
}

// DisableSubscription implements webhook.Conditions. It counts as a change, so that nobody who has read it before makes
// it unhappen.
func (s Control) DisableSubscription(
	ctx context.Context, tenant org.Tenant, subscriptionID string, reason webhook.Reason, at time.Time,
) error {
	_, err := update(ctx, s.DB, s.disable(tenant, subscriptionID, reason, at))
	return err
}

// DisableAsTold disables the subscription that a notice says is disabled, unless it was changed since; then it answers
// fault.Conflict. Who wrote the notice may have crashed before it disabled anything.
func (s Control) DisableAsTold(ctx context.Context, n webhook.Notice) error {
	c := s.disable(n.Tenant, n.SubscriptionID, n.Reason, n.At)
	c.when += " AND rev = :rev"
	c.values[":rev"] = number(n.Rev)
	_, err := update(ctx, s.DB, c)
	return err
}

func (s Control) disable(tenant org.Tenant, subscriptionID string, reason webhook.Reason, at time.Time) change {
	return change{
		table: s.Table, key: subscriptionKey(tenant, subscriptionID),
		set:  "SET disabled = :yes, disabled_at = :at, disabled_for = :reason, rev = rev + :one",
		when: "attribute_exists(pk) AND attribute_not_exists(disabled)",
		values: item{
			":yes": &types.AttributeValueMemberBOOL{Value: true}, ":at": moment(at), ":reason": text(string(reason)), ":one": number(1),
		},
	}
}

// EnableSubscription makes a disabled subscription work again, with a health that knows nothing; fault.Conflict when it
// was changed since it was read as sub.
func (s Control) EnableSubscription(ctx context.Context, sub webhook.Subscription) error {
	enable := change{
		table: s.Table, key: subscriptionKey(sub.Tenant, sub.ID),
		set:    "SET rev = rev + :one REMOVE disabled, disabled_at, disabled_for",
		when:   "rev = :rev AND attribute_exists(disabled)",
		values: item{":one": number(1), ":rev": number(sub.Rev)},
	}
	forget := types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: healthKey(sub.Tenant, sub.ID).attributes(),
	}}
	return transact(ctx, s.DB, enable.write(), forget)
}

// Notify implements webhook.Notices: the row is the outbox.
func (s Work) Notify(ctx context.Context, n webhook.Notice) error {
	row := newItem(noticeKey(n.Tenant, n.ID))
	row.setText("kind", string(n.Kind))
	row.setText("subscription_id", n.SubscriptionID)
	row.setText("url", n.URL)
	row.setInt("of_rev", n.Rev)
	row.setText("public_id", n.PublicID)
	row.setText("reason", string(n.Reason))
	row.setInt("failures", int64(n.Failures))
	row.setTime("failing_since", n.FailingSince)
	row.setTime("created_at", n.At)
	row.setTime("next_at", n.At)
	row["fence"] = number(0)
	row.setInt("ttl", n.At.Add(keepEvents).Unix())
	row.setDue(n.ID, n.At.Add(sweepAfter))
	row.listed(n.Tenant, kindName(due.Notice), n.ID, n.At)
	if err := create(ctx, s.DB, s.Table, row); !errors.Is(err, fault.Conflict) {
		return err
	}
	return nil // it is there already
}

// ClaimNotice gives a notice that is to be sent to the caller until leaseUntil; fault.Conflict when there is none, or
// somebody else has it, or its time has not come.
func (s Work) ClaimNotice(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (webhook.Notice, error) {
	row, err := update(ctx, s.DB, change{
		table: s.Table, key: noticeKey(tenant, id),
		set:    "SET fence = fence + :one, next_at = :until, due_at = :until",
		when:   "attribute_exists(due_at) AND next_at <= :now",
		values: item{":one": number(1), ":until": moment(leaseUntil), ":now": moment(now)},
	})
	if err != nil {
		return webhook.Notice{}, err
	}
	return webhook.Notice{
		ID: id, Tenant: tenant, Kind: webhook.NoticeKind(row.text("kind")), SubscriptionID: row.text("subscription_id"),
		URL: row.text("url"), Rev: row.int("of_rev"), PublicID: row.text("public_id"), Reason: webhook.Reason(row.text("reason")),
		Failures: int(row.int("failures")), FailingSince: row.time("failing_since"), At: row.time("created_at"), Fence: row.int("fence"),
	}, nil
}

// SettleNotice ends the care for the notice that the caller has claimed; fault.Conflict when another claim has taken over.
func (s Work) SettleNotice(ctx context.Context, n webhook.Notice, outcome webhook.NoticeOutcome, at time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: noticeKey(n.Tenant, n.ID),
		set: "SET outcome = :outcome, settled_at = :at REMOVE due_shard, due_at, next_at", when: "fence = :fence AND attribute_exists(due_at)",
		values: item{":outcome": text(string(outcome)), ":at": moment(at), ":fence": number(n.Fence)},
	})
	return err
}

// PostponeNotice gives the notice that the caller has claimed back, to be sent at a later time; fault.Conflict when another
// claim has taken over.
func (s Work) PostponeNotice(ctx context.Context, n webhook.Notice, until time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: noticeKey(n.Tenant, n.ID),
		set: "SET next_at = :until, due_at = :until", when: "fence = :fence AND attribute_exists(due_at)",
		values: item{":until": moment(until), ":fence": number(n.Fence)},
	})
	return err
}
