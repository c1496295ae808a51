package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/org"
)

// statusList returns the byFilter index key of a tenant's deliveries with the given status.
func statusList(t org.Tenant, status webhook.DeliveryStatus) types.AttributeValue {
	return text(foundList(t, "STATUS", string(status)))
}

// newDelivery returns the writes that create a delivery and its index rows. Each subject has an index row in the
// subject's partition. The first index row also lists the delivery by its webhook (byOrg) and by its event's type
// (byFilter). An event without a subject has an index row in a partition of the event. Index rows never change.
func newDelivery(table string, event webhook.Event, d webhook.Delivery) []types.TransactWriteItem {
	row := deliveryItem(d)
	subjects := event.Subjects()
	if len(subjects) == 0 {
		subjects = []string{d.EventID}
	}
	row.setText("found_by", strings.Join(subjects, " "))
	writes := make([]types.TransactWriteItem, 0, webhook.WritesPerDelivery)
	for i, subject := range subjects {
		found := newItem(subjectKey(d.Tenant, subject, row))
		found["ttl"] = row["ttl"]
		if i == 0 {
			found["org_order"] = row["org_order"]
			found.setText("org_list", foundList(d.Tenant, "WEBHOOK", d.SubscriptionID))
			found.setText("filter_list", foundList(d.Tenant, "TYPE", string(event.Type)))
		}
		writes = append(writes, putNew(table, found))
	}
	return append(writes, putNew(table, row))
}

// subjectKey returns the key of a delivery's index row for one of the subjects in its attribute found_by.
func subjectKey(t org.Tenant, subject string, delivery item) key {
	return key{foundList(t, "SUBJECT", subject), delivery.text("org_order")}
}

// DeliveriesBefore implements deliverylog.Rows. The index is eventually consistent.
func (s DeliveryLog) DeliveriesBefore(
	ctx context.Context, tenant org.Tenant, before deliverylog.Place, from time.Time, limit int,
) ([]deliverylog.Place, bool, error) {
	byOrg := index{s.Table, "byOrg", "org_list", "org_order"}
	return s.places(ctx, byOrg, listKey(tenant, kindName(due.Delivery)), before, from, limit)
}

// DeliveriesWith implements deliverylog.Rows. Only the list of a subject is strongly consistent.
func (s DeliveryLog) DeliveriesWith(
	ctx context.Context, tenant org.Tenant, with deliverylog.Property, before deliverylog.Place, from time.Time, limit int,
) ([]deliverylog.Place, bool, error) {
	byFilter := index{s.Table, "byFilter", "filter_list", "org_order"}
	byOrg := index{s.Table, "byOrg", "org_list", "org_order"}
	switch with.By {
	case deliverylog.ByStatus:
		return s.places(ctx, byFilter, foundList(tenant, "STATUS", with.Value), before, from, limit)
	case deliverylog.ByType:
		return s.places(ctx, byFilter, foundList(tenant, "TYPE", with.Value), before, from, limit)
	case deliverylog.ByWebhook:
		return s.places(ctx, byOrg, foundList(tenant, "WEBHOOK", with.Value), before, from, limit)
	case deliverylog.BySubject:
		rows := index{table: s.Table, list: "pk", order: "sk"}
		return s.places(ctx, rows, foundList(tenant, "SUBJECT", with.Value), before, from, limit)
	}
	return nil, false, fmt.Errorf("deliveries have no list by %s", with.By)
}

// AreIndexed implements deliverylog.Rows. Release 0.1.0 created deliveries without index rows.
func (s DeliveryLog) AreIndexed(ctx context.Context, tenant org.Tenant, from time.Time) (bool, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, IndexName: aws.String("byOrg"), Limit: aws.Int32(1),
		KeyConditionExpression: aws.String("org_list = :list AND org_order >= :from"),
		ExpressionAttributeValues: item{
			":list": text(listKey(tenant, kindName(due.Delivery))), ":from": text(orderOf(deliverylog.Place{MadeAt: from})),
		},
	})
	if err != nil {
		return false, fmt.Errorf("query oldest delivery: %w", err)
	}
	if len(out.Items) == 0 {
		return true, nil
	}
	rows, err := EventLog(s).rows(ctx, []item{out.Items[0]})
	if err != nil {
		return false, err
	}
	return rows[item(out.Items[0]).text("pk")].text("found_by") != "", nil
}

func orderOf(p deliverylog.Place) string { return orderText(p.MadeAt, p.ID) }

// longestKey is the maximum length of a partition key in DynamoDB. A longer list has no entries.
const longestKey = 2048

// places returns the cursors of at most limit deliveries of a list, newest first. An index without a name is the table
// itself, whose sort keys are in the same order.
func (s DeliveryLog) places(
	ctx context.Context, of index, list string, before deliverylog.Place, from time.Time, limit int,
) ([]deliverylog.Place, bool, error) {
	upto, since := orderOf(before), orderOf(deliverylog.Place{MadeAt: from})
	if since >= upto || len(list) > longestKey {
		return nil, false, nil // BETWEEN requires the lower bound first
	}
	in := &dynamodb.QueryInput{
		TableName: &s.Table, ScanIndexForward: aws.Bool(false),
		//nolint:gosec // G115: limits are small. One for the place itself, one tells whether there are more.
		Limit:                     aws.Int32(int32(limit) + 2),
		ExpressionAttributeValues: item{":list": text(list), ":from": text(since), ":to": text(upto)},
	}
	if of.name == "" {
		in.ConsistentRead = aws.Bool(true)
	} else {
		in.IndexName = &of.name
	}
	in.KeyConditionExpression = aws.String(of.list + " = :list AND " + of.order + " BETWEEN :from AND :to")
	out, err := s.DB.Query(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("query deliveries: %w", err)
	}
	places := make([]deliverylog.Place, 0, len(out.Items))
	for _, attributes := range out.Items {
		at := item(attributes).text(of.order)
		if at == upto {
			continue // skip the row at the cursor
		}
		moment, id, _ := strings.Cut(at, "#")
		made, err := time.Parse(stamp, moment)
		if err != nil {
			return nil, false, fmt.Errorf("read order: %w", err)
		}
		places = append(places, deliverylog.Place{MadeAt: made, ID: id})
	}
	more := len(places) > limit || len(places) > 0 && len(out.LastEvaluatedKey) > 0
	return places[:min(limit, len(places))], more, nil
}
