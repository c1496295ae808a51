package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

func healthOf(row item) webhook.Health {
	h := webhook.Health{
		Failures: int(row.int("failures")), FailingSince: row.time("failing_since"), LastFailure: row.time("last_failure"),
		LastSuccess: row.time("last_success"), Warned: int(row.int("warned")),
		OpenUntil: row.time("open_until"), Trips: int(row.int("trips")),
		SlowUntil: row.time("slow_until"), Answers: time.Duration(row.int("answers_ms")) * time.Millisecond,
	}
	if slot := row.int("next_slot"); slot != 0 {
		h.NextSlot = time.UnixMicro(slot).UTC()
	}
	return h
}

// CountFailure implements webhook.HealthStore. The update is unconditional, so a retry after a lost response may count
// the same failure twice.
func (s Hooks) CountFailure(ctx context.Context, tenant org.Tenant, subscriptionID string,
	at time.Time,
) (webhook.Health, error) {
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

// ReviseHealth implements webhook.HealthStore.
func (s Hooks) ReviseHealth(ctx context.Context, tenant org.Tenant, subscriptionID string, seen,
	next webhook.Health,
) error {
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

// unchanged returns a condition that fails if a counter has changed since it was read. A row has no attribute for a
// counter until the counter's first change.
func unchanged(name, value string, seen int) string {
	if seen == 0 {
		return " AND (attribute_not_exists(" + name + ") OR " + name + " = " + value + ")"
	}
	return " AND " + name + " = " + value
}

// ClearFailures implements webhook.HealthStore.
func (s Hooks) ClearFailures(ctx context.Context, tenant org.Tenant, subscriptionID string, at time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: healthKey(tenant, subscriptionID),
		set:  "SET last_success = :at REMOVE failures, failing_since, last_failure, warned, trips, open_until",
		when: "attribute_exists(failures)", values: item{":at": moment(at)},
	})
	return err
}

// ReserveSlot implements webhook.HealthStore. Times are stored in microseconds so that an update can advance the next
// slot without reading it first. A caller normally needs one update, or two if seen no longer shows whether the next
// slot is in the future.
func (s Hooks) ReserveSlot(
	ctx context.Context, tenant org.Tenant, subscriptionID string, seen, now time.Time, interval time.Duration,
) (time.Time, error) {
	var row item
	isBusy := seen.After(now)
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		c := change{
			table: s.Table, key: healthKey(tenant, subscriptionID),
			set: "SET next_slot = :then", when: "attribute_not_exists(next_slot) OR next_slot <= :now",
			values: item{":then": number(now.Add(interval).UnixMicro()), ":now": number(now.UnixMicro())},
		}
		if isBusy {
			c.set, c.when = "SET next_slot = next_slot + :interval", "next_slot > :now"
			c.values = item{":interval": number(interval.Microseconds()), ":now": number(now.UnixMicro())}
		}
		isBusy = !isBusy
		row, err = update(ctx, s.DB, c)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(row.int("next_slot")).Add(-interval).UTC(), nil
}

// MarkSlow implements webhook.HealthStore.
func (s Hooks) MarkSlow(ctx context.Context, tenant org.Tenant, subscriptionID string, until time.Time,
	answers time.Duration,
) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: healthKey(tenant, subscriptionID),
		set:    "SET slow_until = :until, answers_ms = :answers",
		when:   "attribute_not_exists(slow_until) OR slow_until <= :until",
		values: item{":until": moment(until), ":answers": number(answers.Milliseconds())},
	})
	return err
}

// DisableSubscription implements webhook.HealthStore. DisableSubscription increments the revision so that a writer with
// an older copy can't re-enable the subscription.
func (s Hooks) DisableSubscription(
	ctx context.Context, tenant org.Tenant, subscriptionID string, reason webhook.Reason, at time.Time,
) error {
	_, err := update(ctx, s.DB, s.disable(tenant, subscriptionID, reason, at))
	return err
}

func (s Hooks) disable(tenant org.Tenant, subscriptionID string, reason webhook.Reason, at time.Time) change {
	return change{
		table: s.Table, key: subscriptionKey(tenant, subscriptionID),
		set:  "SET disabled = :yes, disabled_at = :at, disabled_for = :reason, rev = rev + :one",
		when: "attribute_exists(pk) AND attribute_not_exists(disabled)",
		values: item{
			":yes": &types.AttributeValueMemberBOOL{Value: true}, ":at": moment(at), ":reason": text(string(reason)),
			":one": number(1),
		},
	}
}

// EnableSubscription enables a disabled subscription and resets its health. It returns fault.Conflict if the
// subscription has changed since it was read.
func (s Hooks) EnableSubscription(ctx context.Context, sub webhook.Subscription) error {
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
