package ddb

import (
	"slices"
	"time"
)

// LagIndexes makes indexes eventually consistent: an entry of an index shows, changes or goes only when the lag that is
// asked for at the write has passed. The changes of one row stay in the order of its writes. nil, as in the beginning,
// is no lag; what is late already stays so. lag is called while the lock is held.
func (s *Server) LagIndexes(lag func(table, index string) time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexLag = lag
}

// entryChange is what a write of a row does to an index.
type entryChange struct {
	row   rowKey // of the table
	from  rowKey // its place in the index, when it was in there
	wasIn bool
	to    *row // its new entry; nil when there is none
	due   time.Time
}

func (x *index) carryOut(c entryChange) {
	if c.wasIn && (c.to == nil || c.to.key != c.from) {
		x.rows.remove(c.from)
	}
	if c.to != nil {
		x.rows.set(c.to)
	}
}

// postpone keeps c until its lag has passed and every earlier change of its row has been seen. It is false, and nothing
// is kept, when c is due at once.
func (x *index) postpone(c entryChange, lag time.Duration) bool {
	if lag <= 0 && len(x.late) == 0 {
		return false
	}
	now := time.Now()
	x.applyDue(now)
	c.due = now.Add(max(lag, 0))
	for _, earlier := range slices.Backward(x.late) {
		if earlier.row == c.row {
			if earlier.due.After(c.due) {
				c.due = earlier.due
			}
			break
		}
	}
	if !c.due.After(now) {
		return false
	}
	x.late = append(x.late, c)
	return true
}

// applyDue carries out what has become due. Of one row, no change is due before an earlier one.
func (x *index) applyDue(now time.Time) {
	x.late = slices.DeleteFunc(x.late, func(c entryChange) bool {
		if c.due.After(now) {
			return false
		}
		x.carryOut(c)
		return true
	})
}

// applyDue brings the indexes to what may be seen of them now. It costs nothing while nothing is late.
func (l *ledger) applyDue() {
	if !l.late.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now, left := time.Now(), 0
	for _, t := range l.tables {
		for _, x := range t.indexes {
			x.applyDue(now)
			left += len(x.late)
		}
	}
	l.late.Store(left > 0)
}
