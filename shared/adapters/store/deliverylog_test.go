package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
)

func (s stores) deliveryLog() store.DeliveryLog {
	return store.DeliveryLog{DB: s.db, Table: s.names["WorkTable"]}
}

func TestDeliveriesBeforeListsNewestFirst(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := make([]deliverylog.Place, 10) // cursors, newest first; pairs share a timestamp
	for i := range want {
		d := deliveryOf(tenant)
		d.ID, d.CreatedAt = fmt.Sprintf("d0000000-0000-4000-8000-%012d", i), now.Add(time.Duration(i/2)*time.Microsecond)
		want[len(want)-1-i] = deliverylog.Place{MadeAt: d.CreatedAt, ID: d.ID}
		event := eventOf(tenant, fmt.Sprintf("e0000000-0000-4000-8000-%012d", i))
		expect.NoError(t, s.events.CreateEvent(t.Context(), event))
		expect.NoError(t, s.events.FanOut(t.Context(), event, []webhook.Delivery{d}))
	}
	end := deliverylog.Place{MadeAt: now.Add(time.Hour)}
	for name, c := range map[string]struct {
		before deliverylog.Place
		from   time.Time
		limit  int
		want   []deliverylog.Place
		more   bool
	}{
		"all":                    {end, now, 10, want, false},
		"nearly all":             {end, now, 9, want[:9], true},
		"the first":              {end, now, 1, want[:1], true},
		"behind one":             {want[3], now, 3, want[4:7], true},
		"behind one, to the end": {want[3], now, 6, want[4:], false},
		"behind the last":        {want[9], now, 3, nil, false},
		"behind one that has gone": {
			deliverylog.Place{MadeAt: want[3].MadeAt, ID: want[3].ID + "-"},
			now, 2,
			want[3:5], true,
		},
		"of a time and before":   {deliverylog.Place{MadeAt: want[3].MadeAt}, now, 2, want[4:6], true},
		"since a time":           {end, want[5].MadeAt, 10, want[:6], false},
		"since a time behind it": {want[5], want[3].MadeAt, 10, nil, false},
		"since the same time":    {deliverylog.Place{MadeAt: now}, now, 10, nil, false},
	} {
		got, more, err := s.deliveryLog().DeliveriesBefore(t.Context(), tenant, c.before, c.from, c.limit)
		expect.NoError(t, err)
		if len(got) != len(c.want) || len(got) > 0 && !cmp.Equal(got, c.want) || more != c.more {
			t.Errorf("%s: %v, more %t, want %v, %t", name, got, more, c.want, c.more)
		}
	}
	for name, foreign := range foreignTenants() {
		if got, more, err := s.deliveryLog().DeliveriesBefore(t.Context(), foreign, end, now, 10); err != nil || more ||
			len(got) != 0 {
			t.Errorf("%s lists %v, %v", name, got, err)
		}
	}
}

func TestDeliveryLogReadsDeliveryEventAndAttempts(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	want := make([]webhook.Attempt, 0, 3)
	for i := range 3 {
		attempt := webhook.Attempt{
			Number: i + 1, Trigger: webhook.ByClock, At: d.NextAt, Latency: 1234 * time.Millisecond, Status: 200 + i,
			Failure:       webhook.FailedStatus,
			RequestHeader: map[string]string{"Webhook-Id": "e"}, ResponseHeader: map[string]string{"Server": "s"},
			SealedBody: []byte{byte(i)},
		}
		d.Status, d.Attempt, d.LeaseUntil = webhook.Scheduled, i+2, time.Time{}
		d.NextAt = d.NextAt.Add(time.Minute)
		d.DueAt = d.NextAt
		expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), d, attempt))
		d.LastStatus, d.LastFailure = attempt.Status, attempt.Failure
		want = append(want, attempt)
		if i < 2 {
			claimed, err := s.deliveries.ClaimDelivery(t.Context(), tenant, d.ID, d.NextAt, d.NextAt.Add(time.Minute))
			expect.NoError(t, err)
			d = claimed
		}
	}
	log := s.deliveryLog()
	found, err := log.Deliveries(t.Context(), tenant, []string{"none", d.ID, eventID})
	expect.NoError(t, err)
	if diff := cmp.Diff([]webhook.Delivery{d}, found); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	events, err := log.Events(t.Context(), tenant, []string{eventID, d.ID})
	expect.NoError(t, err)
	event := eventOf(tenant, eventID)
	event.FannedOut = true
	if diff := cmp.Diff(map[string]webhook.Event{eventID: event}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for limit := 1; limit <= 4; limit++ {
		attempts, err := log.Attempts(t.Context(), tenant, d.ID, limit)
		expect.NoError(t, err)
		if diff := cmp.Diff(want[max(0, 3-limit):], attempts); diff != "" {
			t.Errorf("the last %d attempts (-want +got):\n%s", limit, diff)
		}
	}
	for name, foreign := range foreignTenants() {
		found, ofDeliveries := log.Deliveries(t.Context(), foreign, []string{d.ID})
		events, ofEvents := log.Events(t.Context(), foreign, []string{eventID})
		attempts, ofAttempts := log.Attempts(t.Context(), foreign, d.ID, 10)
		if err := errors.Join(ofDeliveries, ofEvents, ofAttempts); err != nil || len(found)+len(events)+len(attempts) != 0 {
			t.Errorf("%s reads %v, %v, %v, %v", name, found, events, attempts, err)
		}
	}
}

func TestDeliveryLogSkipsReadWithoutIDs(t *testing.T) {
	t.Parallel()
	unreachable := store.DeliveryLog{DB: meddled{}}
	deliveries, failure := unreachable.Deliveries(t.Context(), tenant, nil)
	events, err := unreachable.Events(t.Context(), tenant, nil)
	if failure != nil || err != nil || len(deliveries)+len(events) != 0 {
		t.Errorf("got %v, %v, %v, %v", deliveries, failure, events, err)
	}
}

func TestDeliveryLogReturnsReadError(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	trouble := errors.New("trouble")
	broken := store.DeliveryLog{Table: s.names["WorkTable"], DB: meddled{
		Client: s.db, query: trouble,
		batch: func(*dynamodb.BatchGetItemInput, batchCall) (*dynamodb.BatchGetItemOutput, error) {
			return nil, trouble
		},
	}}
	_, _, listing := broken.DeliveriesBefore(t.Context(), tenant, deliverylog.Place{MadeAt: now.Add(time.Hour)}, now, 1)
	_, reading := broken.Deliveries(t.Context(), tenant, []string{d.ID})
	_, readingEvents := broken.Events(t.Context(), tenant, []string{eventID})
	_, attempts := broken.Attempts(t.Context(), tenant, d.ID, 1)
	for what, err := range map[string]error{
		"listing": listing, "deliveries": reading, "events": readingEvents,
		"attempts": attempts,
	} {
		if !errors.Is(err, trouble) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, name := range []string{"request_header", "response_header"} {
		row := map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#DELIV#" + delivID},
			"sk": &types.AttributeValueMemberS{Value: "ATT#000001"},
			name: &types.AttributeValueMemberS{Value: "{"},
		}
		_, err := s.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new(s.names["WorkTable"]), Item: row})
		expect.NoError(t, err)
		if got, err := s.deliveryLog().Attempts(t.Context(), tenant, delivID, 1); err == nil {
			t.Errorf("a damaged %s reads as %v", name, got)
		}
	}
}
