package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
)

// Flow keeps connect attempts, states and rate limits.
type Flow struct {
	DB    DB
	Table string
}

// ttlGrace is how long an expired row stays readable before DynamoDB may delete it.
const ttlGrace = time.Hour

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
	row.setInt("ttl", state.ExpiresAt.Add(ttlGrace).Unix())
	return row
}

// TakeState implements flow.EndStore: one conditional delete that returns the row, so a state works once.
func (s Flow) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (flow.State, error) {
	row, err := remove(ctx, s.DB, change{
		table: s.Table, key: stateKey(hash), when: "binding = :binding AND expires_at > :now",
		values: item{":binding": text(bindingHash), ":now": moment(now)},
	})
	if errors.Is(err, fault.Conflict) {
		var there item
		if unmet, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			there = unmet.Item
		}
		return stateOf(there, hash), fault.Missing("There is no such sign-in.").Because(err)
	}
	if err != nil {
		return flow.State{}, err
	}
	return stateOf(row, hash), nil
}

// stateOf reads a state; a zero one of no row.
func stateOf(row item, hash string) flow.State {
	if len(row) == 0 {
		return flow.State{}
	}
	return flow.State{
		Hash: hash, BindingHash: row.text("binding"), Tenant: org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		AttemptID: row.text("attempt_id"), ExpiresAt: row.time("expires_at"),
	}
}
