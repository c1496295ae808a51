package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// DeliveriesBefore implements erase.Store.
func (s Erasures) DeliveriesBefore(
	ctx context.Context, tenant org.Tenant, before deliverylog.Place, from time.Time, limit int,
) ([]deliverylog.Place, bool, error) {
	return s.deliveries.DeliveriesBefore(ctx, tenant, before, from, limit)
}

// Deliveries implements erase.Store.
func (s Erasures) Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error) {
	return s.deliveries.Deliveries(ctx, tenant, ids)
}

// CountAttempts implements erase.Store.
func (s Erasures) CountAttempts(ctx context.Context, tenant org.Tenant, deliveryID string) (int64, error) {
	attempts, err := s.attemptKeys(ctx, tenant, deliveryID)
	return int64(len(attempts)), err
}

// RemoveDelivery implements erase.Store. RemoveDelivery removes the delivery last, because the delivery's attempts and
// index rows can be found only through it.
func (s Erasures) RemoveDelivery(ctx context.Context, tenant org.Tenant, id string) error {
	keys, err := s.attemptKeys(ctx, tenant, id)
	if err != nil {
		return err
	}
	row, err := get(ctx, s.work.DB, s.work.Table, deliveryKey(tenant, id))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	for subject := range strings.FieldsSeq(row.text("found_by")) {
		keys = append(keys, subjectKey(tenant, subject, row))
	}
	for _, k := range append(keys, deliveryKey(tenant, id)) {
		if err := s.drop(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// RemoveEvent implements erase.Store.
func (s Erasures) RemoveEvent(ctx context.Context, tenant org.Tenant, id string) error {
	return s.drop(ctx, eventKey(tenant, id))
}

// RemoveInquiry implements erase.Store.
func (s Erasures) RemoveInquiry(ctx context.Context, tenant org.Tenant, id string) error {
	return s.drop(ctx, inquiryKey(tenant, id))
}

// attemptKeys returns the keys of a delivery's attempts. They fit into one page of a query.
func (s Erasures) attemptKeys(ctx context.Context, tenant org.Tenant, deliveryID string) ([]key, error) {
	pk := deliveryKey(tenant, deliveryID).pk
	out, err := s.work.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.work.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :attempts)"),
		ExpressionAttributeValues: item{":pk": text(pk), ":attempts": text(attemptLogPrefix)},
	})
	if err != nil {
		return nil, fmt.Errorf("query attempts: %w", err)
	}
	keys := make([]key, 0, len(out.Items)+1)
	for _, row := range out.Items {
		keys = append(keys, key{pk, item(row).text("sk")})
	}
	return keys, nil
}
