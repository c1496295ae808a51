package collect

import (
	"cmp"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// attach plans a trial of _revinclude with Provenance on a server whose CapabilityStatement does not list _revinclude.
// After all other searches, the trial repeats the search that found the fewest resources. attach reports whether such a
// search exists.
func (s *searcher) attach() bool {
	state := s.state
	if !state.Server.Learned.MayAttach || state.Work.Deferred.Any() || state.Full() {
		return false
	}
	state.Server.Learned.MayAttach = false
	types := s.attachable()
	if len(types) == 0 {
		return false
	}
	state.Work.Queries = append(state.Work.Queries, plan.Attach(types[0], s.record.patient))
	return true
}

// attachable lists the types whose searches found resources, in ascending order of the number found.
func (s *searcher) attachable() []string {
	accounts := &s.state.Accounts
	var types []string
	for _, account := range accounts.List {
		if account.Paged && account.Type != "Provenance" && accounts.Counts[account.Type] > 0 {
			types = append(types, account.Type)
		}
	}
	slices.SortStableFunc(types, func(a, b string) int { return cmp.Compare(accounts.Counts[a], accounts.Counts[b]) })
	return types
}

// attached reports whether to write a page of the Provenance search q. The trial's first page determines whether the
// searches for the other types are repeated.
func (s *searcher) attached(q plan.Query, page fhir.Bundle) bool {
	state := s.state
	if state.Server.Learned.Attached != nil {
		return true
	}
	works := q.Attached(page)
	state.Server.Learned.Attached = &works
	if !works {
		s.leave(q)
		return false
	}
	for _, resourceType := range s.attachable()[1:] {
		state.Work.Queries = append(state.Work.Queries, plan.Attach(resourceType, s.record.patient))
	}
	return true
}

// unattached handles a Provenance search whose first page failed: it ends the search or replaces it with a different
// request.
func (s *searcher) unattached(q plan.Query, failed *fhir.RequestError) {
	state := s.state
	isTrial := state.Server.Learned.Attached == nil
	// the failure is unrelated to _revinclude
	if failed.Refusal == fhir.NeedsMore || failed.Refusal == fhir.NoCount || failed.Class == fhir.TooLarge {
		if instead := q.Alternatives(failed); instead != nil {
			s.restart(q)
			state.Work.Queries = append(instead, state.Work.Queries[1:]...)
			return
		}
	}
	switch {
	case isTrial && isAnswer(failed):
		state.Server.Learned.Attached = new(false)
	case isTrial:
		state.Accounts.Of("Provenance").Fail(export.OutcomeUnsupported, export.LossNotAdvertised, failed.Status)
	case !isAnswer(failed):
		state.Accounts.Of("Provenance").Fail(checkpoint.OutcomeOf(failed), state.Server.SearchLoss(failed), failed.Status)
	}
	s.leave(q)
}

// endAttaching records the result of a Provenance search that returned pages. The lost argument includes entries of the
// searched type that were already counted.
func (s *searcher) endAttaching(q plan.Query, failed *fhir.RequestError, lost int) {
	account := s.state.Accounts.Of("Provenance")
	lost -= s.state.Accounts.Of(q.Type).Missing
	switch {
	case failed != nil:
		account.Fail(export.OutcomeTruncated, checkpoint.NamedLoss(failed), failed.Status)
	case lost > 0:
		account.Miss(lost, export.OutcomeTruncated, export.LossContent, 0)
	default:
		account.Answer("")
	}
}
