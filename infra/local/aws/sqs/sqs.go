// Package sqs owns the embedded SQS: standard queues with delay, visibility timeout, long polling, dead-letter
// queues and their redrive, spoken in AWS JSON 1.0. It has no FIFO queues, no queue policies, no deletion of queues
// and no real distribution: a message is delivered twice, or out of order, only when its visibility timeout runs
// out or Disturb has it so.
//
// Times come from package time alone, so the whole service runs under the virtual clock of testing/synctest.
// Rules without a source of their own follow the Amazon SQS API reference and developer guide.
package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName = "sqs"
	account     = "000000000000"
	arnPrefix   = "arn:aws:sqs:us-east-1:" + account + ":"
)

// Server is the service. Create it with New.
type Server struct {
	baseURL    string
	journal    wire.Journal
	operations map[string]wire.Operation

	mu     sync.Mutex
	queues map[string]*queue
	placed uint64 // messages that ever got a place in a queue; orders those that become visible at the same time
	draw   Disorder
}

// New makes an empty service. Queue URLs start with baseURL, such as "http://127.0.0.1:4566"; every change goes into
// journal before it takes effect.
func New(baseURL string, journal wire.Journal) *Server {
	s := &Server{baseURL: strings.TrimSuffix(baseURL, "/"), journal: journal, queues: map[string]*queue{}}
	s.operations = map[string]wire.Operation{
		"CreateQueue":          wire.Typed(s.createQueue),
		"GetQueueUrl":          wire.Typed(s.getQueueURL),
		"GetQueueAttributes":   wire.Typed(s.getQueueAttributes),
		"SetQueueAttributes":   wire.Typed(s.setQueueAttributes),
		"SendMessage":          wire.Typed(s.sendMessage),
		"ReceiveMessage":       wire.Typed(s.receiveMessage),
		"DeleteMessage":        wire.Typed(s.deleteMessage),
		"DeleteMessageBatch":   wire.Typed(s.deleteMessageBatch),
		"PurgeQueue":           wire.Typed(s.purgeQueue),
		"StartMessageMoveTask": wire.Typed(s.startMessageMoveTask),
	}
	return s
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Operation implements wire.Service.
func (s *Server) Operation(r *http.Request) string { return wire.Target(r) }

// Serve implements wire.Service. A ReceiveMessage that waits returns as soon as the request's context ends.
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

// find returns the queue of a queue URL. Host and port are not compared: a container reaches us under another name.
func (s *Server) find(queueURL string) (*queue, error) {
	if queueURL == "" {
		return nil, missing("QueueUrl")
	}
	address := strings.Split(queueURL, "/")
	if len(address) < 2 {
		return nil, wire.Fail("InvalidAddress", "The address %s is not valid for this endpoint.", queueURL)
	}
	name := address[len(address)-1]
	if address[len(address)-2] != account {
		name = "" // a queue of somebody else
	}
	return s.named(name)
}

func (s *Server) named(name string) (*queue, error) {
	q, ok := s.queues[name]
	if !ok {
		return nil, wire.Fail("QueueDoesNotExist", "The specified queue does not exist.")
	}
	return q, nil
}

// findARN returns the queue with the ARN arn, nil when there is none.
func (s *Server) findARN(arn string) *queue {
	name, ok := strings.CutPrefix(arn, arnPrefix)
	if !ok {
		return nil
	}
	return s.queues[name]
}

func (s *Server) urlOf(name string) string { return s.baseURL + "/" + account + "/" + name }
