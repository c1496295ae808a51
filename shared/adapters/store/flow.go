package store

import (
	"context"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
)

// Flow stores attempts, states, sign-in codes, dashboard sessions and rate limits.
type Flow struct {
	DB    DB
	Table string
}

// ttlGrace is the minimum time that an expired row remains readable before DynamoDB may delete it.
const ttlGrace = time.Hour

// BeginAttempt implements flow.StartStore.
func (s Flow) BeginAttempt(ctx context.Context, a flow.Attempt, state binding.State) error {
	a.Status = flow.Open
	return transact(ctx, s.DB, putNew(s.Table, attemptItem(a)), putNew(s.Table, stateItem(stateKey(state.Hash), state)))
}

// TakeState implements binding.States.
func (s Flow) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (binding.State, error) {
	return s.takeState(ctx, stateKey(hash), hash, bindingHash, now)
}
