package intake

import (
	"context"
	"fmt"
)

// replace marks old's object for deletion, unless next uses the same object.
func (s *State) replace(old, next *Version) {
	if old != nil && old.Key != next.Key {
		s.Replaced = append(s.Replaced, old.Key)
	}
}

// clean deletes replaced objects during the first read after their replacement. A delay is necessary because readers of
// the previous row may still need the objects. The next time the row is saved, the deleted objects' keys are removed
// from it. If saving fails, the next read repeats the deletion.
func (i Intake) clean(ctx context.Context, s *State) error {
	for _, key := range s.Replaced {
		if err := i.Objects.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete replaced listings: %w", err)
		}
	}
	s.Replaced = nil
	return nil
}

// Forget deletes all objects that belong to a removed source.
func (i Intake) Forget(ctx context.Context, row Row) error {
	for _, version := range []*Version{row.State.Accepted, row.State.Pending} {
		if version != nil {
			row.State.Replaced = append(row.State.Replaced, version.Key)
		}
	}
	return i.clean(ctx, &row.State)
}
