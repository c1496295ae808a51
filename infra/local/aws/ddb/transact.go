package ddb

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const (
	maxTransactionItems = 100
	maxTransactionBytes = 4 << 20
	maxTokenLength      = 36
	tokenLife           = 10 * time.Minute
)

type transactWriteInput struct {
	TransactItems      []map[string]*writeInput
	ClientRequestToken string

	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type emptyReply struct{}

const repeatedItem = "Transaction request cannot include multiple operations on one item"

type tokenUse struct {
	request [sha256.Size]byte
	at      time.Time
}

// tokenRecord is the journal record of a tokenUse. The record lets the server recognise a repeated transaction after a
// restart.
type tokenRecord struct {
	Token   string    `json:"token"`
	Request []byte    `json:"request"`
	At      time.Time `json:"at"`
}

// transactions implements TransactWriteItems.
type transactions struct {
	*ledger

	writes   writeOperations
	underWay map[string]bool // tokens of transactions in flight
	hold     func(tables []string) time.Duration
}

func (o *transactions) transactWriteItems(in *transactWriteInput) (any, error) {
	writes, err := o.parseTransaction(in)
	if err != nil {
		return nil, err
	}
	var token *tokenRecord
	if in.ClientRequestToken != "" {
		token = newToken(in)
	}
	plans, err := o.claim(writes, token)
	if err != nil || plans == nil {
		return emptyReply{}, err
	}
	o.keepInFlight(plans)
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.release(plans, token)
	if err = decideAll(plans); err != nil {
		return nil, err
	}
	return emptyReply{}, o.writes.commitPlans(plans, token)
}

func (o *transactions) parseTransaction(in *transactWriteInput) ([]write, error) {
	if n := len(in.TransactItems); n == 0 || n > maxTransactionItems {
		return nil, invalidf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member "+
			"must have length between 1 and %d", maxTransactionItems)
	}
	if len(in.ClientRequestToken) > maxTokenLength {
		return nil, invalidf("1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", maxTokenLength)
	}
	if err := absent(map[string]bool{
		"ReturnConsumedCapacity":      isAsked(in.ReturnConsumedCapacity),
		"ReturnItemCollectionMetrics": isAsked(in.ReturnItemCollectionMetrics),
	}); err != nil {
		return nil, err
	}
	writes := make([]write, 0, len(in.TransactItems))
	for _, element := range in.TransactItems {
		w, err := o.parseElement(element)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	return writes, nil
}

func (o *transactions) parseElement(element map[string]*writeInput) (write, error) {
	if len(element) != 1 {
		return write{}, invalidf("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	for kind, in := range element {
		switch {
		case in == nil || kind != writePut && kind != writeUpdate && kind != writeDelete && kind != writeCheck:
			return write{}, invalidf("TransactItems can only contain one of Check, Put, Update or Delete")
		case kind == writePut && in.Item == nil, kind != writePut && in.Key == nil:
			return write{}, invalidf("1 validation error detected: a member of %s failed to satisfy constraint: Member must "+
				"not be null", kind)
		case kind == writeCheck && in.ConditionExpression == "":
			return write{}, invalidf("ConditionCheck needs a ConditionExpression")
		case kind == writeUpdate && in.UpdateExpression == "":
			return write{}, invalidf("Update needs an UpdateExpression")
		}
		return o.writes.parseWrite(kind, in)
	}
	return write{}, nil
}

// newToken returns a record with a hash of the request that does not depend on map order.
func newToken(in *transactWriteInput) *tokenRecord {
	request := make([]byte, 0, 2048)
	for _, element := range in.TransactItems {
		for kind, w := range element {
			request = w.appendPacked(appendText(request, kind))
		}
	}
	sum := sha256.Sum256(request)
	return &tokenRecord{Token: in.ClientRequestToken, Request: sum[:], At: time.Now()}
}

// appendPacked appends the fields that a write in a transaction may set.
func (in *writeInput) appendPacked(to []byte) []byte {
	for _, text := range []string{
		in.TableName, string(in.ConditionExpression), string(in.UpdateExpression),
		string(in.ReturnValuesOnConditionCheckFailure),
	} {
		to = appendText(to, text)
	}
	to = binary.AppendUvarint(to, uint64(len(in.ExpressionAttributeNames)))
	for _, name := range slices.Sorted(maps.Keys(in.ExpressionAttributeNames)) {
		to = appendText(appendText(to, name), in.ExpressionAttributeNames[name])
	}
	for _, it := range []item{in.Item, in.Key, in.ExpressionAttributeValues} {
		to = appendItem(to, it)
	}
	return to
}

// isRepeat reports whether the token's transaction was committed within the last ten minutes. It returns an error if a
// transaction with the token is in progress, or if the token was used for a different request.
func (o *transactions) isRepeat(token *tokenRecord) (bool, error) {
	if token == nil {
		return false, nil
	}
	if o.underWay[token.Token] {
		return false, errInProgress()
	}
	use, known := o.tokens[token.Token]
	if !known || token.At.Sub(use.at) >= tokenLife {
		return false, nil
	}
	if use.request != [sha256.Size]byte(token.Request) {
		return false, wire.Fail("IdempotentParameterMismatchException",
			"The request uses the same client token as a previous, but non-identical request.")
	}
	return true, nil
}

// remember stores a token. When the number of tokens reaches tokenSweep, remember first removes the expired ones.
func (l *ledger) remember(token tokenRecord) {
	if len(l.tokens) >= l.tokenSweep {
		for name, use := range l.tokens {
			if token.At.Sub(use.at) >= tokenLife {
				delete(l.tokens, name)
			}
		}
		l.tokenSweep = 2*len(l.tokens) + 1024
	}
	use := tokenUse{at: token.At}
	copy(use.request[:], token.Request)
	l.tokens[token.Token] = use
}

// decideAll calls decide for every plan. If any plan fails, the error contains a cancellation reason for each plan.
func decideAll(plans []*plan) error {
	reasons := noReasons(len(plans))
	size := 0
	for i, p := range plans {
		reasons[i].take(p.decide())
		size += p.next.size()
	}
	if err := cancelled(reasons); err != nil {
		return err
	}
	if size > maxTransactionBytes {
		return errTooLarge()
	}
	return nil
}

func errTooLarge() error { return invalidf("Transaction size exceeds the limit of 4 MB") }
