package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Audit stores the audit chains (audit.Rows). Rows never change, and the head of a chain only moves forward.
type Audit struct {
	DB    DB
	Table string
}

// Head implements audit.Rows.
func (s Audit) Head(ctx context.Context, orgID string) (audit.Head, error) {
	row, err := get(ctx, s.DB, s.Table, auditHeadKey(orgID))
	if errors.Is(err, fault.NotFound) {
		return audit.Head{}, nil
	}
	return audit.Head{Seq: row.int("seq"), Hash: row.text("hash"), ID: row.text("id")}, err
}

// Extend implements audit.Rows.
func (s Audit) Extend(ctx context.Context, before audit.Head, r audit.Row) error {
	writes, err := s.extending(before, r)
	if err != nil {
		return err
	}
	return transact(ctx, s.DB, writes...)
}

// After implements audit.Rows.
func (s Audit) After(ctx context.Context, orgID string, seq int64, limit int) ([]audit.Row, error) {
	return s.between(ctx, auditKey(orgID, seq+1), auditKey(orgID, lastSeq), true, limit)
}

// Before implements audit.Rows.
func (s Audit) Before(ctx context.Context, orgID string, seq int64, limit int) ([]audit.Row, error) {
	if seq == 0 {
		seq = lastSeq
	}
	return s.between(ctx, auditKey(orgID, 1), auditKey(orgID, seq-1), false, limit)
}

// extending appends a row to its chain. The transaction fails if the row already exists or the head has changed,
// because only the current head may be replaced.
func (s Audit) extending(before audit.Head, r audit.Row) ([]types.TransactWriteItem, error) {
	row := newItem(auditKey(r.Tenant.OrgID, r.Seq))
	row.setTime("at", r.At)
	row.setText("id", r.ID)
	row.setText("mode", string(r.Tenant.Mode))
	row.setText("org_id", r.Tenant.OrgID)
	row.setText("actor", r.Actor)
	row.setText("from", r.From)
	row.setText("action", r.Action)
	row.setText("target", r.Target)
	if len(r.Changes) > 0 {
		if err := row.setJSON("changes", r.Changes); err != nil {
			return nil, err
		}
	}
	row.setText("prev", r.Prev)
	row.setText("hash", r.Hash)
	head := newItem(auditHeadKey(r.Tenant.OrgID))
	head.setInt("seq", r.Seq)
	head.setText("hash", r.Hash)
	head.setText("id", r.ID)
	move := putNew(s.Table, head)
	if before.Seq > 0 {
		move = types.TransactWriteItem{Put: &types.Put{
			TableName: &s.Table, Item: head, ConditionExpression: aws.String("seq = :seq AND #hash = :hash"),
			ExpressionAttributeNames:  map[string]string{"#hash": "hash"},
			ExpressionAttributeValues: item{":seq": number(before.Seq), ":hash": text(before.Hash)},
		}}
	}
	return []types.TransactWriteItem{move, putNew(s.Table, row)}, nil
}

func (s Audit) between(ctx context.Context, from, to key, isForward bool, limit int) ([]audit.Row, error) {
	if from.sk > to.sk {
		return nil, nil // BETWEEN requires the lower bound first
	}
	in := &dynamodb.QueryInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true), ScanIndexForward: &isForward,
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": text(from.pk), ":from": text(from.sk), ":to": text(to.sk)},
	}
	rows := make([]audit.Row, 0, limit)
	for {
		in.Limit = aws.Int32(int32(limit - len(rows))) //nolint:gosec // G115: limits are small
		out, err := s.DB.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("query audit rows: %w", err)
		}
		for _, attributes := range out.Items {
			row, err := auditRow(attributes)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		// A response of 1 MB ends early, although more rows follow.
		if len(out.LastEvaluatedKey) == 0 || len(rows) >= limit {
			return rows, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// auditRow reads a stored row. Unreadable changes are omitted, so the row's hash does not match.
func auditRow(row item) (audit.Row, error) {
	seq, err := strconv.ParseInt(strings.TrimPrefix(row.text("sk"), auditPrefix), 10, 64)
	if err != nil {
		return audit.Row{}, fmt.Errorf("read number: %w", err)
	}
	var changes []audit.Change
	if row.json("changes", &changes) != nil {
		changes = nil
	}
	return audit.Row{
		Seq: seq, At: row.time("at"), ID: row.text("id"),
		Tenant: org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		Actor:  row.text("actor"), From: row.text("from"), Action: row.text("action"), Target: row.text("target"),
		Changes: changes, Prev: row.text("prev"), Hash: row.text("hash"),
	}, nil
}
