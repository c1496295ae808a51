package sqs

import (
	"cmp"
	"container/heap"
	"time"
)

// A group is a noisy neighbour if it has at least this many messages in flight and they are more than a tenth of the
// queue's (developer guide, "How Amazon SQS fair queues work"). SQS also considers the time that consumers spend on a
// group, which is omitted here: the laptop shows less fairness than SQS.
const (
	noisyFrom  = 30
	noisyTenth = 10
)

// flights counts the messages in flight by group. The zero value belongs to an empty queue.
type flights struct {
	groups map[string]int
	total  int
	ends   landings
}

// landing is the time at which a message's visibility timeout passes. It stays in the heap even if the message leaves
// flight earlier.
type landing struct {
	at      time.Time
	message *message
}

// landings is a heap with the earliest time on top.
type landings []landing

// Len implements heap.Interface.
func (l *landings) Len() int { return len(*l) }

// Less implements heap.Interface.
func (l *landings) Less(i, j int) bool { return (*l)[i].at.Before((*l)[j].at) }

// Swap implements heap.Interface.
func (l *landings) Swap(i, j int) { (*l)[i], (*l)[j] = (*l)[j], (*l)[i] }

// Push implements heap.Interface.
func (l *landings) Push(x any) { *l = append(*l, x.(landing)) } // only note pushes

// Pop implements heap.Interface.
func (l *landings) Pop() any {
	last := len(*l) - 1
	next := (*l)[last]
	*l = (*l)[:last]
	return next
}

// note updates the count for a message whose visibility has changed.
func (f *flights) note(m *message) {
	f.forget(m)
	if m.Receives == 0 || !m.VisibleAt.After(m.Received) {
		return
	}
	if f.groups == nil {
		f.groups = map[string]int{}
	}
	m.flies = true
	f.total++
	f.groups[m.GroupID]++
	heap.Push(&f.ends, landing{m.VisibleAt, m})
}

// forget stops counting a message.
func (f *flights) forget(m *message) {
	if !m.flies {
		return
	}
	m.flies = false
	f.total--
	if f.groups[m.GroupID]--; f.groups[m.GroupID] == 0 {
		delete(f.groups, m.GroupID)
	}
}

// settle stops counting the messages whose visibility timeout has passed.
func (f *flights) settle(now time.Time) {
	for len(f.ends) > 0 && !f.ends[0].at.After(now) {
		ended := heap.Pop(&f.ends).(landing) // the heap holds nothing else
		if ended.message.VisibleAt.Equal(ended.at) {
			f.forget(ended.message)
		}
	}
}

// noise returns the number of messages in flight of a noisy group, or 0 for a quiet one. Each message without a group
// is its own group.
func (f *flights) noise(group string) int {
	n := f.groups[group]
	if group == "" || n < noisyFrom || n*noisyTenth <= f.total {
		return 0
	}
	return n
}

// compare orders two messages as a receive takes them: first those of quiet groups, then those of noisy groups with the
// fewest messages in flight, and then by how long they have been visible.
func (f *flights) compare(a, b *message) int {
	return cmp.Or(cmp.Compare(f.noise(a.GroupID), f.noise(b.GroupID)), a.compare(b))
}
