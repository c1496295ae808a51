package attempt

import (
	"context"
	"fmt"
	"slices"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

// maxChosen limits the number of facilities in one request, because all of them are stored in a single transaction.
const maxChosen = 50

// ChoiceStore stores a person's choice of facilities.
type ChoiceStore interface {
	Facilities
	// Choose replaces the given revisions of an attempt and its chosen facilities in one transaction. It returns
	// fault.Conflict if the attempt or a facility has changed.
	Choose(ctx context.Context, a Attempt, chosen []Facility) error
}

// Chooser records the facilities that people choose. All fields are required.
type Chooser struct {
	Watcher

	Store    ChoiceStore
	Enqueuer Enqueuer
}

// Choose starts connecting the chosen facilities and returns the attempt's progress. It is idempotent: facilities that
// are connected or being connected remain unchanged. The error is fault.Invalid if a facility can't be chosen,
// fault.Conflict if no facilities have been located yet or the identity has expired, or an error from Watcher.Progress.
func (c Chooser) Choose(ctx context.Context, tenant org.Tenant, asked string, token secret.Text,
	wanted []string,
) (Progress, error) {
	if len(wanted) == 0 || len(wanted) > maxChosen {
		return Progress{},
			fault.BadRequest(fmt.Sprintf("tefca_directory_ids must have 1 to %d IDs.",
				maxChosen)).About("tefca_directory_ids")
	}
	err := retry.OnConflict(ctx, retry.Tries, func() error { return c.choose(ctx, tenant, asked, token, wanted) })
	if err != nil {
		return Progress{}, err
	}
	return c.Progress(ctx, tenant, asked, token)
}

// choose stores the chosen facilities, without retrying.
func (c Chooser) choose(ctx context.Context, tenant org.Tenant, asked string, token secret.Text,
	wanted []string,
) error {
	a, err := find(ctx, c.Store, tenant, asked, token)
	if err != nil {
		return err
	}
	now := c.Now()
	if a.Status != Located {
		return fault.New(fault.Conflict, fault.CodeConflict,
			"This attempt's facilities can't be chosen, or not yet.").About("attempt_id")
	}
	if !a.isVerified(now) {
		return fault.New(fault.Conflict, fault.CodeConflict, fault.Of(identity.Expired()).Public).About("attempt_id")
	}
	known, err := c.Store.Facilities(ctx, tenant, a.ID)
	if err != nil {
		return fmt.Errorf("read facilities: %w", err)
	}
	var chosen []Facility
	for _, f := range known {
		if !slices.Contains(wanted, f.ID) {
			continue
		}
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(id string) bool { return id == f.ID })
		if f.Match != tefca.Found {
			return fault.BadRequest("One of the facilities did not find the person.").About("tefca_directory_ids")
		}
		if f.Outcome == IsConnecting || f.Outcome == IsConnected {
			continue
		}
		f.Outcome, f.Reason = IsConnecting, ""
		chosen = append(chosen, f)
	}
	if len(wanted) > 0 {
		return fault.BadRequest("One of the facilities does not belong to this attempt.").About("tefca_directory_ids")
	}
	if len(chosen) == 0 {
		return nil
	}
	a.DueAt = now
	if err := c.Store.Choose(ctx, a, chosen); err != nil {
		return fmt.Errorf("store the choice: %w", err)
	}
	_ = c.Enqueuer.EnqueueAttempt(ctx, tenant, a.ID) // The sweeper resends a lost message.
	return nil
}
