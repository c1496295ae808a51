package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

// EventDB is the subset of the DynamoDB client that an EventLog uses.
type EventDB interface {
	Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
		o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// EventLog lists a tenant's events in creation order.
type EventLog struct {
	DB    EventDB
	Table string // name of the Work table
}

const (
	// maxBatch is the maximum number of rows that DynamoDB reads in one BatchGetItem call.
	maxBatch = 100
	// readTries is the maximum number of calls for a batch, including retries of unprocessed keys.
	readTries = 8
)

// EventsAfter lists the events after last, oldest first by (created, id), and reports whether more follow. It uses only
// the tenant, time and ID of last, which need not be an existing event. EventsAfter lists only events created before
// the given time. The index receives entries with a delay and in any order, so a list is complete only for sufficiently
// old events. EventsAfter returns up to limit events, at most 100. If deleted events shorten the result and more events
// follow, EventsAfter still returns at least one. It returns fault.Unavailable if DynamoDB is too busy.
func (s EventLog) EventsAfter(ctx context.Context, last webhook.Event, before time.Time,
	limit int,
) ([]webhook.Event, bool, error) {
	from, to := item{}, item{}
	from.listed(last.Tenant, kindName(due.Event), last.ID, last.CreatedAt)
	to.listed(last.Tenant, kindName(due.Event), "", before)
	after := from.text("org_order")
	for after < to.text("org_order") {
		entries, more, err := s.entries(ctx, from.text("org_list"), after, to.text("org_order"), min(limit, maxBatch))
		if err != nil {
			return nil, false, err
		}
		events, err := s.read(ctx, entries)
		if err != nil || len(events) > 0 || !more {
			return events, more, err
		}
		after = entries[len(entries)-1].text("org_order")
	}
	return nil, false, nil
}

// entries returns up to limit index entries between two cursors, and reports whether more follow.
func (s EventLog) entries(ctx context.Context, list, after, before string, limit int) ([]item, bool, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, IndexName: aws.String("byOrg"),
		//nolint:gosec // G115: at most maxBatch. One more tells whether there are more.
		Limit:                  aws.Int32(int32(limit) + 1),
		KeyConditionExpression: aws.String("org_list = :list AND org_order BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			// These bounds exclude both cursors, because no string sorts between a and a\x00, and no entry ends with #.
			":list": text(list), ":from": text(after + "\x00"), ":to": text(before),
		},
	})
	if err != nil {
		return nil, false, fmt.Errorf("query events: %w", err)
	}
	entries := make([]item, 0, len(out.Items))
	for _, attributes := range out.Items[:min(limit, len(out.Items))] {
		entries = append(entries, attributes)
	}
	return entries, len(entries) > 0 && (len(out.Items) > limit || len(out.LastEvaluatedKey) > 0), nil
}

// read returns the entries' events in order, omitting deleted events.
func (s EventLog) read(ctx context.Context, entries []item) ([]webhook.Event, error) {
	rows, err := s.rows(ctx, entries)
	if err != nil {
		return nil, err
	}
	events := make([]webhook.Event, 0, len(entries))
	for _, entry := range entries {
		pk := entry.text("pk")
		row, ok := rows[pk]
		found, isRow := parseRowKey(pk)
		if !ok || !isRow {
			continue
		}
		events = append(events, webhook.Event{
			ID: found.ID, Tenant: found.Tenant, Type: webhook.Type(row.text("type")), Body: row.bytes("body"),
			CreatedAt: row.time("created_at"), FannedOut: row.flag("settled"),
		})
	}
	return events, nil
}

// rows reads the entries' rows by partition key, with strong consistency. If a read replica lagged behind the index, an
// event would appear to be deleted, and readers would permanently skip it.
func (s EventLog) rows(ctx context.Context, entries []item) (map[string]item, error) {
	rows := make(map[string]item, len(entries))
	keys := make([]map[string]types.AttributeValue, len(entries))
	for i, entry := range entries {
		keys[i] = key{entry.text("pk"), entry.text("sk")}.attributes()
	}
	if len(keys) == 0 {
		return rows, nil
	}
	again := retry.Policy{Tries: readTries, Again: isUnread, Pause: firstPause, Most: 0, Random: rand.Float64}
	err := again.Do(ctx, func() error {
		out, err := s.DB.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			s.Table: {Keys: keys, ConsistentRead: aws.Bool(true)},
		}})
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		for _, attributes := range out.Responses[s.Table] {
			row := item(attributes)
			rows[row.text("pk")] = row
		}
		if keys = out.UnprocessedKeys[s.Table].Keys; len(keys) > 0 {
			return fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The events could not be read in time. Please try again.")
		}
		return nil
	})
	return rows, err
}

func isUnread(err error) bool { return errors.Is(err, fault.Unavailable) }
