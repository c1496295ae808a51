package sqs

import (
	"cmp"
	"container/heap"
	"time"
)

// A group is a noisy neighbour if it has at least 30 messages in flight and accounts for more than a tenth of the
// queue's messages in flight (developer guide, "How Amazon SQS fair queues work"). SQS itself also considers the time
// that consumers spend on a group's messages. The embedded SQS ignores this time, so its queues are less fair than
// SQS's.
const (
	noisyFrom  = 30
	noisyTenth = 10
)

// inFlightCounts counts the messages in flight by group. The zero value represents an empty queue.
type inFlightCounts struct {
	groups map[string]int
	total  int
	ends   visibilityHeap
}

// visibilityEnd records when a message's visibility timeout ends. A visibilityEnd remains in the heap even after its
// message is no longer in flight.
type visibilityEnd struct {
	at      time.Time
	message *message
}

// visibilityHeap is a heap with the earliest visibility end at the top.
type visibilityHeap []visibilityEnd

// Len implements heap.Interface.
func (l *visibilityHeap) Len() int { return len(*l) }

// Less implements heap.Interface.
func (l *visibilityHeap) Less(i, j int) bool { return (*l)[i].at.Before((*l)[j].at) }

// Swap implements heap.Interface.
func (l *visibilityHeap) Swap(i, j int) { (*l)[i], (*l)[j] = (*l)[j], (*l)[i] }

// Push implements heap.Interface.
func (l *visibilityHeap) Push(x any) { *l = append(*l, x.(visibilityEnd)) } // only inFlightCounts.note calls Push

// Pop implements heap.Interface.
func (l *visibilityHeap) Pop() any {
	last := len(*l) - 1
	next := (*l)[last]
	*l = (*l)[:last]
	return next
}

// note updates the counts after m's visibility has changed.
func (f *inFlightCounts) note(m *message) {
	f.forget(m)
	if m.Receives == 0 || !m.VisibleAt.After(m.Received) {
		return
	}
	if f.groups == nil {
		f.groups = map[string]int{}
	}
	m.isCounted = true
	f.total++
	f.groups[m.GroupID]++
	heap.Push(&f.ends, visibilityEnd{m.VisibleAt, m})
}

func (f *inFlightCounts) forget(m *message) {
	if !m.isCounted {
		return
	}
	m.isCounted = false
	f.total--
	if f.groups[m.GroupID]--; f.groups[m.GroupID] == 0 {
		delete(f.groups, m.GroupID)
	}
}

// settle removes messages from the in-flight counts once their visibility timeouts expire.
func (f *inFlightCounts) settle(now time.Time) {
	for len(f.ends) > 0 && !f.ends[0].at.After(now) {
		ended := heap.Pop(&f.ends).(visibilityEnd) // the heap holds only visibilityEnd values
		if ended.message.VisibleAt.Equal(ended.at) {
			f.forget(ended.message)
		}
	}
}

// noise returns a noisy group's number of messages in flight, or 0 for a quiet group. Messages without a group never
// count as noisy.
func (f *inFlightCounts) noise(group string) int {
	n := f.groups[group]
	if group == "" || n < noisyFrom || n*noisyTenth <= f.total {
		return 0
	}
	return n
}

// compare defines the order in which two messages are received. Messages of quiet groups come before those of noisy
// groups. Messages of noisy groups follow, starting with the groups that have the fewest messages in flight. In a tie,
// the message that has been visible longer comes first.
func (f *inFlightCounts) compare(a, b *message) int {
	return cmp.Or(cmp.Compare(f.noise(a.GroupID), f.noise(b.GroupID)), a.compare(b))
}
