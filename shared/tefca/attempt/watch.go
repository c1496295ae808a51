package attempt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Watcher reports attempts' progress to the pages that created them. All fields are required.
type Watcher struct {
	Store Facilities
	Now   func() time.Time
}

// Progress is an attempt's progress as reported to its page.
type Progress struct {
	Attempt    Attempt
	Status     Status
	Facilities []Facility       // sorted by kind of match, then by name
	Failure    *binding.Failure // set only if the attempt failed
}

// Progress returns the progress of the attempt with the given token. It returns fault.NotFound if the attempt is
// unknown or belongs to another organisation, or if the token is wrong.
func (w Watcher) Progress(ctx context.Context, tenant org.Tenant, asked string, token secret.Text) (Progress, error) {
	a, err := find(ctx, w.Store, tenant, asked, token)
	if err != nil {
		return Progress{}, err
	}
	return w.progress(ctx, a)
}

func (w Watcher) progress(ctx context.Context, a Attempt) (p Progress, err error) {
	p = Progress{Attempt: a, Status: a.Status}
	switch a.Status {
	case Locating, Located:
		if p.Facilities, err = w.Store.Facilities(ctx, a.Tenant, a.ID); err != nil {
			return Progress{}, fmt.Errorf("read facilities: %w", err)
		}
		if slices.ContainsFunc(p.Facilities, isConnecting) {
			p.Status = Authorizing
		}
	case Failed:
		p.Failure = &binding.Failure{
			Error: a.Ending.Error, Description: a.Ending.Description, RequestID: a.Ending.RequestID,
			ExternalState: a.ExternalState,
			Cause:         a.Ending.Cause, SuggestedAction: actionOf(a.Ending.Cause),
		}
	case Created, Open, Authorizing, Expired:
	}
	// Facilities chosen before the expiry are reported until they are connected or fail.
	if a.hasExpired(w.Now()) && p.Status != Authorizing {
		p.Status = Expired
	}
	slices.SortFunc(p.Facilities, func(a, b Facility) int {
		return cmp.Or(cmp.Compare(rank(a.Match), rank(b.Match)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return p, nil
}

// find returns the attempt with the given ID if token is its polling token.
func find(ctx context.Context, store Attempts, tenant org.Tenant, asked string, token secret.Text) (Attempt, error) {
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return Attempt{}, binding.Missing()
	}
	a, err := store.Attempt(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) || err == nil && !a.hasToken(token) {
		return Attempt{}, binding.Missing()
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read attempt: %w", err)
	}
	note(ctx, a)
	return a, nil
}

func isConnecting(f Facility) bool { return f.Outcome == IsConnecting }

// rank returns a facility's position in the sort order by match: found, ambiguous, unanswered.
func rank(m tefca.Match) int {
	return slices.Index([]tefca.Match{tefca.Found, tefca.Ambiguous, tefca.Unanswered}, m)
}
