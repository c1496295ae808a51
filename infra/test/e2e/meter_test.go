package e2e_test

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"recordbridge/infra/capacity/journey"
	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
)

// answersAfter is the response time of simulated external servers while costs are counted, and the unit of
// journey.Cost.Waits.
const answersAfter = 250 * time.Millisecond

// meter counts the functions' AWS calls in AWS's billing units.
type meter struct {
	stack    *stack       // nil until the stack is created
	refusals atomic.Int32 // number of webhook deliveries that will still fail

	mu   sync.Mutex
	rows map[journey.Cost]journey.Cost // rows, keyed by their descriptive fields (see aboutOf)
}

// add adds c's counts to the row with the same descriptive fields.
func (m *meter) add(c journey.Cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	about := aboutOf(c)
	sum := m.rows[about]
	sum.Calls, sum.Reads, sum.Writes, sum.Bytes, sum.Waits = sum.Calls+c.Calls, sum.Reads+c.Reads, sum.Writes+c.Writes,
		sum.Bytes+c.Bytes, sum.Waits+c.Waits
	m.rows[about] = sum
}

// aboutOf returns c's descriptive fields, without its counts.
func aboutOf(c journey.Cost) journey.Cost {
	return journey.Cost{Journey: c.Journey, Function: c.Function, Service: c.Service, Operation: c.Operation, On: c.On}
}

// take returns the counts for the given functions and for external servers since its previous call, labelled with the
// journey's name.
func (m *meter) take(name string, functions ...string) []journey.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []journey.Cost
	for about, sum := range m.rows {
		if about.Function != "" && !slices.Contains(functions, about.Function) {
			continue
		}
		sum.Journey, sum.Function, sum.Service, sum.Operation, sum.On = name, about.Function, about.Service,
			about.Operation, about.On
		all = append(all, sum)
	}
	clear(m.rows)
	slices.SortFunc(all, func(a, b journey.Cost) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Service, b.Service),
			cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.On, b.On))
	})
	return all
}

func (m *meter) invoked(folder string, began time.Time) {
	if m != nil {
		m.add(journey.Cost{
			Function: folder, Service: journey.Lambda, Operation: "Invoke", Calls: 1,
			Waits: float64(time.Since(began)) / float64(answersAfter),
		})
	}
}

// logger returns a logger that counts a function's log lines.
func (m *meter) logger(folder string) *slog.Logger {
	return slog.New(slog.NewJSONHandler(lines{m, folder}, nil))
}

type lines struct {
	meter  *meter
	folder string
}

// Write implements io.Writer, counting each call as one log line.
func (l lines) Write(p []byte) (int, error) {
	l.meter.add(journey.Cost{Function: l.folder, Service: journey.Logs, Operation: "Line", Calls: 1, Bytes: len(p)})
	return len(p), nil
}

// intercept counts and delays a function's request to an external server.
func (m *meter) intercept(r *http.Request) *http.Response {
	var kind string
	switch {
	case strings.HasPrefix(r.URL.Path, "/_local/inbox"):
		kind = "webhook"
	case isFHIR(r):
		kind = "FHIR"
	case isTokenRequest(r), strings.HasSuffix(r.URL.Path, "/oauth/revoke"):
		kind = "token"
	default: // request from a browser
		return nil
	}
	m.add(journey.Cost{Service: journey.Outside, Operation: kind, Calls: 1})
	<-time.After(answersAfter + apart(r)) // virtual time, because the test runs in a synctest bubble
	if kind != "webhook" || m.refusals.Add(-1) < 0 {
		return nil
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}
}

// apart returns a delay of up to a millisecond so that the responses to simultaneous requests arrive in the same order
// in each run. An export's requests depend on the order of earlier responses.
func apart(r *http.Request) time.Duration {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, r.Method+r.URL.Path+"?"+r.URL.RawQuery)
	return time.Duration(sum.Sum32()%1000) * time.Microsecond
}

func (m *meter) middleware(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		folder, isFunction := strings.CutSuffix(c.Caller, "Function")
		if !isFunction {
			next(w, r, c)
			return
		}
		cost := journey.Cost{Function: strings.ToLower(folder), Service: c.Service, Operation: c.Operation, Calls: 1}
		switch c.Service {
		case "dynamodb":
			m.serve(cost, w, r, func(to http.ResponseWriter) { next(to, r, c) })
			return
		case "s3":
			cost.Bytes = int(max(r.ContentLength, 0))
		case "sqs":
			var in struct{ QueueUrl string } //nolint:revive // SQS's spelling
			body, _ := wire.Body(r)
			_ = json.Unmarshal(body, &in)
			cost.On = strings.TrimPrefix(path.Base(in.QueueUrl), "test-")
		}
		m.add(cost)
		next(w, r, c)
	}
}

// rowKey is a row's primary key. It can be decoded from the JSON of a complete row.
type rowKey struct {
	PK, SK struct{ S string }
}

// rowCall holds the parts of a DynamoDB call, or of one item in the call, that determine the cost.
type rowCall struct {
	TableName, IndexName string
	ConsistentRead       bool
	Key, Item            *rowKey
	TransactItems        []map[string]rowCall
	RequestItems         map[string]struct{ Keys []rowKey }
}

// serve counts the capacity units of a DynamoDB call:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func (m *meter) serve(cost journey.Cost, w http.ResponseWriter, r *http.Request, next func(http.ResponseWriter)) {
	var in rowCall
	body, _ := wire.Body(r)
	expect.NoError(m.stack.t, json.Unmarshal(body, &in))
	var written []rowCall
	if slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem"}, cost.Operation) {
		written = []rowCall{in}
	}
	for _, part := range in.TransactItems {
		written = slices.AppendSeq(written, maps.Values(part))
	}
	before := make([]ddb.Row, len(written))
	for i, q := range written {
		before[i] = m.row(q.TableName, "", *cmp.Or(q.Key, q.Item))
	}
	answer := httptest.NewRecorder()
	next(answer)
	if len(written) == 0 {
		m.read(cost, in, answer.Body.Bytes())
	}
	for i, q := range written {
		m.written(cost, q, before[i])
		cost.Calls = 0 // a transaction is a single call, regardless of its number of rows
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// read counts the rows read by a call. One read unit covers 4 KB, either of one row read consistently or of all rows
// that a query reads.
func (m *meter) read(cost journey.Cost, in rowCall, answer []byte) {
	var out struct {
		Items     []rowKey
		Responses map[string][]rowKey
	}
	expect.NoError(m.stack.t, json.Unmarshal(answer, &out))
	sum, found := 0, out.Items
	if in.Key != nil {
		found = []rowKey{*in.Key}
	}
	for _, key := range found {
		sum += m.row(in.TableName, in.IndexName, key).Size
	}
	cost.Reads = unitsOf(sum, 4096)
	for table, batch := range in.RequestItems {
		in.TableName, found, cost.Reads = table, batch.Keys, 0
		for _, key := range batch.Keys {
			cost.Reads += unitsOf(m.row(table, "", key).Size, 4096)
		}
	}
	if !in.ConsistentRead && in.RequestItems == nil {
		cost.Reads /= 2
	}
	cost.On = tableName(in.TableName) + " " + in.IndexName
	if in.IndexName == "" && len(found) > 0 {
		cost.On = kindOfRow(in.TableName, found[0])
	}
	m.add(cost)
}

// written counts a row write, including one whose condition failed, and the affected index entries. A write unit covers
// 1 KB of the larger of the old and the new row. A transactional write costs twice as much, including its index entries
// (DynamoDB Local).
func (m *meter) written(cost journey.Cost, q rowCall, before ddb.Row) {
	key, times := *cmp.Or(q.Key, q.Item), 1.0
	if cost.Operation == "TransactWriteItems" {
		times = 2
	}
	after := m.row(q.TableName, "", key)
	cost.On, cost.Writes = kindOfRow(q.TableName, key), times*unitsOf(max(before.Size, after.Size), 1024)
	m.add(cost)
	indexes := map[string][2]string{
		"byOrg": {"org_list", "org_order"}, byDue: {"due_shard", "due_at"}, "byFilter": {"filter_list", "org_order"},
		"byExternal": {"external_list", "org_order"},
	}
	if tableName(q.TableName) == "RequestLog" {
		indexes = map[string][2]string{
			"byRequest": {"request_list", "sk"}, "byConnection": {"connection_list", "sk"},
			"byExternal": {"external_list", "sk"},
		}
	}
	for index, by := range indexes {
		was, is := entryOf(before, by), entryOf(after, by)
		if was == is {
			continue
		}
		cost.On, cost.Calls, cost.Writes = tableName(q.TableName)+" "+index, 0, times
		if was != "" && is != "" { // moving an index entry takes a delete and an insert
			cost.Writes = 2 * times
		}
		m.add(cost)
	}
}

// entryOf returns the values of a row's index key, or "" if the index omits the row.
func entryOf(row ddb.Row, by [2]string) string {
	if row.Item[by[0]] == nil || row.Item[by[1]] == nil {
		return ""
	}
	return string(row.Item[by[0]]) + string(row.Item[by[1]])
}

// row returns the current row or, if index is set, its entry in that index. A missing row or entry yields the zero
// value.
func (m *meter) row(table, index string, key rowKey) ddb.Row {
	for _, row := range m.browse(table, index) {
		if textOf(m.stack.t, row.Item["pk"]) == key.PK.S && textOf(m.stack.t, row.Item["sk"]) == key.SK.S {
			return row
		}
	}
	return ddb.Row{}
}

func (m *meter) browse(table, index string) []ddb.Row {
	page, err := m.stack.cloud.DynamoDB().Browse(ddb.Position{Table: table, Index: index, Limit: 1000})
	expect.NoError(m.stack.t, err)
	return page.Rows
}

// stored returns the average stored size of a partition, by kind of row, and of an index entry.
func (m *meter) stored() []journey.Cost {
	sums, rows := map[string]journey.Cost{}, map[string]bool{}
	count := func(on, name string, row ddb.Row) {
		sum := sums[on]
		if sum.Bytes += row.Size; !rows[on+name] {
			rows[on+name] = true
			sum.Calls++
		}
		sums[on] = sum
	}
	for _, table := range []string{"Connection", "Tokens", "Work"} {
		for _, row := range m.browse("test-"+table+"Table", "") {
			key := rowKey{}
			key.PK.S, key.SK.S = textOf(m.stack.t, row.Item["pk"]), textOf(m.stack.t, row.Item["sk"])
			count(kindOfRow("test-"+table+"Table", key), key.PK.S, row)
		}
		for _, index := range []string{"byOrg", byDue, "byFilter"} {
			if table == "Tokens" {
				continue
			}
			for _, row := range m.browse("test-"+table+"Table", index) {
				count(table+" "+index, row.ID, row)
			}
		}
	}
	all := make([]journey.Cost, 0, len(sums))
	for _, on := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, journey.Cost{
			Journey: "kept", Service: "dynamodb", Operation: "Row", On: on, Calls: 1,
			Bytes: sums[on].Bytes / sums[on].Calls,
		})
	}
	return all
}

// kindOfRow returns a row's table and kind, which is a word in the row's key.
func kindOfRow(table string, key rowKey) string {
	words := strings.Split(key.PK.S, "#")
	kind, _, _ := strings.Cut(key.SK.S, "#")
	switch {
	case words[0] != "test" && words[0] != "live":
		kind = words[0]
	case len(words) > 2:
		kind = words[2]
	}
	return tableName(table) + " " + kind
}

func tableName(physical string) string {
	return strings.TrimSuffix(strings.TrimPrefix(physical, "test-"), "Table")
}

// unitsOf returns the number of billing units for the given size, which is at least one.
func unitsOf(size int, unit float64) float64 { return max(1, math.Ceil(float64(size)/unit)) }
