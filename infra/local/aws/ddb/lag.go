package ddb

import (
	"slices"
	"time"
)

// LagIndexes makes indexes eventually consistent. An index entry appears, changes or disappears only after the delay
// that lag returns for the write. Changes to the same row are applied in write order. lag is called with the lock held.
// If lag is nil, which is the default, new changes are visible immediately, but changes already delayed stay delayed.
func (s *Server) LagIndexes(lag func(table, index string) time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexLag = lag
}

// entryChange is the effect of a single write on an index.
type entryChange struct {
	row   rowKey // the row's key in the table
	from  rowKey // the row's previous key in the index, if any
	wasIn bool
	to    *row // the row's new index entry, or nil
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

// postpone delays c until its lag has passed and every earlier change to its row is visible. If c is due immediately,
// postpone returns false without storing c.
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

// applyDue applies the changes that are due. No change becomes due before earlier changes to the same row.
func (x *index) applyDue(now time.Time) {
	x.late = slices.DeleteFunc(x.late, func(c entryChange) bool {
		if c.due.After(now) {
			return false
		}
		x.carryOut(c)
		return true
	})
}

// applyDue applies all due index changes. If no change is delayed, applyDue doesn't take the lock.
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
