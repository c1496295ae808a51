package share

import (
	"hash/fnv"
	"time"
)

// Holder identifies the task that occupies a slot and when the slot expires unless renewed. The zero Holder means that
// the slot is free.
type Holder struct {
	TaskID string
	Claim  int64 // the run's generation; 0 if the task was called but has not started
	Until  time.Time
}

// Row is the stored state of a tenant's share.
type Row struct {
	Places map[int]Holder // slots by number, starting from 0
	// JoinedAt is the approximate time at which a task last joined the line, or zero if the line is empty.
	JoinedAt time.Time
}

// Running returns the number of slots that tasks hold at time now.
func (r Row) Running(now time.Time) int {
	running := 0
	for _, holder := range r.Places {
		if holder.Until.After(now) {
			running++
		}
	}
	return running
}

// of returns the numbers of the slots that a task holds, including expired slots that no other task has taken. A task
// has two slots if two workers called it at the same time, each assigning one.
func (r Row) of(taskID string) []int {
	var found []int
	for number, holder := range r.Places {
		if holder.TaskID == taskID {
			found = append(found, number)
		}
	}
	return found
}

// free returns the numbers, below size, of the slots that are free at time now. The order depends on the task, so
// concurrent tasks do not all compete for the same slot.
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
