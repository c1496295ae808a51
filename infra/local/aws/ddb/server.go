// Package ddb implements the embedded AWS's DynamoDB. It keeps tables, items, secondary indexes, expressions,
// transactions and time to live in memory, behind the JSON protocol that AWS SDKs use. The package is strict: it
// rejects everything that AWS rejects.
//
// A wire.Journal provides persistence; package aws provides authentication, faults and call counting. Features that
// Recordbridge never uses are omitted: Scan, PartiQL, Streams, local secondary indexes, filters, projections, document
// paths, provisioned and consumed capacity, and legacy parameters. Two hooks help tests: LagIndexes delays index
// updates, and HoldTransactions prolongs transactions.
package ddb

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

const serviceName = "dynamodb"

// namespaceOf returns an error type's namespace, which precedes "#" in DynamoDB's wire format. SDKs strip the
// namespace.
func namespaceOf(code string) string {
	switch code {
	case "ValidationException":
		return "com.amazon.coral.validate"
	case "SerializationException":
		return "com.amazon.coral.service"
	}
	return "com.amazonaws.dynamodb.v20120810"
}

// Server emulates DynamoDB for one account and region. A Server implements wire.Service and is safe for concurrent use.
// A single lock orders all writes. Stored items are never modified, so responses are encoded outside the lock.
type Server struct {
	*ledger
	*transactions
	view

	operations map[string]wire.Operation
}

// New returns a Server that has no tables. Every committed change is appended to journal before it becomes visible.
func New(journal wire.Journal) *Server {
	l := &ledger{
		journal: journal, tables: map[string]*table{}, tokens: map[string]tokenUse{}, inFlight: map[rowAddress]bool{},
	}
	words := grammar{reserved: map[string]bool{}}
	for word := range strings.FieldsSeq(reservedWords) {
		words.reserved[word] = true
	}
	tables, reads, writes := tableOperations{l}, readOperations{l, words}, writeOperations{l, words}
	transacts := &transactions{ledger: l, writes: writes, underWay: map[string]bool{}}
	return &Server{ledger: l, transactions: transacts, view: view{l}, operations: map[string]wire.Operation{
		"CreateTable":               operation(tables.createTable),
		"DescribeTable":             operation(tables.describeTable),
		"DeleteTable":               operation(tables.deleteTable),
		"UpdateContinuousBackups":   operation(tables.updateContinuousBackups),
		"RestoreTableToPointInTime": operation(tables.restoreTable),
		"UpdateTimeToLive":          operation(tables.updateTimeToLive),
		"DescribeTimeToLive":        operation(tables.describeTimeToLive),
		"PutItem":                   operation(writes.putItem),
		"UpdateItem":                operation(writes.updateItem),
		"DeleteItem":                operation(writes.deleteItem),
		"GetItem":                   operation(reads.getItem),
		"Query":                     operation(reads.query),
		"BatchGetItem":              operation(reads.batchGetItem),
		"TransactWriteItems":        operation(transacts.transactWriteItems),
	}}
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Operation implements wire.Service.
func (s *Server) Operation(r *http.Request) string { return wire.Target(r) }

// Serve implements wire.Service.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, _ wire.Call) {
	wire.ServeJSON(w, r, "1.0", s.operations)
}

// operation is like wire.Typed, with two differences that DynamoDB requires. Malformed attribute values cause a
// ValidationException instead of a SerializationException, and error types include their namespace.
func operation[In any](serve func(*In) (any, error)) wire.Operation {
	return func(_ context.Context, body []byte) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			if _, ok := errors.AsType[*wire.Error](err); !ok {
				err = wire.Fail("SerializationException", "%v", err)
			}
			return nil, inNamespace(err)
		}
		out, err := serve(&in)
		return out, inNamespace(err)
	}
}

func inNamespace(err error) error {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	qualified := *failure
	qualified.Code = namespaceOf(failure.Code) + "#" + failure.Code
	return &qualified
}

func invalidf(format string, args ...any) error {
	return wire.Fail("ValidationException", format, args...)
}

// absent returns an error if the request has a parameter that AWS supports but this package does not, so that callers
// can't unknowingly rely on it.
func absent(parameters map[string]bool) error {
	for name, present := range parameters {
		if present {
			return invalidf("%s is not part of the embedded DynamoDB", name)
		}
	}
	return nil
}
