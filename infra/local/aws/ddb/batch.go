package ddb

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html and API_BatchGetItem.html
const (
	maxBatchWrites = 25
	maxBatchReads  = 100
	maxBatchBytes  = 16 << 20
)

const repeatedKey = "Provided list of item keys contains duplicates"

type batchWriteInput struct {
	RequestItems map[string][]batchWriteElement

	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type batchWriteElement struct {
	PutRequest    *putRequest    `json:",omitempty"`
	DeleteRequest *deleteRequest `json:",omitempty"`
}

type putRequest struct{ Item item }

type deleteRequest struct{ Key item }

// batchWriteReply gives back the writes that met a transaction.
type batchWriteReply struct {
	UnprocessedItems map[string][]batchWriteElement
}

func (s *Server) batchWriteItem(in *batchWriteInput) (any, error) {
	if err := absent(map[string]bool{
		"ReturnConsumedCapacity":      isAsked(in.ReturnConsumedCapacity),
		"ReturnItemCollectionMetrics": isAsked(in.ReturnItemCollectionMetrics),
	}); err != nil {
		return nil, err
	}
	writes, err := in.writes()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := batchWriteReply{map[string][]batchWriteElement{}}
	seen := make(map[rowAddress]bool, len(writes))
	plans := make([]*plan, 0, len(writes))
	for _, w := range writes {
		p, err := s.plan(w)
		if err != nil {
			return nil, err
		}
		if seen[p.address()] {
			return nil, invalidf(repeatedKey)
		}
		seen[p.address()] = true
		if err = p.decide(); err != nil {
			return nil, err
		}
		if s.inFlight[p.address()] {
			out.UnprocessedItems[w.in.TableName] = append(out.UnprocessedItems[w.in.TableName], w.element())
			continue
		}
		plans = append(plans, p)
	}
	return out, s.commitPlans(plans, nil)
}

// element is w as a batch carries it.
func (w write) element() batchWriteElement {
	if w.kind == writePut {
		return batchWriteElement{PutRequest: &putRequest{w.in.Item}}
	}
	return batchWriteElement{DeleteRequest: &deleteRequest{w.in.Key}}
}

func (in *batchWriteInput) writes() ([]write, error) {
	var writes []write
	size := 0
	for name, elements := range in.RequestItems {
		for _, element := range elements {
			w := write{in: &writeInput{TableName: name}}
			switch {
			case (element.PutRequest == nil) == (element.DeleteRequest == nil):
				return nil, invalidf("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
			case element.PutRequest != nil:
				w.kind, w.in.Item = writePut, element.PutRequest.Item
			default:
				w.kind, w.in.Key = writeDelete, element.DeleteRequest.Key
			}
			if err := w.in.Item.check(); err != nil {
				return nil, err
			}
			size += w.in.Item.size()
			writes = append(writes, w)
		}
	}
	if len(writes) == 0 || len(writes) > maxBatchWrites {
		return nil, invalidf("Too many items requested for the BatchWriteItem call: between 1 and %d are allowed", maxBatchWrites)
	}
	if size > maxBatchBytes {
		return nil, invalidf("The size of the BatchWriteItem call exceeds the limit of 16 MB")
	}
	return writes, nil
}

type batchGetInput struct {
	RequestItems           map[string]*batchGetTable
	ReturnConsumedCapacity string
}

type batchGetTable struct {
	expressionAttributes

	Keys                 []item
	ConsistentRead       bool
	ProjectionExpression expression
	AttributesToGet      []string
}

type batchGetReply struct {
	Responses       map[string][]item
	UnprocessedKeys map[string]unprocessedKeys
}

// unprocessedKeys has the form of a request, so that a caller can send it again as it is.
type unprocessedKeys struct {
	Keys                     []item
	ConsistentRead           bool              `json:",omitempty"`
	ProjectionExpression     expression        `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

func (s *Server) batchGetItem(in *batchGetInput) (any, error) {
	count := 0
	for _, request := range in.RequestItems {
		count += len(request.Keys)
	}
	if count == 0 || count > maxBatchReads {
		return nil, invalidf("Too many items requested for the BatchGetItem call: between 1 and %d are allowed", maxBatchReads)
	}
	if err := absent(map[string]bool{"ReturnConsumedCapacity": isAsked(in.ReturnConsumedCapacity)}); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := batchGetReply{Responses: map[string][]item{}, UnprocessedKeys: map[string]unprocessedKeys{}}
	size := 0
	for name, request := range in.RequestItems {
		paths, err := s.readPaths(request.expressionAttributes, request.ProjectionExpression, request.AttributesToGet)
		if err != nil {
			return nil, err
		}
		rows, err := s.rowsOf(name, request.Keys)
		if err != nil {
			return nil, err
		}
		out.Responses[name] = []item{}
		for i, it := range rows {
			if size += it.size(); size > maxBatchBytes {
				out.UnprocessedKeys[name] = unprocessedKeys{request.Keys[i:], request.ConsistentRead, request.ProjectionExpression, request.ExpressionAttributeNames}
				break
			}
			if it != nil {
				out.Responses[name] = append(out.Responses[name], project(it, paths))
			}
		}
	}
	return out, nil
}

// rowsOf reads the rows of keys, nil where there is none, and refuses a key that comes twice.
func (s *Server) rowsOf(tableName string, keys []item) ([]item, error) {
	t, err := s.table(tableName)
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
