package share

import (
	"hash/fnv"
	"time"
)

// Holder is which task has a place, and until when unless that is renewed. The zero value is a place that nobody has.
type Holder struct {
	TaskID string
	Claim  int64 // the generation with which the task has entered; 0 while it is called only
	Until  time.Time
}

// Row is what is kept of a tenant's share.
type Row struct {
	Places map[int]Holder // by number, from 0
	// JoinedAt is about when a task last joined the line; zero once nobody is in it.
	JoinedAt time.Time
}

// of lists the places that a task has, or had and nobody has taken since: two, where two
// workers have called it at once.
func (r Row) of(taskID string) []int {
	var found []int
	for number, holder := range r.Places {
		if holder.TaskID == taskID {
			found = append(found, number)
		}
	}
	return found
}

// free lists the places, of so many, that nobody has at a time. The first is another one for each task, so that tasks
// that come at once do not all try to take the same.
func (r Row) free(size int, now time.Time, taskID string) []int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(taskID))
	first := int(h.Sum32()>>1) % size
	var found []int
	for i := range size {
		number := (first + i) % size
		if !r.Places[number].Until.After(now) {
			found = append(found, number)
		}
	}
	return found
}
