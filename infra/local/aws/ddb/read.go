package ddb

type readInput struct {
	leftOut

	TableName string
	Key       item
}

// leftOut holds the read parameters that are not supported because no caller needs them.
type leftOut struct {
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
	AttributesToGet          []string
	ReturnConsumedCapacity   string
}

func (in leftOut) check() error {
	return absent(map[string]bool{
		"ProjectionExpression":     in.ProjectionExpression != "",
		"ExpressionAttributeNames": in.ExpressionAttributeNames != nil,
		"AttributesToGet":          in.AttributesToGet != nil,
		"ReturnConsumedCapacity":   isAsked(in.ReturnConsumedCapacity),
	})
}

type readOperations struct {
	*ledger

	grammar grammar
}

func (o readOperations) getItem(in *readInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	rows, err := o.rowsOf(in.TableName, []item{in.Key})
	if err != nil {
		return nil, err
	}
	return itemReply{"Item", rows[0]}, nil
}

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const (
	maxBatchReads = 100
	maxBatchBytes = 16 << 20
)

const repeatedKey = "Provided list of item keys contains duplicates"

type batchGetInput struct {
	RequestItems           map[string]*batchGetTable
	ReturnConsumedCapacity string
}

type batchGetTable struct {
	leftOut

	Keys           []item
	ConsistentRead bool
}

type batchGetReply struct {
	Responses       map[string][]item
	UnprocessedKeys map[string]unprocessedKeys
}

// unprocessedKeys has the form of a request, so that callers can resend it unchanged.
type unprocessedKeys struct {
	Keys           []item
	ConsistentRead bool `json:",omitempty"`
}

func (o readOperations) batchGetItem(in *batchGetInput) (any, error) {
	count := 0
	for _, request := range in.RequestItems {
		count += len(request.Keys)
	}
	if count == 0 || count > maxBatchReads {
		return nil, invalidf("Too many items requested for the BatchGetItem call: between 1 and %d are allowed",
			maxBatchReads)
	}
	if err := absent(map[string]bool{"ReturnConsumedCapacity": isAsked(in.ReturnConsumedCapacity)}); err != nil {
		return nil, err
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	out := batchGetReply{Responses: map[string][]item{}, UnprocessedKeys: map[string]unprocessedKeys{}}
	size := 0
	for name, request := range in.RequestItems {
		if err := request.check(); err != nil {
			return nil, err
		}
		rows, err := o.rowsOf(name, request.Keys)
		if err != nil {
			return nil, err
		}
		out.Responses[name] = []item{}
		for i, it := range rows {
			if size += it.size(); size > maxBatchBytes {
				out.UnprocessedKeys[name] = unprocessedKeys{request.Keys[i:], request.ConsistentRead}
				break
			}
			if it != nil {
				out.Responses[name] = append(out.Responses[name], it)
			}
		}
	}
	return out, nil
}

// rowsOf returns the rows with the given keys. rowsOf rejects duplicate keys. The returned item is nil for a missing
// row.
func (o readOperations) rowsOf(tableName string, keys []item) ([]item, error) {
	t, err := o.table(tableName)
	if err != nil {
		return nil, err
	}
	seen := make(map[rowKey]bool, len(keys))
	rows := make([]item, len(keys))
	for i, key := range keys {
		at, keyErr := t.keyOf(key)
		if keyErr != nil {
			return nil, keyErr
		}
		if seen[at] {
			return nil, invalidf(repeatedKey)
		}
		seen[at] = true
		rows[i] = t.rows.get(at)
	}
	return rows, nil
}
