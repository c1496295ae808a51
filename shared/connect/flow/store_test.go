package flow_test

import (
	"context"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// ConcludeAttempt implements flow.EndStore. It writes either all rows or none, and only if the rows are unchanged since
// they were read.
func (w *world) ConcludeAttempt(_ context.Context, c flow.Conclusion) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails("ConcludeAttempt"); err != nil {
		return err
	}
	if w.meddle != nil {
		w.meddle()
	}
	attempt := w.attempts[c.Attempt.ID]
	if attempt.Status != flow.Open || c.Connection.Rev != w.conns[c.Connection.ID].Rev ||
		len(c.Tokens.Sealed) > 0 && c.Tokens.Version != w.rows[c.Connection.ID].Version+1 {
		return fault.Stale()
	}
	attempt.Status, attempt.Verifier, attempt.Ending = flow.Done, nil, flow.Ending{
		Initials:     c.Initials,
		ConnectionID: c.Connection.ID, ConnectionStatus: c.Connection.Status, Scope: c.Connection.Scope,
		ConsentExpiresAt: c.Connection.ConsentExpiresAt,
		Error:            c.Error, Description: c.Description, Cause: c.Cause, RequestID: c.RequestID,
	}
	if c.Error != "" {
		attempt.Status = flow.Failed
	}
	w.attempts[attempt.ID] = attempt
	if c.Connection.ID != "" {
		stored := c.Connection
		stored.Rev++
		w.conns[stored.ID] = stored
	}
	if len(c.Tokens.Sealed) > 0 {
		w.rows[c.Connection.ID] = c.Tokens
	}
	w.concluded = append(w.concluded, c)
	return nil
}

func (w *world) CreateAttempt(_ context.Context, attempt flow.Attempt, ticket binding.Ticket) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails("CreateAttempt"); err != nil {
		return err
	}
	if there, ok := w.attempts[attempt.ID]; ok && (there.Status != flow.Created || there.TokenHash != attempt.TokenHash) {
		return fault.Stale()
	}
	w.attempts[attempt.ID], w.tickets[ticket.Hash] = attempt, ticket
	return nil
}

func (w *world) Ticket(_ context.Context, hash string, now time.Time) (binding.Ticket, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ticket, ok := w.tickets[hash]
	if !ok || !now.Before(ticket.ExpiresAt) {
		return binding.Ticket{}, fault.Missing("no ticket")
	}
	return ticket, w.fails("Ticket")
}

func (w *world) OpenAttempt(_ context.Context, ticket binding.Ticket, attempt flow.Attempt, state binding.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails("OpenAttempt"); err != nil {
		return err
	}
	stored := w.attempts[attempt.ID]
	if _, ok := w.tickets[ticket.Hash]; !ok || stored.Status != flow.Created {
		return fault.Stale()
	}
	delete(w.tickets, ticket.Hash)
	stored.Status, stored.NonceHash, stored.Verifier = flow.Open, attempt.NonceHash, attempt.Verifier
	w.attempts[attempt.ID], w.states[state.Hash] = stored, state
	return nil
}

func (w *world) Connection(_ context.Context, owner org.Tenant, id string) (connection.Connection, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	conn, ok := w.conns[id]
	if !ok || conn.Tenant != owner {
		return connection.Connection{}, fault.Missing("no connection")
	}
	return conn, w.fails("Connection")
}

func (w *world) TokenVersion(_ context.Context, owner org.Tenant, id string) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[id]
	if owner != row.Tenant {
		return 0, w.fails("TokenVersion")
	}
	return row.Version, w.fails("TokenVersion")
}

// CancelAttempt implements flow.CancelStore.
func (w *world) CancelAttempt(_ context.Context, a flow.Attempt, ending flow.Ending) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails("CancelAttempt"); err != nil {
		return err
	}
	stored := w.attempts[a.ID]
	if stored.Status != flow.Created && stored.Status != flow.Open {
		return fault.Stale()
	}
	stored.Status, stored.Ending, stored.Verifier = flow.Failed, ending, nil
	w.attempts[a.ID] = stored
	return nil
}
