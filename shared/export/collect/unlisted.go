package collect

import (
	"recordbridge/shared/export"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// maxFaults limits the trials of an export that end in a server error. No further trial is sent after that.
const maxFaults = 3

// maxTrials limits the trials that are under way, or have ended and await processing.
const maxTrials = 8

// upcoming returns the remaining queries, up to as many trials as may be open.
func (s *searcher) upcoming() []plan.Query {
	queries, trials := s.state.Work.Queries, 0
	for i, q := range queries {
		if q.IsTrial() {
			trials++
		}
		if trials > maxTrials {
			return queries[:i]
		}
	}
	return queries
}

// unlisted returns the searches for types that the server's statement does not list: complete searches for types to
// which it has responded before, and trials for the unknown ones. A type that the granted scopes do not cover is not
// tried: the server offers it neither in its statement nor to this patient's authorization.
func (b beginner) unlisted(facts plan.Facts) (answered, trials []plan.Query) {
	if b.memory.isNone() { // otherwise each export would have to try them
		return nil, nil
	}
	for _, q := range plan.Unlisted(facts) {
		answers, isKnown := b.memory.server.Answers(q.Type, b.memory.now())
		isGranted := b.session.Allows(q.Type, fhir.Search)
		switch {
		case isKnown && !answers:
		case isKnown && isGranted:
			answered = append(answered, q)
		case isGranted:
			trials = append(trials, q.Trial())
		}
	}
	return answered, trials
}

// tried takes the first page of a trial: the server supports the type, and a complete search follows if there is any
// resource.
func (s *searcher) tried(q plan.Query, found source.Page) {
	s.state.Server.Learned.Tried(q.Type, true)
	if found.Len == 0 && found.Unusable == 0 && found.Next == "" && !found.NextLost {
		s.state.Accounts.Of(q.Type).Answer("")
		s.leave(q)
		return
	}
	s.instead(q, q.Whole())
}

// untried ends a trial that failed. If the server states that it does not support the type, that is learned.
func (s *searcher) untried(q plan.Query, failed *fhir.RequestError) {
	switch {
	case failed.Refusal == fhir.NoCount && q.Count > 0:
		again := q
		again.Count = 0
		s.instead(q, again)
		return
	case failed.Refusal == fhir.NeedsMore: // it supports the type, but needs other parameters
		s.state.Server.Learned.Tried(q.Type, true)
		s.instead(q, q.Whole())
		return
	case isAnswer(failed):
		s.state.Server.Learned.Tried(q.Type, false)
		s.leave(q)
		return
	}
	s.notAdvertised(q, failed.Status)
	if s.faults++; s.faults >= maxFaults || failed.Class == fhir.Limited {
		s.endTrials()
	}
}

// isAnswer reports whether a failure concerns the type and is not temporary.
func isAnswer(failed *fhir.RequestError) bool {
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected:
		return true
	case fhir.Limited, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network:
	}
	return failed.Refusal != fhir.Unexplained || failed.Status == 501
}

// endTrials ends all remaining trials.
func (s *searcher) endTrials() {
	work := &s.state.Work
	var left []plan.Query
	for _, q := range work.Queries {
		if q.IsTrial() {
			s.streams.Drop(q)
			s.state.Accounts.Of(q.Type).Fail(export.OutcomeUnsupported, export.LossNotAdvertised, 0)
			work.Ended++
			continue
		}
		left = append(left, q)
	}
	work.Queries = left
}

// notAdvertised ends a trial whose result remains unknown.
func (s *searcher) notAdvertised(q plan.Query, status int) {
	s.state.Accounts.Of(q.Type).Fail(export.OutcomeUnsupported, export.LossNotAdvertised, status)
	s.leave(q)
}

// leave removes the first query from the plan.
func (s *searcher) leave(q plan.Query) {
	s.restart(q)
	s.state.Work.Queries = s.state.Work.Queries[1:]
	s.state.Work.Ended++
}

// instead replaces the first query with another one.
func (s *searcher) instead(q, other plan.Query) {
	s.restart(q)
	s.state.Work.Queries[0] = other
}
