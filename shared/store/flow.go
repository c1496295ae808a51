package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
	"recordbridge/shared/tokens"
)

// Flow keeps connect attempts, states and rate limits. Concluding an attempt also writes to the other tables, in the
// same transaction; a function that never concludes leaves their names empty.
type Flow struct {
	DB              DB
	Table           string
	ConnectionTable string
	TokensTable     string
	WorkTable       string
}

// afterlife is how long an expired row stays readable before DynamoDB may delete it.
const afterlife = time.Hour

// BeginAttempt implements flow.StartStore.
func (s Flow) BeginAttempt(ctx context.Context, a flow.Attempt, state flow.State) error {
	a.Status = flow.Open
	return transact(ctx, s.DB, putNew(s.Table, attemptItem(a)), putNew(s.Table, stateItem(state)))
}

func stateItem(state flow.State) item {
	row := newItem(stateKey(state.Hash))
	row.setText("binding", state.BindingHash)
	row.setText("mode", string(state.Tenant.Mode))
	row.setText("org_id", state.Tenant.OrgID)
	row.setText("attempt_id", state.AttemptID)
	row.setTime("expires_at", state.ExpiresAt)
	row.setInt("ttl", state.ExpiresAt.Add(afterlife).Unix())
	return row
}

// TakeState implements flow.EndStore: one conditional delete that returns the row, so a state works once.
func (s Flow) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (flow.State, error) {
	row, err := remove(ctx, s.DB, change{
		table: s.Table, key: stateKey(hash), when: "binding = :binding AND expires_at > :now",
		values: item{":binding": text(bindingHash), ":now": moment(now)},
	})
	if errors.Is(err, fault.Conflict) {
		return flow.State{}, fault.Missing("There is no such sign-in.").Because(err)
	}
	if err != nil {
		return flow.State{}, err
	}
	return flow.State{
		Hash: hash, BindingHash: bindingHash, Tenant: org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		AttemptID: row.text("attempt_id"), ExpiresAt: row.time("expires_at"),
	}, nil
}

// TokenVersion implements flow.EndStore.
func (s Flow) TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error) {
	row, err := get(ctx, s.DB, s.TokensTable, tokensKey(tenant, connectionID))
	if errors.Is(err, fault.NotFound) {
		return 0, nil
	}
	return row.int("version"), err
}

// ConcludeAttempt implements flow.EndStore. The verifier leaves the row with its use.
func (s Flow) ConcludeAttempt(ctx context.Context, c flow.Conclusion) error {
	writes := []types.TransactWriteItem{s.ending(c).write()}
	if c.Connection.ID != "" {
		writes = append(writes, s.connecting(c.Connection))
	}
	if len(c.Tokens.Sealed) > 0 {
		writes = append(writes, s.keeping(c.Tokens))
	}
	if c.Connection.Rev > 0 {
		// Who still had the old grant revoked upstream could end the new one with it.
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.TokensTable, Key: upstreamKey(c.Connection.Tenant, c.Connection.ID).attributes(),
		}})
	}
	for _, event := range c.Events {
		writes = append(writes, putNew(s.WorkTable, eventItem(event)))
	}
	return transact(ctx, s.DB, writes...)
}

// ending closes the attempt, which must be open, and keeps what a widget is told of it.
func (s Flow) ending(c flow.Conclusion) change {
	row := item{}
	row.setText("connection_id", c.Connection.ID)
	row.setText("connection_status", string(c.Connection.Status))
	row.setText("granted_scope", c.Connection.Scope)
	row.setTime("consent_expires_at", c.Connection.ConsentExpiresAt)
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

// connecting creates a connection, or replaces the revision that was read.
func (s Flow) connecting(c connection.Connection) types.TransactWriteItem {
	put := putNew(s.ConnectionTable, connectionItem(c))
	if c.Rev > 0 {
		put.Put.ConditionExpression = aws.String("rev = :rev")
		put.Put.ExpressionAttributeValues = item{":rev": number(c.Rev)}
	}
	return put
}

// keeping stores the first tokens of a connection, or replaces the version before; a lease goes with the row.
func (s Flow) keeping(r tokens.Row) types.TransactWriteItem {
	put := putNew(s.TokensTable, tokensItem(r))
	if r.Version > 1 {
		put.Put.ConditionExpression = aws.String("version = :version")
		put.Put.ExpressionAttributeValues = item{":version": number(r.Version - 1)}
	}
	return put
}
