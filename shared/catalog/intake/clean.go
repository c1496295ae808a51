package intake

import (
	"context"
	"fmt"
)

// replace notes that a version's object is named no more once another version takes its place.
func (s *State) replace(old, next *Version) {
	if old != nil && old.Key != next.Key {
		s.Replaced = append(s.Replaced, old.Key)
	}
}

// clean deletes what was replaced, a reading later than that, when nobody who has read the row before is likely to open
// it any more. The row as it is saved next names it no longer; without that the deletion comes again.
func (i Intake) clean(ctx context.Context, s *State) error {
	for _, key := range s.Replaced {
		if err := i.Objects.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete replaced listings: %w", err)
		}
	}
	s.Replaced = nil
	return nil
}

// Forget deletes all objects of a source that has been removed.
func (i Intake) Forget(ctx context.Context, row Row) error {
	for _, version := range []*Version{row.State.Accepted, row.State.Pending} {
		if version != nil {
			row.State.Replaced = append(row.State.Replaced, version.Key)
		}
	}
	return i.clean(ctx, &row.State)
}
