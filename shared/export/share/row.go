package share

import (
	"hash/fnv"
	"time"
)

// Holder names the task that has a place, and its expiry unless it is renewed. The zero value is a free place.
type Holder struct {
	TaskID string
	Claim  int64 // generation of the task's entering run; 0 if it is only called
	Until  time.Time
}

// Row is the stored state of a tenant's share.
type Row struct {
	Places map[int]Holder // by number, from 0
	// JoinedAt is the approximate time at which a task last joined the line; zero if the line is empty.
	JoinedAt time.Time
}

// of lists the places that a task has, or had and no other task has taken since: it has two if two workers called it at
// once.
func (r Row) of(taskID string) []int {
	var found []int
	for number, holder := range r.Places {
		if holder.TaskID == taskID {
			found = append(found, number)
		}
	}
	return found
}

// free lists the places, out of size, that are free at now. The first one depends on the task, so that concurrent tasks
// do not all try to take the same place.
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
