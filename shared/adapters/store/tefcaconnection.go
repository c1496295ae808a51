package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// TEFCAConnections stores the results of TEFCA attempts: connections and their tokens, events and lookup rows.
// TEFCAConnections builds the rows with Conclusions, so that portal and TEFCA connections are stored in the same way.
type TEFCAConnections struct {
	TEFCA

	Ends Conclusions
}

// Connection implements attempt.WorkStore.
func (s TEFCAConnections) Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return s.Ends.connections.Connection(ctx, tenant, id)
}

// TokenVersion implements attempt.WorkStore.
func (s TEFCAConnections) TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error) {
	return s.Ends.TokenVersion(ctx, tenant, connectionID)
}

// Known implements attempt.WorkStore.
func (s TEFCAConnections) Known(ctx context.Context, tenant org.Tenant, vault,
	facilityID string,
) (id string, erased time.Time, err error) {
	row, err := get(ctx, s.Ends.connections.DB, s.Ends.connections.Table, vaultKey(tenant, vault, facilityID))
	if err == nil || !errors.Is(err, fault.NotFound) {
		return row.text("connection_id"), time.Time{}, err
	}
	row, err = get(ctx, s.Work.DB, s.Work.Table, erasedKey(tenant, vault, facilityID))
	if errors.Is(err, fault.NotFound) {
		return "", time.Time{}, nil
	}
	return "", row.time("erased_at"), err
}

// Conclude implements attempt.WorkStore. Conclude writes the connection and its lookup row in one transaction. If two
// attempts connect the same person to the same facility concurrently, one of the attempts fails. Conclude also fails if
// the connection was erased after the attempt looked it up.
func (s TEFCAConnections) Conclude(ctx context.Context, c attempt.Conclusion) error {
	conn := c.Connection
	writes := append(s.Ends.connecting(conn), s.Ends.keeping(c.Tokens),
		putOver(s.Work.Table, facilityItem(conn.Tenant, c.AttemptID, c.Facility), c.Facility.Rev))
	if conn.Rev > 0 {
		// Remove the pending revocation because revoking the old grant upstream could also end the new grant.
		writes = append(writes, unlist(s.Ends.tokens.Table, upstreamKey(conn.Tenant, conn.ID)))
	}
	if c.Known != conn.ID {
		named := newItem(vaultKey(conn.Tenant, conn.VaultKey, conn.DirectoryID))
		named.setText("connection_id", conn.ID)
		name := putNew(s.Ends.connections.Table, named)
		if c.Known != "" { // the lookup row refers to an erased connection
			name.Put.ConditionExpression = aws.String(absent + " OR connection_id = :known")
			name.Put.ExpressionAttributeValues = item{":known": text(c.Known)}
		}
		writes = append(writes, name, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &s.Work.Table, Key: erasedKey(conn.Tenant, conn.VaultKey, conn.DirectoryID).attributes(),
			ConditionExpression:       aws.String(absent + " OR erased_at <= :erased"),
			ExpressionAttributeValues: item{":erased": moment(c.Erased)},
		}}, putNew(s.Ends.connections.Table, newItem(personKey(conn.Tenant, conn.PersonKey, conn.ID))))
	}
	for _, event := range c.Events {
		writes = append(writes, putNew(s.Work.Table, eventItem(event)))
	}
	return transact(ctx, s.Work.DB, writes...)
}

// PersonsConnections lists all of a person's connections, including those that are no longer current.
func (s Connections) PersonsConnections(ctx context.Context, tenant org.Tenant, person string) ([]string, error) {
	var found []string
	var after map[string]types.AttributeValue
	for {
		page, err := s.DB.Query(ctx, &dynamodb.QueryInput{
			TableName: &s.Table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :person"),
			ExpressionAttributeValues: item{":person": text(personPartition(tenant, person))}, ExclusiveStartKey: after,
		})
		if err != nil {
			return nil, fmt.Errorf("query connections of a person: %w", err)
		}
		for _, row := range page.Items {
			found = append(found, item(row).text("sk"))
		}
		if after = page.LastEvaluatedKey; len(after) == 0 {
			return found, nil
		}
	}
}
