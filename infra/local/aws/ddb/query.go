package ddb

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strconv"
)

const maxPageBytes = 1 << 20

type queryInput struct {
	expressionAttributes

	TableName              string
	IndexName              string
	KeyConditionExpression expression
	ExclusiveStartKey      item
	ScanIndexForward       *bool
	Limit                  *int
	ConsistentRead         bool

	// The following parameters are not supported.
	FilterExpression       string
	ProjectionExpression   string
	Select                 string
	ReturnConsumedCapacity string
	KeyConditions          json.RawMessage
	QueryFilter            json.RawMessage
	AttributesToGet        []string
	ConditionalOperator    string
}

type queryReply struct {
	Items            []item
	Count            int
	ScannedCount     int
	LastEvaluatedKey item
}

// AppendJSON implements wire.Appender.
func (r queryReply) AppendJSON(to []byte) []byte {
	to = appendArray(append(to, `{"Items":`...), r.Items, func(to []byte, it item) []byte { return it.appendJSON(to) })
	to = strconv.AppendInt(append(to, `,"Count":`...), int64(r.Count), 10)
	to = strconv.AppendInt(append(to, `,"ScannedCount":`...), int64(r.ScannedCount), 10)
	if r.LastEvaluatedKey != nil {
		to = r.LastEvaluatedKey.appendJSON(append(to, `,"LastEvaluatedKey":`...))
	}
	return append(to, '}')
}

// queryPlan is a parsed query. bind sets the fields after keyCondition.
type queryPlan struct {
	in           *queryInput
	keyCondition condition

	table *table
	index *index // index to query; nil for the table itself
	key   keyNames
	rows  *tree
}

func (o readOperations) query(in *queryInput) (any, error) {
	q, err := o.parseQuery(in)
	if err != nil {
		return nil, err
	}
	if in.IndexName != "" {
		o.applyDue()
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if err = o.bind(q); err != nil {
		return nil, err
	}
	span, err := q.span()
	if err != nil {
		return nil, err
	}
	rows := q.rows.partitions[span.partition]
	low := sort.Search(len(rows), func(i int) bool { return !span.isBelow(rows[i].key.order) })
	high := sort.Search(len(rows), func(i int) bool { return span.isAbove(rows[i].key.order) })
	if in.ExclusiveStartKey != nil {
		if low, high, err = q.skip(span, rows, low, high); err != nil {
			return nil, err
		}
	}
	return q.page(rows[low:max(low, high)]), nil
}

// parseQuery validates and parses a query without accessing the table or taking the lock.
func (o readOperations) parseQuery(in *queryInput) (*queryPlan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	scope, err := o.grammar.scope(in.expressionAttributes, in.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	q := &queryPlan{in: in}
	if q.keyCondition, err = scope.condition("KeyConditionExpression", in.KeyConditionExpression); err != nil {
		return nil, err
	}
	return q, scope.checkUsed()
}

func (in *queryInput) check() error {
	if err := absent(map[string]bool{
		"ReturnConsumedCapacity": isAsked(in.ReturnConsumedCapacity),
		"FilterExpression":       in.FilterExpression != "",
		"ProjectionExpression":   in.ProjectionExpression != "",
		"Select":                 in.Select != "",
		"KeyConditions":          in.KeyConditions != nil,
		"QueryFilter":            in.QueryFilter != nil,
		"AttributesToGet":        in.AttributesToGet != nil,
		"ConditionalOperator":    in.ConditionalOperator != "",
	}); err != nil {
		return err
	}
	if in.KeyConditionExpression == "" {
		return invalidf("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if in.Limit != nil && *in.Limit < 1 {
		return invalidf("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have "+
			"value greater than or equal to 1", *in.Limit)
	}
	return nil
}

// bind looks up the table or index to query and rejects options that the table or index does not support.
func (o readOperations) bind(q *queryPlan) error {
	var err error
	if q.table, err = o.table(q.in.TableName); err != nil {
		return err
	}
	q.key, q.rows = q.table.key, q.table.rows
	if q.in.IndexName != "" {
		if err = q.bindIndex(); err != nil {
			return err
		}
	}
	return nil
}

func (q *queryPlan) bindIndex() error {
	if q.index = q.table.index(q.in.IndexName); q.index == nil {
		return invalidf("The table does not have the specified index: %s", q.in.IndexName)
	}
	q.key, q.rows = q.index.key, q.index.rows
	if q.in.ConsistentRead {
		return invalidf("Consistent reads are not supported on global secondary indexes")
	}
	return nil
}

// skip narrows rows[low:high] to the rows after ExclusiveStartKey. The row whose key is ExclusiveStartKey may no longer
// exist.
func (q *queryPlan) skip(span *keySpan, rows []*row, low, high int) (newLow, newHigh int, err error) {
	start, err := q.startKey()
	if err != nil {
		return 0, 0, err
	}
	if start.partition != span.partition || span.isBelow(start.order) || span.isAbove(start.order) {
		return 0, 0, invalidf("The provided starting key is outside query boundaries based on provided conditions")
	}
	at, found := findRow(rows, start)
	if q.isBackward() {
		return low, min(high, at), nil
	}
	if found {
		at++
	}
	return max(low, at), high, nil
}

func (q *queryPlan) isBackward() bool { return q.in.ScanIndexForward != nil && !*q.in.ScanIndexForward }

// startKey parses ExclusiveStartKey, which contains the table's key and, for an index, also the index's key.
func (q *queryPlan) startKey() (rowKey, error) {
	given := q.in.ExclusiveStartKey
	expected := map[string]bool{}
	for _, name := range slices.Concat(q.table.key.list(), q.key.list()) {
		expected[name] = true
		if given[name].kind != q.table.types[name] {
			return rowKey{}, invalidf("The provided starting key is invalid")
		}
	}
	base, err := q.table.keyOf(q.table.key.of(given))
	if err != nil || len(given) != len(expected) {
		return rowKey{}, invalidf("The provided starting key is invalid")
	}
	if q.index == nil {
		return base, nil
	}
	start, _ := q.index.keyOf(given, base)
	return start, nil
}

// page collects rows until it reaches the limit, 1 MB or the last row.
func (q *queryPlan) page(rows []*row) queryReply {
	limit := len(rows) + 1
	if q.in.Limit != nil {
		limit = *q.in.Limit
	}
	out := queryReply{Items: []item{}}
	size := 0
	var last item
	for i := range rows {
		r := rows[i]
		if q.isBackward() {
			r = rows[len(rows)-1-i]
		}
		if size += r.size; size > maxPageBytes {
			out.LastEvaluatedKey = q.keyOfPage(last)
			break
		}
		last = q.rows.read(r)
		out.Items = append(out.Items, last)
		out.Count++
		out.ScannedCount++
		if out.ScannedCount == limit {
			out.LastEvaluatedKey = q.keyOfPage(last)
			break
		}
	}
	return out
}

func (q *queryPlan) keyOfPage(last item) item {
	key := q.table.key.of(last)
	maps.Copy(key, q.key.of(last))
	return key
}
