package ddb

import (
	"errors"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// HoldTransactions keeps every write transaction in flight for longer: hold is called when the transaction has claimed
// its items, with the table of each, and the transaction goes on after the time that hold gives. Meanwhile other
// transactions on one of the items are cancelled and single writes to it fail, as on AWS; reads see it as it was, but
// for TransactGetItems, which is cancelled, too. hold is called without a lock, so it may as well block. nil, as in the
// beginning, holds nothing: then only calls that overlap by themselves meet.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func (s *Server) HoldTransactions(hold func(tables []string) time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = hold
}

// claim plans a transaction and marks its items as in flight. It is cancelled when one of them is already, or does not
// fit its table. A repeat of a committed transaction has no plans and no error.
func (s *Server) claim(writes []write, token *tokenRecord) ([]*plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if repeated, err := s.isRepeat(token); repeated || err != nil {
		return nil, err
	}
	plans, reasons, err := s.planAll(writes)
	if err != nil {
		return nil, err
	}
	if cancelled(reasons) != nil {
		for i, p := range plans {
			if reasons[i].Code == reasonNone {
				reasons[i].take(p.decide())
			}
		}
		return nil, cancelled(reasons)
	}
	for _, p := range plans {
		s.inFlight[p.address()] = true
	}
	if token != nil {
		s.underWay[token.Token] = true
	}
	return plans, nil
}

// planAll plans the writes of a transaction. An item that does not fit its table, or is in flight, has a reason.
func (s *Server) planAll(writes []write) ([]*plan, []cancellationReason, error) {
	seen := make(map[rowAddress]bool, len(writes))
	plans := make([]*plan, len(writes))
	reasons := noReasons(len(writes))
	for i, w := range writes {
		p, err := s.plan(w)
		if _, misfit := errors.AsType[mismatchError](err); misfit {
			reasons[i].take(err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		at := p.address()
		if seen[at] {
			return nil, nil, invalidf(repeatedItem)
		}
		seen[at] = true
		if s.inFlight[at] {
			reasons[i] = cancellationReason{Code: reasonConflict, Message: ongoing}
		}
		plans[i] = p
	}
	return plans, reasons, nil
}

// release is called with the lock held.
func (s *Server) release(plans []*plan, token *tokenRecord) {
	for _, p := range plans {
		delete(s.inFlight, p.address())
	}
	if token != nil {
		delete(s.underWay, token.Token)
	}
}

// keepInFlight waits as long as the hook wants. The rows of plans do not change meanwhile: nobody else may write them.
func (s *Server) keepInFlight(plans []*plan) {
	s.mu.RLock()
	hold := s.hold
	s.mu.RUnlock()
	if hold == nil {
		return
	}
	tables := make([]string, len(plans))
	for i, p := range plans {
		tables[i] = p.table.spec.TableName
	}
	if wait := hold(tables); wait > 0 {
		<-time.After(wait)
	}
}

func errInProgress() error {
	return wire.Fail("TransactionInProgressException",
		"The transaction with the given request token is already in progress")
}
