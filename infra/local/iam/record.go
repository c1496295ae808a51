package iam

import (
	"cmp"
	"maps"
	"slices"
)

// Use counts the allowed calls that required a grant. If several grants allow a call, only the first one in the
// template counts, so redundant grants appear as unused.
type Use struct {
	Grant

	Count int
}

// Denial describes a function's denied request.
type Denial struct {
	Function string // the function's logical ID
	Action   string // denied action, such as "dynamodb:GetItem"
	Resource string // ARN
}

// Uses returns the grants that were used, ordered by function and statement.
func (a *Authority) Uses() []Use {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]Use, 0, len(a.uses))
	for _, g := range slices.SortedFunc(maps.Keys(a.uses), compareGrants) {
		all = append(all, Use{Grant: g, Count: a.uses[g]})
	}
	return all
}

// Unused returns the grants that no allowed call has used, ordered by function and statement.
func (a *Authority) Unused() []Grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(a.grants), func(g Grant) bool { return a.uses[g] > 0 })
	slices.SortFunc(all, compareGrants)
	return all
}

// Denials returns the denied requests without duplicates, ordered by function.
func (a *Authority) Denials() []Denial {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Keys(a.denials), func(x, y Denial) int {
		return cmp.Or(cmp.Compare(x.Function, y.Function), cmp.Compare(x.Action, y.Action),
			cmp.Compare(x.Resource, y.Resource))
	})
}

func compareGrants(x, y Grant) int {
	return cmp.Or(
		cmp.Compare(x.Function, y.Function), cmp.Compare(x.Statement, y.Statement),
		cmp.Compare(x.Action, y.Action), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Rows, y.Rows),
	)
}

func (a *Authority) recordUses(grants []Grant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range grants {
		a.uses[g]++
	}
}

func (a *Authority) recordDenial(r *role, n need) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denials[Denial{Function: r.function, Action: n.action, Resource: n.resource}] = struct{}{}
}
