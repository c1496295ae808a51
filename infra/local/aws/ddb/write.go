package ddb

import (
	"encoding/json"
	"slices"

	"recordbridge/infra/local/aws/wire"
)

const (
	writePut    = "Put"
	writeUpdate = "Update"
	writeDelete = "Delete"
	writeCheck  = "ConditionCheck"
)

const (
	returnNone   = "NONE"
	returnAllOld = "ALL_OLD"
	returnAllNew = "ALL_NEW"
)

// writeInput is the input of PutItem, UpdateItem and DeleteItem. It also represents each element of a transaction.
type writeInput struct {
	expressionAttributes

	TableName                           string
	Item, Key                           item
	ConditionExpression                 expression
	UpdateExpression                    expression
	ReturnValues                        choice
	ReturnValuesOnConditionCheckFailure choice

	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
	Expected                    json.RawMessage
	AttributeUpdates            json.RawMessage
	ConditionalOperator         string
}

// write is a parsed change that has not yet been checked against a table.
type write struct {
	kind      string
	in        *writeInput
	condition condition
	actions   []action
}

// plan holds a write and the current state of its row. No other write can change the row before the commit: a single
// write holds the lock, and a transaction marks its rows as in flight.
type plan struct {
	write

	table     *table
	key       rowKey
	old, next item // item before and after the write; nil if there is none
}

// itemReply is a response with an optional item in the member called name.
type itemReply struct {
	name string
	item item
}

// AppendJSON implements wire.Appender.
func (r itemReply) AppendJSON(to []byte) []byte {
	to = append(to, '{')
	if r.item != nil {
		to = r.item.appendJSON(append(appendString(to, r.name), ':'))
	}
	return append(to, '}')
}

// writeOperations implements single writes, and plans and commits the writes of transactions.
type writeOperations struct {
	*ledger

	grammar grammar
}

func (o writeOperations) putItem(in *writeInput) (any, error) {
	return o.writeOne(writePut, in, returnNone, returnAllOld)
}

func (o writeOperations) deleteItem(in *writeInput) (any, error) {
	return o.writeOne(writeDelete, in, returnNone, returnAllOld)
}

func (o writeOperations) updateItem(in *writeInput) (any, error) {
	return o.writeOne(writeUpdate, in, returnNone, returnAllOld, returnAllNew)
}

func (o writeOperations) writeOne(kind string, in *writeInput, returnable ...choice) (any, error) {
	if in.ReturnValues != "" && !slices.Contains(returnable, in.ReturnValues) {
		return nil, invalidf("Return values set to invalid value")
	}
	w, err := o.parseWrite(kind, in)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	p, err := o.plan(w)
	if err != nil {
		return nil, err
	}
	if o.inFlight[p.address()] {
		return nil, wire.Fail("TransactionConflictException", "%s", ongoing)
	}
	if err = p.decide(); err != nil {
		return nil, err
	}
	if err = o.commitPlans([]*plan{p}, nil); err != nil {
		return nil, err
	}
	return itemReply{"Attributes", p.returned()}, nil
}

// parseWrite validates and parses a write without accessing the table or taking the lock.
func (o writeOperations) parseWrite(kind string, in *writeInput) (write, error) {
	w := write{kind: kind, in: in}
	if err := in.checkParameters(); err != nil {
		return w, err
	}
	if err := in.Item.check(); err != nil {
		return w, err
	}
	scope, err := o.grammar.scope(in.expressionAttributes, in.ConditionExpression, in.UpdateExpression)
	if err != nil {
		return w, err
	}
	if in.UpdateExpression != "" {
		if w.actions, err = scope.update(in.UpdateExpression); err != nil {
			return w, err
		}
	}
	if in.ConditionExpression != "" {
		if w.condition, err = scope.condition("ConditionExpression", in.ConditionExpression); err != nil {
			return w, err
		}
	}
	return w, scope.checkUsed()
}

func (in *writeInput) checkParameters() error {
	if on := in.ReturnValuesOnConditionCheckFailure; on != "" && on != returnNone && on != returnAllOld {
		return invalidf("1 validation error detected: Value '%s' at 'returnValuesOnConditionCheckFailure' failed to "+
			"satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]", on)
	}
	return absent(map[string]bool{
		"ReturnConsumedCapacity":      isAsked(in.ReturnConsumedCapacity),
		"ReturnItemCollectionMetrics": isAsked(in.ReturnItemCollectionMetrics),
		"Expected":                    in.Expected != nil,
		"AttributeUpdates":            in.AttributeUpdates != nil,
		"ConditionalOperator":         in.ConditionalOperator != "",
	})
}

func isAsked(parameter string) bool { return parameter != "" && parameter != returnNone }

// plan looks up the write's table and row, and rejects keys that do not match the table's schema.
func (o writeOperations) plan(w write) (*plan, error) {
	p := &plan{write: w}
	var err error
	if p.table, err = o.table(w.in.TableName); err != nil {
		return nil, err
	}
	if w.kind == writePut {
		p.key, err = p.table.keyOfItem(w.in.Item)
	} else {
		p.key, err = p.table.keyOf(w.in.Key)
	}
	if err != nil {
		return nil, err
	}
	for _, a := range w.actions {
		if p.table.key.has(a.attribute) {
			return nil, mismatchf("One or more parameter values were invalid: Cannot update attribute %s. This attribute is "+
				"part of the key", a.attribute)
		}
	}
	p.old = p.table.rows.get(p.key)
	return p, nil
}

type rowAddress struct {
	table *table
	key   rowKey
}

func (p *plan) address() rowAddress { return rowAddress{p.table, p.key} }

// decide evaluates the plan's condition and computes the row's next content.
func (p *plan) decide() error {
	if p.condition != nil && !p.condition.holds(p.old) {
		failure := &wire.Error{Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
		if p.in.ReturnValuesOnConditionCheckFailure == returnAllOld && p.old != nil {
			failure.Fields = map[string]any{"Item": p.old}
		}
		return failure
	}
	switch p.kind {
	case writePut:
		p.next = p.in.Item
	case writeCheck:
		p.next = p.old
		return nil
	case writeUpdate:
		base := p.old
		if base == nil {
			base = p.in.Key
		}
		var err error
		if p.next, err = updated(base, p.actions); err != nil {
			return err
		}
	}
	return p.checkNext()
}

func (p *plan) checkNext() error {
	if p.next == nil {
		return nil
	}
	if p.kind == writeUpdate && p.next.size() > maxItemBytes {
		return invalidf("Item size to update has exceeded the maximum allowed size")
	}
	if err := p.next.checkNesting(); err != nil {
		return err
	}
	return p.table.checkIndexKeys(p.next)
}

// commitPlans commits all decided plans as a single change, with the transaction's token if there is one.
func (o writeOperations) commitPlans(plans []*plan, token *tokenRecord) error {
	record := journalRecord{Token: token, Items: make([]itemChange, 0, len(plans))}
	for _, p := range plans {
		switch {
		case p.kind == writeCheck:
		case p.next != nil:
			record.Items = append(record.Items, itemChange{Table: p.table.spec.TableName, Put: p.next})
		case p.old != nil:
			record.Items = append(record.Items, itemChange{Table: p.table.spec.TableName, Removed: p.in.Key})
		}
	}
	if token == nil && len(record.Items) == 0 {
		return nil
	}
	return o.commit(record)
}

// returned returns the item selected by ReturnValues, or nil if it selects none.
func (p *plan) returned() item {
	switch p.in.ReturnValues {
	case returnAllOld:
		return p.old
	case returnAllNew:
		return p.next
	}
	return nil
}
