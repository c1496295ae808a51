package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/words/fault"
)

// EndpointState stores the state of token endpoints, shared by all functions. Each endpoint has one row with its slots
// and circuit breaker, and one row of counters per minute. An expired slot is free, even if it is still stored.
type EndpointState struct {
	DB    DB
	Table string // name of the Flow table
}

const (
	// endpointIdle is the retention period of an endpoint's row after its last slot was taken. The period exceeds the
	// time for which a breaker stays open.
	endpointIdle = 48 * time.Hour
	// keepCounts is the retention period of each minute's counters.
	keepCounts = time.Hour
)

func endpointStateKey(endpoint string) key { return key{"HOST#" + endpoint, meta} }

// minuteKey returns the key of a minute's counters. The keys sort chronologically; lastMinute sorts after every minute.
func minuteKey(endpoint string, at time.Time) key {
	return key{endpointStateKey(endpoint).pk, "M#" + at.UTC().Format("200601021504")}
}

const lastMinute = "M#~"

// TakeSlot implements refresh.EndpointState.
func (s EndpointState) TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now,
	until time.Time,
) error {
	_, err := update(ctx, s.DB, slotLease(slot).take(change{
		table: s.Table, key: endpointStateKey(endpoint), set: ", #ttl = :ttl", names: map[string]string{"#ttl": "ttl"},
		values: item{":ttl": number(now.Add(endpointIdle).Unix())},
	}, owner, "", now, until))
	return err
}

// ReleaseSlot implements refresh.EndpointState.
func (s EndpointState) ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error {
	l := slotLease(slot)
	c := l.release(l.held(change{table: s.Table, key: endpointStateKey(endpoint)}, text(owner)))
	c.set += ", #holder"
	_, err := update(ctx, s.DB, c)
	if errors.Is(err, fault.Conflict) {
		return nil // another owner holds the slot now
	}
	return err
}

func slotLease(slot int) lease {
	return lease{until: fmt.Sprintf("slot%d_until", slot), holder: fmt.Sprintf("slot%d_owner", slot)}
}

// Breaker implements refresh.EndpointState.
func (s EndpointState) Breaker(ctx context.Context, endpoint string) (refresh.Breaker, error) {
	row, err := get(ctx, s.DB, s.Table, endpointStateKey(endpoint))
	if errors.Is(err, fault.NotFound) {
		return refresh.Breaker{}, nil
	}
	if err != nil {
		return refresh.Breaker{}, err
	}
	return refresh.Breaker{Failures: int(row.int("failures")), OpenUntil: row.time("open_until")}, nil
}

// SaveBreaker implements refresh.EndpointState. SaveBreaker does not set the row's expiry, because the preceding
// TakeSlot has already done so.
func (s EndpointState) SaveBreaker(ctx context.Context, endpoint string, seen, next refresh.Breaker) error {
	asSeen := "failures = :seen AND open_until = :seen_until"
	if seen.Failures == 0 && seen.OpenUntil.IsZero() {
		asSeen = "attribute_not_exists(failures) OR (" + asSeen + ")"
	}
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: endpointStateKey(endpoint),
		set: "SET failures = :next, open_until = :next_until", when: asSeen,
		values: item{
			":seen": number(int64(seen.Failures)), ":seen_until": moment(seen.OpenUntil),
			":next": number(int64(next.Failures)), ":next_until": moment(next.OpenUntil),
		},
	})
	return err
}

// Count implements refresh.EndpointState. The update is unconditional, so a retry after a lost reply may count the same
// outcome twice.
func (s EndpointState) Count(ctx context.Context, endpoint string, at time.Time, refused bool) error {
	more := int64(0)
	if refused {
		more = 1
	}
	return persist(ctx, func() error {
		_, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: minuteKey(endpoint, at).attributes(),
			UpdateExpression:         aws.String("ADD answered :one, refused :more SET #ttl = :ttl"),
			ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
			ExpressionAttributeValues: item{
				":one": number(1), ":more": number(more), ":ttl": number(at.Add(keepCounts).Unix()),
			},
		})
		return err
	})
}

// Counts implements refresh.EndpointState.
func (s EndpointState) Counts(ctx context.Context, endpoint string,
	since time.Time,
) (answered, refused int, err error) {
	from := minuteKey(endpoint, since)
	rows, err := queryAll(ctx, s.DB, &dynamodb.QueryInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": text(from.pk), ":from": text(from.sk), ":to": text(lastMinute)},
	})
	for _, row := range rows {
		answered += int(row.int("answered"))
		refused += int(row.int("refused"))
	}
	return answered, refused, err
}
