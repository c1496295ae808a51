package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// DeletionRequests stores requests to delete organisations and their progress.
type DeletionRequests Work

// Deletion implements deletion.Rows.
func (s DeletionRequests) Deletion(ctx context.Context, orgID string) (deletion.Deletion, error) {
	row, err := get(ctx, s.DB, s.Table, deletionKey(orgID))
	if err != nil {
		return deletion.Deletion{}, err
	}
	d := deletion.Deletion{
		OrgID: orgID, Stage: deletion.Stage(row.text("stage")), Actor: row.text("actor"),
		RequestedAt: row.time("requested_at"),
		BeginsAt:    row.time("begins_at"), StoppedAt: row.time("stopped_at"), FinishedAt: row.time("finished_at"),
		Claims: strings.Fields(row.text("claims")), Mode: org.Mode(row.text("mode")), At: row.text("place"),
		Held:  strings.Fields(row.text("held")),
		Found: row.flag("found"), DueAt: row.time("due_at"), Rev: row.int("rev"),
	}
	return d, row.json("counts", &d.Counts)
}

// SaveDeletion implements deletion.Rows.
func (s DeletionRequests) SaveDeletion(ctx context.Context, d deletion.Deletion) error {
	row := newItem(deletionKey(d.OrgID))
	row.setText("stage", string(d.Stage))
	row.setText("actor", d.Actor)
	row.setTime("requested_at", d.RequestedAt)
	row.setTime("begins_at", d.BeginsAt)
	row.setTime("stopped_at", d.StoppedAt)
	row.setTime("finished_at", d.FinishedAt)
	row.setText("claims", strings.Join(d.Claims, " "))
	row.setText("mode", string(d.Mode))
	row.setText("place", d.At)
	row.setText("held", strings.Join(d.Held, " "))
	row.setFlag("found", d.Found)
	if !d.DueAt.IsZero() {
		row["due_shard"], row["due_at"] = text(deletionsShard), moment(d.DueAt)
	}
	if !d.FinishedAt.IsZero() {
		row.setInt("ttl", d.FinishedAt.Add(keepErasures).Unix())
	}
	if err := row.setJSON("counts", d.Counts); err != nil {
		return err
	}
	if d.Rev == 0 {
		row.setInt("rev", 1)
		return create(ctx, s.DB, s.Table, row)
	}
	return replace(ctx, s.DB, s.Table, row, d.Rev)
}

// Deletions reads and removes a deleted organisation's rows (deletion.Store).
type Deletions struct {
	Erasures
	DeletionRequests
	Organisations

	control Control
}

// NewDeletions returns a Deletions that uses the same tables as erasures, and the Control table.
func NewDeletions(erasures Erasures, control Control) Deletions {
	return Deletions{
		Erasures: erasures, DeletionRequests: DeletionRequests(erasures.work), Organisations: Organisations(control),
		control: control,
	}
}

// DueDeletions implements deletion.Store.
func (s Deletions) DueDeletions(ctx context.Context, now time.Time) ([]string, error) {
	out, err := s.work.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.work.Table, IndexName: aws.String("byDue"), Limit: aws.Int32(duePage),
		KeyConditionExpression:    aws.String("due_shard = :shard AND due_at <= :before"),
		ExpressionAttributeValues: item{":shard": text(deletionsShard), ":before": moment(now)},
	})
	if err != nil {
		return nil, fmt.Errorf("query deletions: %w", err)
	}
	found := make([]string, 0, len(out.Items))
	for _, attributes := range out.Items {
		owner, _ := strings.CutSuffix(item(attributes).text("pk"), deletionSuffix)
		if tenant, ok := parseTenant(owner); ok {
			found = append(found, tenant.OrgID)
		}
	}
	return found, nil
}

// ForgetOrganisation implements deletion.Store.
func (s Deletions) ForgetOrganisation(ctx context.Context, o org.Organisation) error {
	writes := make([]types.TransactWriteItem, 0, 5)
	for _, tenant := range o.Tenants() {
		writes = append(writes, removal(s.control.Table, organisationKey(tenant), o.Rev),
			unlist(s.control.Table, directoryKey(tenant)))
	}
	return transact(ctx, s.control.DB, append(writes, unlist(s.control.Table, membersKey(o.ID)))...)
}

// ReleaseDomain implements deletion.Store.
func (s Deletions) ReleaseDomain(ctx context.Context, domain, orgID string) error {
	_, err := remove(ctx, s.control.DB, change{
		table: s.control.Table, key: domainKey(domain), when: "org_id = :org", values: item{":org": text(orgID)},
	})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// Domain implements deletion.Store.
func (s Deletions) Domain(ctx context.Context, domain string) (string, error) {
	return Accounts(s.control).Domain(ctx, domain)
}
