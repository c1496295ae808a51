// Package sqs implements an embedded Amazon SQS (AWS JSON 1.0). The package supports standard queues with delay,
// visibility timeout, long polling, dead-letter queues and redrive. FIFO queues, queue policies and queue deletion are
// not supported. Because the service is not distributed, it delivers a message twice or out of order only after a
// visibility timeout, through fair queueing, or through Disturb.
//
// All times come from package time, so the service runs under the virtual clock of testing/synctest. Rules without a
// cited source follow the Amazon SQS API reference and developer guide.
package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName = "sqs"
	account     = "000000000000"
	arnPrefix   = "arn:aws:sqs:us-east-1:" + account + ":"
)

// Server is the SQS service. Use New to create a Server.
type Server struct {
	*ledger
	view
	*receiveOperations

	operations map[string]wire.Operation
}

// New returns a service that has no queues. Queue URLs start with baseURL, such as "http://127.0.0.1:4566". Every
// change is appended to journal before it is applied.
func New(baseURL string, journal wire.Journal) *Server {
	l := &ledger{journal: journal, queues: map[string]*queue{}}
	queues := &queueOperations{ledger: l, baseURL: strings.TrimSuffix(baseURL, "/")}
	receives := &receiveOperations{ledger: l}
	messages, moves := messageOperations{l}, moveOperations{l}
	return &Server{ledger: l, view: view{l}, receiveOperations: receives, operations: map[string]wire.Operation{
		"CreateQueue":          wire.Typed(queues.createQueue),
		"GetQueueUrl":          wire.Typed(queues.getQueueURL),
		"GetQueueAttributes":   wire.Typed(queues.getQueueAttributes),
		"SetQueueAttributes":   wire.Typed(queues.setQueueAttributes),
		"SendMessage":          wire.Typed(messages.sendMessage),
		"ReceiveMessage":       wire.Typed(receives.receiveMessage),
		"DeleteMessage":        wire.Typed(messages.deleteMessage),
		"DeleteMessageBatch":   wire.Typed(messages.deleteMessageBatch),
		"PurgeQueue":           wire.Typed(queues.purgeQueue),
		"StartMessageMoveTask": wire.Typed(moves.startMessageMoveTask),
	}}
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Operation implements wire.Service.
func (s *Server) Operation(r *http.Request) string { return wire.Target(r) }

// Serve implements wire.Service. If the request's context ends, a waiting ReceiveMessage returns immediately.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c wire.Call) {
	op, ok := s.operations[c.Operation]
	if !ok {
		wire.ServeJSON(w, r, "1.0", s.operations)
		return
	}
	withQueryCode := func(ctx context.Context, body []byte) (any, error) {
		out, err := op(ctx, body)
		if failure, ok := errors.AsType[*wire.Error](err); ok {
			w.Header().Set("X-Amzn-Query-Error", queryCode(failure.Code)+";Sender")
		}
		return out, err
	}
	wire.ServeJSON(w, r, "1.0", map[string]wire.Operation{c.Operation: withQueryCode})
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("sqs record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apply(r)
}

// find returns the queue with the given URL. The URL's host and port are ignored, because containers reach this service
// under a different host name.
func (l *ledger) find(queueURL string) (*queue, error) {
	if queueURL == "" {
		return nil, missing("QueueUrl")
	}
	address := strings.Split(queueURL, "/")
	if len(address) < 2 {
		return nil, wire.Fail("InvalidAddress", "The address %s is not valid for this endpoint.", queueURL)
	}
	name := address[len(address)-1]
	if address[len(address)-2] != account {
		name = "" // the queue belongs to another account
	}
	return l.named(name)
}

func (l *ledger) named(name string) (*queue, error) {
	q, ok := l.queues[name]
	if !ok {
		return nil, wire.Fail("QueueDoesNotExist", "The specified queue does not exist.")
	}
	return q, nil
}

func (l *ledger) findARN(arn string) *queue {
	name, ok := strings.CutPrefix(arn, arnPrefix)
	if !ok {
		return nil
	}
	return l.queues[name]
}

func (o *queueOperations) urlOf(name string) string { return o.baseURL + "/" + account + "/" + name }
