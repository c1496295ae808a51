package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Conclusions stores the results of attempts. A single transaction ends the attempt and writes the results to the other
// tables.
type Conclusions struct {
	Flow

	connections Connections
	tokens      Tokens
	events      Events
}

// NewConclusions returns a Conclusions that uses the given tables.
func NewConclusions(attempts Flow, connections Connections, held Tokens, events Events) Conclusions {
	return Conclusions{Flow: attempts, connections: connections, tokens: held, events: events}
}

// TokenVersion implements flow.EndStore.
func (s Conclusions) TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error) {
	row, err := get(ctx, s.DB, s.tokens.Table, tokensKey(tenant, connectionID))
	if errors.Is(err, fault.NotFound) {
		return 0, nil
	}
	return row.int("version"), err
}

// ConcludeAttempt implements flow.EndStore. ConcludeAttempt also removes the used code verifier from the attempt's row.
func (s Conclusions) ConcludeAttempt(ctx context.Context, c flow.Conclusion) error {
	writes := []types.TransactWriteItem{s.ending(c).write()}
	if c.Connection.ID != "" {
		writes = append(writes, s.connecting(c.Connection)...)
	}
	if len(c.Tokens.Sealed) > 0 {
		writes = append(writes, s.keeping(c.Tokens))
	}
	if c.Connection.Rev > 0 {
		// Remove the pending revocation, because revoking the old grant upstream could also end the new grant.
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.tokens.Table, Key: upstreamKey(c.Connection.Tenant, c.Connection.ID).attributes(),
		}})
	}
	for _, event := range c.Events {
		writes = append(writes, putNew(s.events.Table, eventItem(event)))
	}
	return transact(ctx, s.DB, writes...)
}

// ending closes an open attempt and stores its result for the widget.
func (s Conclusions) ending(c flow.Conclusion) change {
	row := item{}
	row.setText("connection_id", c.Connection.ID)
	row.setText("connection_status", string(c.Connection.Status))
	row.setText("granted_scope", c.Connection.Scope)
	row.setTime("consent_expires_at", c.Connection.ConsentExpiresAt)
	row.setText("patient_initials", c.Initials)
	row.setText("error_code", c.Error)
	row.setText("error_description", c.Description)
	row.setText("error_cause", c.Cause)
	row.setText("error_request_id", c.RequestID)
	end := change{
		table: s.Table, key: attemptKey(c.Attempt.Tenant, c.Attempt.ID),
		set: "SET #status = :end", when: "#status = :open", names: map[string]string{"#status": "status"},
		values: item{":open": text(string(flow.Open)), ":end": text(string(flow.Done))},
	}
	if c.Error != "" {
		end.values[":end"] = text(string(flow.Failed))
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		end.set += ", " + name + " = :" + name
		end.values[":"+name] = row[name]
	}
	end.set += " REMOVE verifier"
	return end
}

func (s Conclusions) connecting(c connection.Connection) []types.TransactWriteItem {
	put := putNew(s.connections.Table, connectionItem(c))
	if c.Rev > 0 {
		put.Put.ConditionExpression = aws.String("rev = :rev")
		put.Put.ExpressionAttributeValues = item{":rev": number(c.Rev)}
	}
	return []types.TransactWriteItem{put, findConnection(s.connections.Table, c)}
}

// keeping stores a connection's first token set, or replaces the previous version, including its lease.
func (s Conclusions) keeping(r tokens.Row) types.TransactWriteItem {
	put := putNew(s.tokens.Table, tokensItem(r))
	if r.Version > 1 {
		put.Put.ConditionExpression = aws.String("version = :version")
		put.Put.ExpressionAttributeValues = item{":version": number(r.Version - 1)}
	}
	return put
}
