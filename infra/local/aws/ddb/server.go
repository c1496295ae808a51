// Package ddb is the embedded AWS's DynamoDB. The package implements tables, items, secondary indexes, expressions,
// transactions and time to live in memory, behind the JSON protocol that the real SDK uses. The package is strict and
// rejects everything that AWS rejects.
//
// A wire.Journal provides persistence, and package aws provides identity, faults and call counting. Package ddb omits
// everything that Recordbridge never calls: Scan, PartiQL, Streams, local secondary indexes, filters, projections,
// document paths, provisioned and consumed capacity, and legacy parameters. LagIndexes delays index updates, and
// HoldTransactions slows transactions.
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

// namespaceOf returns the prefix of an error type in DynamoDB's wire format, including "#". SDKs strip the prefix.
func namespaceOf(code string) string {
	switch code {
	case "ValidationException":
		return "com.amazon.coral.validate"
	case "SerializationException":
		return "com.amazon.coral.service"
	}
	return "com.amazonaws.dynamodb.v20120810"
}

// Server is a single account's DynamoDB in a single region. A Server implements wire.Service and is safe for concurrent
// use. A single lock orders all writes. Stored items are never modified, so responses are encoded outside the lock.
type Server struct {
	*ledger
	*transactions
	view

	operations map[string]wire.Operation
}

// New returns a Server without tables. The server appends every committed change to journal and then makes the change
// visible.
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
		"CreateTable":        operation(tables.createTable),
		"DescribeTable":      operation(tables.describeTable),
		"UpdateTimeToLive":   operation(tables.updateTimeToLive),
		"DescribeTimeToLive": operation(tables.describeTimeToLive),
		"PutItem":            operation(writes.putItem),
		"UpdateItem":         operation(writes.updateItem),
		"DeleteItem":         operation(writes.deleteItem),
		"GetItem":            operation(reads.getItem),
		"Query":              operation(reads.query),
		"BatchGetItem":       operation(reads.batchGetItem),
		"TransactWriteItems": operation(transacts.transactWriteItems),
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

// operation is like wire.Typed, with two differences that DynamoDB requires. A malformed attribute value is a
// ValidationException, not a SerializationException, and error types include the namespace.
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

// absent returns an error for parameters that AWS supports but this package does not. The error prevents callers from
// unknowingly relying on such a parameter.
func absent(parameters map[string]bool) error {
	for name, present := range parameters {
		if present {
			return invalidf("%s is not part of the embedded DynamoDB", name)
		}
	}
	return nil
}
