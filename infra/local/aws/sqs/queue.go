package sqs

import (
	"container/heap"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// message is one message as it stands in its queue and, on the day it was sent, in the journal.
type message struct {
	ID            string               `json:"id"`
	Body          string               `json:"body"`
	Attributes    map[string]attribute `json:"attributes,omitempty"`
	GroupID       string               `json:"group_id,omitempty"`
	Sent          time.Time            `json:"sent"`
	FirstReceived time.Time            `json:"first_received,omitzero"`
	Received      time.Time            `json:"received,omitzero"`
	Receives      int                  `json:"receives,omitempty"`
	VisibleAt     time.Time            `json:"visible_at"`
	SourceARN     string               `json:"source_arn,omitempty"` // the queue that a dead letter failed in

	place uint64
	index int // in the queue's schedule, -1 while it is outside
}

// attribute is a MessageAttributeValue of the API.
type attribute struct {
	DataType    string  `json:"DataType"`
	StringValue *string `json:"StringValue,omitempty"`
	BinaryValue []byte  `json:"BinaryValue,omitempty"`
}

// handle is the receipt handle of the message's latest delivery.
func (m *message) handle() string {
	return base64.RawURLEncoding.EncodeToString([]byte(m.ID + "#" + strconv.Itoa(m.Receives)))
}

// idOfHandle returns the message that a receipt handle speaks of.
func idOfHandle(handle string) (string, error) {
	decoded, err := base64.RawURLEncoding.DecodeString(handle)
	id, _, ok := strings.Cut(string(decoded), "#")
	if err != nil || !ok {
		return "", wire.Fail("ReceiptHandleIsInvalid", "The input receipt handle is not a valid receipt handle.")
	}
	return id, nil
}

func (m *message) inFlight(now time.Time) bool { return m.Receives > 0 && m.VisibleAt.After(now) }

// queue is one queue. The server's mutex guards it.
type queue struct {
	name       string
	attributes map[string]string // as the caller set them
	settings   settings          // the same, parsed
	created    time.Time
	messages   map[string]*message
	schedule   schedule
	wake       chan struct{} // closed and replaced whenever a message may have become visible
}

func newQueue(name string, created time.Time) *queue {
	return &queue{name: name, created: created, messages: map[string]*message{}, wake: make(chan struct{})}
}

func (q *queue) arn() string { return arnPrefix + q.name }

// put gives m a place in the queue, or a new one after its VisibleAt changed.
func (q *queue) put(m *message) {
	q.messages[m.ID] = m
	if m.index >= 0 {
		heap.Fix(&q.schedule, m.index)
	} else {
		heap.Push(&q.schedule, m)
	}
	close(q.wake)
	q.wake = make(chan struct{})
}

func (q *queue) remove(m *message) {
	if m.index >= 0 {
		heap.Remove(&q.schedule, m.index)
	}
	delete(q.messages, m.ID)
}

// next removes the message that has been visible longest from the schedule and returns it, nil when none is visible.
// Messages past the retention period vanish here, as they do in SQS without anyone asking.
func (q *queue) next(now time.Time) *message {
	for len(q.schedule) > 0 && !q.schedule[0].VisibleAt.After(now) {
		m := heap.Pop(&q.schedule).(*message) // the heap holds nothing else
		if !q.expired(m, now) {
			return m
		}
		delete(q.messages, m.ID)
	}
	return nil
}

// A moved dead letter keeps the time at which it was first sent (developer guide, "dead-letter queue retention").
func (q *queue) expired(m *message, now time.Time) bool {
	return now.Sub(m.Sent) > q.settings.retention
}

// counts returns how many messages can be received now, wait for a consumer's answer, and wait for their delay.
func (q *queue) counts(now time.Time) (visible, inFlight, delayed int) {
	for _, m := range q.messages {
		switch {
		case q.expired(m, now):
		case !m.VisibleAt.After(now):
			visible++
		case m.inFlight(now):
			inFlight++
		default:
			delayed++
		}
	}
	return visible, inFlight, delayed
}

// schedule is a heap of messages, the one that is visible first on top.
type schedule []*message

// Len implements heap.Interface.
func (s *schedule) Len() int { return len(*s) }

// Less implements heap.Interface. Messages that become visible together keep the order in which they came.
func (s *schedule) Less(i, j int) bool {
	a, b := (*s)[i], (*s)[j]
	if a.VisibleAt.Equal(b.VisibleAt) {
		return a.place < b.place
	}
	return a.VisibleAt.Before(b.VisibleAt)
}

// Swap implements heap.Interface.
func (s *schedule) Swap(i, j int) {
	messages := *s
	messages[i], messages[j] = messages[j], messages[i]
	messages[i].index, messages[j].index = i, j
}

// Push implements heap.Interface.
func (s *schedule) Push(x any) {
	m := x.(*message) // only queue.put pushes
	m.index = len(*s)
	*s = append(*s, m)
}

// Pop implements heap.Interface.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	m := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	m.index = -1
	return m
}
