package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Places implements deletion.Store. A Control row's cursor is its sort key. An index row's cursor consists of its
// creation time and ID.
func (s Deletions) Places(ctx context.Context, of deletion.Stage, tenant org.Tenant, behind string,
	limit int,
) ([]string, error) {
	switch of {
	case deletion.Credentials:
		return s.controlPlaces(ctx, tenant.Key(), credentialPrefix, behind, limit)
	case deletion.Webhooks:
		return s.webhookPlaces(ctx, tenant, behind, limit)
	case deletion.Members:
		return s.controlPlaces(ctx, membersPartition(tenant.OrgID), memberPrefix, behind, limit)
	case deletion.Invitations:
		return s.controlPlaces(ctx, membersPartition(tenant.OrgID), invitationPrefix, behind, limit)
	case deletion.Disconnecting, deletion.Connections:
		places, _, err := s.ConnectionsBefore(ctx, tenant, behind, limit)
		return places, err
	case deletion.Exports:
		return s.workPlaces(ctx, tenant, kindName(due.Task), behind, limit)
	case deletion.Deliveries:
		return s.workPlaces(ctx, tenant, kindName(due.Delivery), behind, limit)
	case deletion.Events:
		return s.workPlaces(ctx, tenant, kindName(due.Event), behind, limit)
	case deletion.Inquiries:
		return s.workPlaces(ctx, tenant, inquiryList, behind, limit)
	case deletion.Waiting, deletion.Stopping, deletion.Draining, deletion.Counters, deletion.Files, deletion.Domains,
		deletion.Looking, deletion.Done,
		deletion.Cancelled:
	}
	return nil, fmt.Errorf("no rows of stage %s", of)
}

// workPlaces returns the cursors of the rows in one of the Work table's lists.
func (s Deletions) workPlaces(ctx context.Context, tenant org.Tenant, of, behind string, limit int) ([]string, error) {
	places, _, err := placesBefore(ctx, s.work.DB, s.work.Table, listKey(tenant, of), behind, limit)
	return places, err
}

// controlPlaces returns up to limit sort keys from a Control partition, all of which begin with prefix and sort after
// behind.
func (s Deletions) controlPlaces(ctx context.Context, partition, prefix, behind string, limit int) ([]string, error) {
	from := max(prefix, behind+"\x00")
	if behind == "" {
		from = prefix
	}
	out, err := s.control.DB.Query(ctx, &dynamodb.QueryInput{
		//nolint:gosec // G115: limits are small
		TableName: &s.control.Table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit)),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": text(partition), ":from": text(from), ":to": text(prefix + "~")},
	})
	if err != nil {
		return nil, fmt.Errorf("list rows: %w", err)
	}
	places := make([]string, 0, len(out.Items))
	for _, row := range out.Items {
		places = append(places, item(row).text("sk"))
	}
	return places, nil
}

// webhookPlaces returns the webhooks' sort keys, skipping each webhook's health row.
func (s Deletions) webhookPlaces(ctx context.Context, tenant org.Tenant, behind string, limit int) ([]string, error) {
	rows, err := list(ctx, s.control.DB, s.control.Table, subscriptionsPartition(tenant), subscriptionPrefix)
	if err != nil {
		return nil, err
	}
	places := make([]string, 0, limit)
	for _, row := range rows {
		if place := row.text("sk"); place > behind && !strings.HasSuffix(place, healthSuffix) && len(places) < limit {
			places = append(places, place)
		}
	}
	return places, nil
}

// Remove implements deletion.Store. Remove removes each lookup row only after the rows that depend on it, so that a
// crash doesn't leave unreachable rows.
func (s Deletions) Remove(ctx context.Context, of deletion.Stage, tenant org.Tenant, place string,
	now time.Time,
) error {
	_, id, _ := strings.Cut(place, "#")
	switch of {
	case deletion.Credentials:
		return s.dropControl(ctx, publicIDKey(id), key{tenant.Key(), place})
	case deletion.Webhooks:
		return s.dropControl(ctx, key{subscriptionsPartition(tenant), place + healthSuffix},
			key{subscriptionsPartition(tenant), place})
	case deletion.Members:
		return s.dropControl(ctx, membershipKey(id, tenant.OrgID), key{membersPartition(tenant.OrgID), place})
	case deletion.Invitations:
		return s.dropControl(ctx, key{membersPartition(tenant.OrgID), place})
	case deletion.Connections:
		if err := s.drop(ctx, latestKey(tenant, id)); err != nil {
			return err
		}
		return s.RemoveConnection(ctx, tenant, id, now)
	case deletion.Exports:
		return s.drop(ctx, taskKey(tenant, id))
	case deletion.Deliveries:
		return s.dropDelivery(ctx, tenant, id)
	case deletion.Events:
		return s.RemoveEvent(ctx, tenant, id)
	case deletion.Inquiries:
		return s.RemoveInquiry(ctx, tenant, id)
	case deletion.Waiting, deletion.Stopping, deletion.Disconnecting, deletion.Draining, deletion.Counters, deletion.Files,
		deletion.Domains,
		deletion.Looking, deletion.Done, deletion.Cancelled:
	}
	return fmt.Errorf("no rows of stage %s", of)
}

// dropDelivery removes a delivery. If the event is in no list, because it was created only for that delivery,
// dropDelivery also removes the event.
func (s Deletions) dropDelivery(ctx context.Context, tenant org.Tenant, id string) error {
	row, err := get(ctx, s.work.DB, s.work.Table, deliveryKey(tenant, id))
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if event, err := get(ctx, s.work.DB, s.work.Table, eventKey(tenant, row.text("event_id"))); err == nil &&
		event.text("org_list") == "" {
		if err := s.RemoveEvent(ctx, tenant, row.text("event_id")); err != nil {
			return err
		}
	}
	return s.RemoveDelivery(ctx, tenant, id)
}

// RemoveCounters implements deletion.Store.
func (s Deletions) RemoveCounters(ctx context.Context, tenant org.Tenant) error {
	for _, at := range []struct {
		db               DB
		table, partition string
	}{
		{s.work.DB, s.work.Table, usagePartition(tenant)},
		{s.control.DB, s.control.Table, keyUsesPartition(tenant)},
		{s.work.DB, s.work.Table, shareKey(tenant).pk},
	} {
		rows, err := list(ctx, at.db, at.table, at.partition, "")
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := dropRow(ctx, at.db, at.table, key{at.partition, row.text("sk")}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Deletions) dropControl(ctx context.Context, keys ...key) error {
	for _, k := range keys {
		if err := dropRow(ctx, s.control.DB, s.control.Table, k); err != nil {
			return err
		}
	}
	return nil
}

func dropRow(ctx context.Context, db DB, table string, k key) error {
	_, err := remove(ctx, db, change{table: table, key: k, when: "attribute_exists(pk)"})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
