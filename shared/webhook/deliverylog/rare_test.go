package deliverylog_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/ids"
)

const (
	rareConnection = "c0000000-0000-4000-8000-00000000000c"
	rareExport     = "7a00000000000000000000000000007a"
)

// metered counts calls to DynamoDB.
type metered struct {
	*dynamodb.Client

	queries, batches int
}

func (m *metered) Query(ctx context.Context, in *dynamodb.QueryInput,
	o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	m.queries++
	return m.Client.Query(ctx, in, o...)
}

func (m *metered) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	m.batches++
	return m.Client.BatchGetItem(ctx, in, o...)
}

// crowd stores deliveries that share all properties, and older deliveries that each have one or more rare properties.
// make soak stores 100,000 deliveries. The returned meter counts the log's calls.
func (w *world) crowd(t *testing.T, common webhook.DeliveryStatus, rare ...webhook.DeliveryStatus) *metered {
	t.Helper()
	count := 1500
	if os.Getenv("RECORDBRIDGE_SOAK") != "" {
		count = 100_000
	}
	batches := store.EventBatches{Rows: w.rows.Events}
	all := make([]webhook.FanOut, 0, 24)
	flush := func() {
		expect.NoError(t, batches.FanOutAll(t.Context(), all))
		all = all[:0]
	}
	for i := range count {
		d := numbered(i, noon.Add(time.Duration(i)*time.Millisecond))
		d.Status, d.SubscriptionID, d.EventID = common, "many", ids.Derive("event", d.ID)
		event := webhook.Event{
			ID: d.EventID, Tenant: tenant, Type: webhook.ExportSucceeded, CreatedAt: d.CreatedAt,
			Body: fmt.Appendf(nil, `{"data":{"org_connection_id":"common","task_id":"%d"}}`, i),
		}
		if i < len(rare) {
			d.Status, d.SubscriptionID, event.Type = rare[i], "few", webhook.ConnectionSucceeded
			event.Body = fmt.Appendf(nil, `{"data":{"org_connection_id":%q,"task_id":%q}}`, rareConnection, rareExport)
		}
		expect.NoError(t, w.rows.CreateEvent(t.Context(), event))
		if all = append(all, webhook.FanOut{Event: event, Deliveries: []webhook.Delivery{d}}); len(all) == cap(all) {
			flush()
		}
	}
	flush()
	w.now = noon.Add(time.Hour)
	m := &metered{Client: w.made.DB}
	w.log.Rows = store.DeliveryLog{DB: m, Table: w.made.Name("WorkTable")}
	return m
}

func TestSearchFindsRareDeliveriesOnFirstPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.crowd(t, webhook.Delivered, webhook.Exhausted, webhook.Held, webhook.Scheduled, webhook.InFlight)
	for name, c := range map[string]struct {
		query deliverylog.Query
		want  int
	}{
		"exhausted":              {deliverylog.Query{Status: webhook.Exhausted}, 1},
		"held":                   {deliverylog.Query{Status: webhook.Held}, 1},
		"scheduled":              {deliverylog.Query{Status: webhook.Scheduled}, 1},
		"inflight":               {deliverylog.Query{Status: webhook.InFlight}, 1},
		"webhook":                {deliverylog.Query{SubscriptionID: "few"}, 4},
		"type":                   {deliverylog.Query{Type: webhook.ConnectionSucceeded}, 4},
		"connection":             {deliverylog.Query{Subject: rareConnection}, 4},
		"export":                 {deliverylog.Query{Subject: rareExport}, 4},
		"end date":               {deliverylog.Query{To: noon.Add(4 * time.Millisecond)}, 4},
		"status of a webhook":    {deliverylog.Query{Status: webhook.Held, SubscriptionID: "few"}, 1},
		"type of a webhook":      {deliverylog.Query{Type: webhook.ConnectionSucceeded, SubscriptionID: "few"}, 4},
		"delivered of a webhook": {deliverylog.Query{Status: webhook.Delivered, SubscriptionID: "few"}, 0},
		"a long subject":         {deliverylog.Query{Subject: strings.Repeat("x", 3000)}, 0},
	} {
		m.queries, m.batches = 0, 0
		page := w.search(t, tenant, c.query)
		if len(page.Entries) != c.want || page.Next != "" || m.queries > 2 || m.batches > 3 {
			t.Errorf("%s: %d deliveries, next %q, %d queries and %d batches; want %d in at most 2 and 3", name,
				len(page.Entries), page.Next, m.queries, m.batches, c.want)
		}
	}
}

func TestSearchFindsRareDeliveredOnFirstPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.crowd(t, webhook.Exhausted, webhook.Delivered)
	page := w.search(t, tenant, deliverylog.Query{Status: webhook.Delivered})
	if len(page.Entries) != 1 || page.Next != "" || m.queries > 2 {
		t.Errorf("%d deliveries, next %q in %d queries", len(page.Entries), page.Next, m.queries)
	}
}

// TestSearchReadsAllDeliveriesWhenOldestIsNotIndexed covers the 15 days after an upgrade from release 0.1.0, whose
// deliveries have no index rows.
func TestSearchReadsAllDeliveriesWhenOldestIsNotIndexed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 4 {
		d := numbered(i, noon.Add(time.Duration(i)*time.Second))
		d.SubscriptionID, d.Status = "s"+strconv.Itoa(i), webhook.Held
		expect.NoError(t, w.put(t.Context(), d, webhook.TestEvent))
	}
	old := numbered(0, noon)
	_, err := w.made.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: new(w.made.Name("WorkTable")), UpdateExpression: new("REMOVE found_by, filter_list"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#DELIV#" + old.ID},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
	})
	expect.NoError(t, err)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{time.Minute, 4}, {15*day + time.Millisecond, 3}} {
		w.now = noon.Add(c.after)
		if got := w.follow(t, tenant, deliverylog.Query{Status: webhook.Held, Limit: 1}, nothing); len(got) != c.want {
			t.Errorf("after %s: %d deliveries, want %d", c.after, len(got), c.want)
		}
	}
}
