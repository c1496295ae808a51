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

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export/share"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// keepErasures is the retention period of an erasure's row (docs/operate/retention.md).
const keepErasures = 90 * 24 * time.Hour

// ErasureRequests stores requests to erase connections and the number of rows that each request removed.
type ErasureRequests Work

// CreateErasure implements erase.Rows.
func (s ErasureRequests) CreateErasure(ctx context.Context, e erase.Erasure) error {
	row, err := erasureItem(e)
	if err != nil {
		return err
	}
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}

// SaveErasure implements erase.Store.
func (s ErasureRequests) SaveErasure(ctx context.Context, e erase.Erasure) error {
	row, err := erasureItem(e)
	if err != nil {
		return err
	}
	return replace(ctx, s.DB, s.Table, row, e.Rev)
}

func erasureItem(e erase.Erasure) (item, error) {
	row := newItem(erasureKey(e.Tenant, e.ID))
	row.setText("stage", string(e.Stage))
	row.setText("actor", e.Actor)
	row.setText("portal", string(e.Portal))
	row.setTime("requested_at", e.RequestedAt)
	row.setTime("finished_at", e.FinishedAt)
	row.setText("connection_id", e.ConnectionID)
	row.setTime("since", e.Since)
	row.setTime("place_at", e.At.MadeAt)
	row.setText("place_id", e.At.ID)
	row.setFlag("more_events", e.MoreEvents)
	row.setFlag("more_deliveries", e.MoreDeliveries)
	for name, list := range map[string][]string{
		"tasks": e.Tasks, "events": e.EventIDs, "deliveries": e.DeliveryIDs,
		"inquiries": e.InquiryIDs,
	} {
		row.setText(name, strings.Join(list, " "))
	}
	if !e.DueAt.IsZero() {
		row["due_shard"], row["due_at"] = text(erasuresShard), moment(e.DueAt)
	}
	if !e.FinishedAt.IsZero() {
		row.setInt("ttl", e.FinishedAt.Add(keepErasures).Unix())
	}
	return row, row.setJSON("counts", e.Counts)
}

// Erasure implements erase.Rows.
func (s ErasureRequests) Erasure(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	row, err := get(ctx, s.DB, s.Table, erasureKey(tenant, id))
	if err != nil {
		return erase.Erasure{}, err
	}
	e := erase.Erasure{
		ID: id, Tenant: tenant, Stage: erase.Stage(row.text("stage")), Actor: row.text("actor"),
		Portal:      erase.Portal(row.text("portal")),
		RequestedAt: row.time("requested_at"), FinishedAt: row.time("finished_at"), ConnectionID: row.text("connection_id"),
		Since: row.time("since"),
		At:    erase.Place{MadeAt: row.time("place_at"), ID: row.text("place_id")}, MoreEvents: row.flag("more_events"),
		MoreDeliveries: row.flag("more_deliveries"),
		Tasks:          strings.Fields(row.text("tasks")), EventIDs: strings.Fields(row.text("events")),
		DeliveryIDs: strings.Fields(row.text("deliveries")),
		InquiryIDs:  strings.Fields(row.text("inquiries")),
		DueAt:       row.time("due_at"), Rev: row.int("rev"),
	}
	return e, row.json("counts", &e.Counts)
}

// Erasures reads and removes the rows that a request erases (erase.Store).
type Erasures struct {
	Connections
	ErasureRequests
	Events
	Inquiries
	EventLog

	work       Work
	Tokens     Tokens
	deliveries DeliveryLog
}

// NewErasures returns an Erasures that uses the Connection, Work and Tokens tables.
func NewErasures(connections Connections, work Work, sets Tokens, batches EventDB) Erasures {
	return Erasures{
		Connections: connections, ErasureRequests: ErasureRequests(work), Events: Events(work), Inquiries: Inquiries(work),
		EventLog: EventLog{DB: batches, Table: work.Table}, work: work, Tokens: sets,
		deliveries: DeliveryLog{DB: batches, Table: work.Table},
	}
}

// DueErasures implements erase.Store.
func (s Erasures) DueErasures(ctx context.Context, now time.Time) ([]erase.Erasure, error) {
	out, err := s.work.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.work.Table, IndexName: aws.String("byDue"), Limit: aws.Int32(duePage),
		KeyConditionExpression:    aws.String("due_shard = :shard AND due_at <= :before"),
		ExpressionAttributeValues: item{":shard": text(erasuresShard), ":before": moment(now)},
	})
	if err != nil {
		return nil, fmt.Errorf("query erasures: %w", err)
	}
	found := make([]erase.Erasure, 0, len(out.Items))
	for _, attributes := range out.Items {
		owner, id, _ := strings.Cut(item(attributes).text("pk"), "#ERASURE#")
		if tenant, ok := parseTenant(owner); ok {
			found = append(found, erase.Erasure{Tenant: tenant, ID: id})
		}
	}
	return found, nil
}

// Connection implements erase.Connections.
func (s Erasures) Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return s.Connections.Connection(ctx, tenant, id)
}

// Exports implements erase.Store. Each export's row contains the ID of the previous export.
func (s Erasures) Exports(ctx context.Context, tenant org.Tenant, connectionID string) ([]string, error) {
	var tasks []string
	next, err := Tasks(s.work).LatestTask(ctx, tenant, connectionID)
	for err == nil && next != "" {
		var row item
		if row, err = get(ctx, s.work.DB, s.work.Table, taskKey(tenant, next)); err == nil {
			tasks = append(tasks, next)
			next = row.text("previous")
		}
	}
	if errors.Is(err, fault.NotFound) {
		return tasks, nil // older rows have expired
	}
	return tasks, err
}

// TokenRows implements erase.Store.
func (s Erasures) TokenRows(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error) {
	count := int64(0)
	for _, k := range []key{tokensKey(tenant, connectionID), upstreamKey(tenant, connectionID)} {
		_, err := get(ctx, s.Tokens.DB, s.Tokens.Table, k)
		if err == nil {
			count++
		} else if !errors.Is(err, fault.NotFound) {
			return 0, err
		}
	}
	return count, nil
}

// RemoveConnection implements erase.Store. RemoveConnection uses a single transaction so that a returning patient never
// has tokens without a connection or a connection without tokens. The transaction also removes the rows used to look up
// a TEFCA connection by person. A temporary row prevents the connection from being recreated by pending attempts whose
// patients have already signed in.
func (s Erasures) RemoveConnection(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error {
	k := connectionKey(tenant, connectionID)
	gone := types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Connections.Table, Key: k.attributes(),
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR #status <> :authorized"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":authorized": text(string(connection.Authorized))},
	}}
	writes := []types.TransactWriteItem{
		unlist(s.Tokens.Table, tokensKey(tenant, connectionID)),
		unlist(s.Tokens.Table, upstreamKey(tenant, connectionID)), gone,
		unlist(s.Connections.Table, connectionFoundKey(tenant, connectionID)),
	}
	c, err := s.Connection(ctx, tenant, connectionID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	if c.VaultKey != "" {
		erased := newItem(erasedKey(tenant, c.VaultKey, c.DirectoryID))
		erased.setTime("erased_at", now)
		erased.setInt("ttl", now.Add(binding.Lifetime+ttlGrace).Unix())
		writes = append(writes, unlist(s.Connections.Table, vaultKey(tenant, c.VaultKey, c.DirectoryID)),
			unlist(s.Connections.Table, personKey(tenant, c.PersonKey, connectionID)),
			types.TransactWriteItem{Put: &types.Put{
				TableName: &s.work.Table, Item: erased, ConditionExpression: aws.String(absent + " OR erased_at <= :now"),
				ExpressionAttributeValues: item{":now": moment(now)},
			}})
	}
	return transact(ctx, s.work.DB, writes...)
}

// RemoveExports implements erase.Store. RemoveExports removes the pointer to the newest export last, so that a retry
// can still find all exports.
func (s Erasures) RemoveExports(ctx context.Context, tenant org.Tenant, connectionID string, tasks []string) error {
	places := Places(s.work)
	held, err := places.Share(ctx, tenant)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		for number, holder := range held.Places {
			if holder.TaskID != task {
				continue
			}
			_, err := places.LeavePlace(ctx, share.Place{Tenant: tenant, TaskID: task, Claim: holder.Claim, Number: number})
			if err != nil && !errors.Is(err, fault.Conflict) {
				return err
			}
		}
		if err := s.drop(ctx, taskKey(tenant, task)); err != nil {
			return err
		}
	}
	return s.drop(ctx, latestKey(tenant, connectionID))
}

func (s Erasures) drop(ctx context.Context, k key) error {
	return dropRow(ctx, s.work.DB, s.work.Table, k)
}
