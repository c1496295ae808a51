package sqs

import (
	"context"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

type startMessageMoveTaskInput struct {
	SourceARN      string `json:"SourceArn"`
	DestinationARN string `json:"DestinationArn"`
}

type startMessageMoveTaskOutput struct {
	TaskHandle string
}

// startMessageMoveTask moves every visible dead letter back to the queue it came from, or to the given one. SQS does
// it in the background; here it is done when the call returns.
func (s *Server) startMessageMoveTask(_ context.Context, in *startMessageMoveTaskInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source := s.findARN(in.SourceARN)
	if source == nil || (in.DestinationARN != "" && s.findARN(in.DestinationARN) == nil) {
		return nil, wire.Fail("ResourceNotFoundException", "The resource that you specified for the SourceArn or DestinationArn parameter doesn't exist.")
	}
	if !s.isDeadLetterQueue(source) {
		return nil, wire.Fail("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	}
	now := time.Now()
	var stay []*message
	defer func() {
		for _, m := range stay {
			source.put(m)
		}
	}()
	for m := source.next(now); m != nil; m = source.next(now) {
		destination := in.DestinationARN
		if destination == "" {
			destination = m.SourceARN
		}
		target := s.findARN(destination)
		if target == nil { // sent to the dead-letter queue directly: it has no way back
			stay = append(stay, m)
			continue
		}
		if err := s.commit(record{Kind: kindRevive, Queue: source.name, ID: m.ID, At: now, Target: target.name, NewID: uuid.NewString()}); err != nil {
			stay = append(stay, m)
			return nil, err
		}
	}
	return startMessageMoveTaskOutput{TaskHandle: uuid.NewString()}, nil
}

func (s *Server) isDeadLetterQueue(q *queue) bool {
	for _, other := range s.queues {
		if other.settings.deadLetterARN == q.arn() {
			return true
		}
	}
	return false
}
