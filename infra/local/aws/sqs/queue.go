package sqs

import (
	"cmp"
	"container/heap"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// message is a message in a queue, and the content of the journal's send record.
type message struct {
	ID            string    `json:"id"`
	Body          string    `json:"body"`
	GroupID       string    `json:"group_id,omitempty"`
	Trace         string    `json:"trace,omitempty"`
	Sent          time.Time `json:"sent"`
	FirstReceived time.Time `json:"first_received,omitzero"`
	Received      time.Time `json:"received,omitzero"`
	Receives      int       `json:"receives,omitempty"`
	// number of the earliest delivery whose receipt handle is valid
	FirstHandle int       `json:"first_handle,omitempty"`
	Doubled     bool      `json:"doubled,omitempty"` // true if a copy from the latest delivery is still receivable
	VisibleAt   time.Time `json:"visible_at"`
	SourceARN   string    `json:"source_arn,omitempty"` // ARN of the queue from which the dead letter was moved

	place     uint64
	index     int  // index in its group's schedule, or -1 if it is not scheduled
	isCounted bool // true if the message is counted as in flight
}

func (m *message) handle() string {
	return base64.RawURLEncoding.EncodeToString([]byte(m.ID + "#" + strconv.Itoa(m.Receives)))
}

// receipt is a parsed receipt handle, which identifies one delivery of a message.
type receipt struct {
	id       string
	delivery int
}

func readHandle(handle string) (receipt, error) {
	if handle == "" {
		return receipt{}, missing("ReceiptHandle")
	}
	decoded, err := base64.RawURLEncoding.DecodeString(handle)
	id, number, _ := strings.Cut(string(decoded), "#")
	delivery, noNumber := strconv.Atoi(number)
	if err != nil || noNumber != nil {
		return receipt{}, wire.Fail("ReceiptHandleIsInvalid", "The input receipt handle is not a valid receipt handle.")
	}
	return receipt{id, delivery}, nil
}

// receive records a delivery and invalidates the handles of earlier deliveries. If the delivery is a duplicate, the
// original delivery's handle stays valid.
func (m *message) receive(at, until time.Time, doubled bool) {
	m.Receives++
	if !m.Doubled {
		m.FirstHandle = m.Receives
	}
	m.Received, m.VisibleAt, m.Doubled = at, until, doubled
	if m.FirstReceived.IsZero() {
		m.FirstReceived = at
	}
}

// compare orders messages by the time at which they become visible, then by arrival.
func (m *message) compare(other *message) int {
	return cmp.Or(m.VisibleAt.Compare(other.VisibleAt), cmp.Compare(m.place, other.place))
}

func (m *message) inFlight(now time.Time) bool { return m.Receives > 0 && m.VisibleAt.After(now) }

// queue is an SQS queue, guarded by the server's mutex.
type queue struct {
	name       string
	attributes map[string]string // attributes as set by the caller
	settings   settings
	created    time.Time
	modified   time.Time
	purged     time.Time // time of the last purge; zero if never purged
	messages   map[string]*message
	groups     map[string]*schedule // messages by group; "" holds the messages without a group
	inFlight   inFlightCounts
	wake       chan struct{} // closed and replaced whenever a message may have become visible
}

func newQueue(name string, created time.Time) *queue {
	return &queue{
		name: name, created: created, modified: created, messages: map[string]*message{},
		groups: map[string]*schedule{}, wake: make(chan struct{}),
	}
}

// received returns the message for a receipt, or nil if the message was deleted or delivered again, or has expired.
func (q *queue) received(r receipt, now time.Time) *message {
	m, ok := q.messages[r.id]
	if !ok || q.expired(m, now) || r.delivery < max(m.FirstHandle, 1) || r.delivery > m.Receives {
		return nil
	}
	return m
}

func (q *queue) arn() string { return arnPrefix + q.name }

// put adds m to the queue, or reschedules it if its VisibleAt has changed.
func (q *queue) put(m *message) {
	q.messages[m.ID] = m
	group, ok := q.groups[m.GroupID]
	if !ok {
		group = &schedule{}
		q.groups[m.GroupID] = group
	}
	if m.index >= 0 {
		heap.Fix(group, m.index)
	} else {
		heap.Push(group, m)
	}
	q.inFlight.note(m)
	close(q.wake)
	q.wake = make(chan struct{})
}

func (q *queue) remove(m *message) {
	if m.index >= 0 {
		heap.Remove(q.groups[m.GroupID], m.index)
	}
	q.inFlight.forget(m)
	delete(q.messages, m.ID)
}

func (q *queue) clear(at time.Time) {
	q.messages, q.groups, q.inFlight, q.purged = map[string]*message{}, map[string]*schedule{}, inFlightCounts{}, at
}

// next removes a visible message from its schedule and returns it. If no message is visible, next returns nil. Groups
// are chosen in fair order, and the message that has been visible longest comes first in its group. next also drops
// messages that have exceeded the retention period; SQS drops them in the background.
func (q *queue) next(now time.Time) *message {
	q.inFlight.settle(now)
	var first *message
	for name, group := range q.groups {
		head := q.head(group, now)
		if len(*group) == 0 {
			delete(q.groups, name)
		}
		if head != nil && (first == nil || q.inFlight.compare(head, first) < 0) {
			first = head
		}
	}
	if first != nil {
		heap.Pop(q.groups[first.GroupID])
	}
	return first
}

// head returns the visible message at the head of a group's schedule, or nil if none is visible.
func (q *queue) head(group *schedule, now time.Time) *message {
	for len(*group) > 0 && !(*group)[0].VisibleAt.After(now) {
		m := (*group)[0]
		if !q.expired(m, now) {
			return m
		}
		q.remove(m)
	}
	return nil
}

// nextVisible returns the time at which the next message becomes visible. If no message is scheduled, ok is false.
func (q *queue) nextVisible() (at time.Time, ok bool) {
	for _, group := range q.groups {
		if len(*group) > 0 && (!ok || (*group)[0].VisibleAt.Before(at)) {
			at, ok = (*group)[0].VisibleAt, true
		}
	}
	return at, ok
}

// A dead letter keeps its original send time (developer guide, "dead-letter queue retention").
func (q *queue) expired(m *message, now time.Time) bool {
	return now.Sub(m.Sent) > q.settings.retention
}

// counts returns the numbers of receivable, in-flight and delayed messages.
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

func (q *queue) spareInFlight(now time.Time) int {
	if len(q.messages) < maxInFlight {
		return maxInFlight // exceeds the number of messages in the queue
	}
	_, inFlight, _ := q.counts(now)
	return max(maxInFlight-inFlight, 0)
}

// schedule is a heap of one group's messages. The message that becomes visible first is at the top of the heap.
type schedule []*message

// Len implements heap.Interface.
func (s *schedule) Len() int { return len(*s) }

// Less implements heap.Interface.
func (s *schedule) Less(i, j int) bool {
	return (*s)[i].compare((*s)[j]) < 0
}

// Swap implements heap.Interface.
func (s *schedule) Swap(i, j int) {
	messages := *s
	messages[i], messages[j] = messages[j], messages[i]
	messages[i].index, messages[j].index = i, j
}

// Push implements heap.Interface.
func (s *schedule) Push(x any) {
	m := x.(*message) // only queue.put calls Push
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
