package ddb

import (
	"errors"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// HoldTransactions prolongs every write transaction, so that tests can provoke conflicts. After claiming its items, a
// transaction calls hold with each item's table and waits for the duration that it returns. While a transaction is
// held, other transactions that write its items are cancelled, and single writes to them fail, as on AWS. Meanwhile,
// reads return the items' previous state. The lock is not held while hold runs, so hold may block. By default, hold is
// nil, and writes conflict only if they happen to overlap.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func (o *transactions) HoldTransactions(hold func(tables []string) time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hold = hold
}

// claim plans a transaction and marks its items as in flight. The transaction is cancelled if an item is already in
// flight or does not match its table's schema. If the transaction repeats a committed one, claim returns neither plans
// nor an error.
func (o *transactions) claim(writes []write, token *tokenRecord) ([]*plan, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if repeated, err := o.isRepeat(token); repeated || err != nil {
		return nil, err
	}
	plans, reasons, err := o.planAll(writes)
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
		o.inFlight[p.address()] = true
	}
	if token != nil {
		o.underWay[token.Token] = true
	}
	return plans, nil
}

// planAll plans a transaction's writes, and returns a reason for each item that is in flight or does not match its
// table's schema.
func (o *transactions) planAll(writes []write) ([]*plan, []cancellationReason, error) {
	seen := make(map[rowAddress]bool, len(writes))
	plans := make([]*plan, len(writes))
	reasons := noReasons(len(writes))
	for i, w := range writes {
		p, err := o.writes.plan(w)
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
		if o.inFlight[at] {
			reasons[i] = cancellationReason{Code: reasonConflict, Message: ongoing}
		}
		plans[i] = p
	}
	return plans, reasons, nil
}

// release ends a transaction's claim on its items. The caller must hold the lock.
func (o *transactions) release(plans []*plan, token *tokenRecord) {
	for _, p := range plans {
		delete(o.inFlight, p.address())
	}
	if token != nil {
		delete(o.underWay, token.Token)
	}
}

// keepInFlight waits for the duration that the HoldTransactions hook returns. Meanwhile, the planned rows can't change,
// because other writes to them are rejected.
func (o *transactions) keepInFlight(plans []*plan) {
	o.mu.RLock()
	hold := o.hold
	o.mu.RUnlock()
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
