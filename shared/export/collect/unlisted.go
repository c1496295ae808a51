package collect

import (
	"recordbridge/shared/export"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// maxFaults limits how many of an export's trial searches may end with a server error. Once the limit is reached, the
// export sends no further trial searches.
const maxFaults = 3

// maxTrials limits the number of trials that are in progress or waiting to be processed.
const maxTrials = 8

// upcoming returns the remaining queries before the first trial search that would exceed maxTrials.
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

// unlisted returns searches for types that the server's CapabilityStatement does not list. A type is searched in full
// if the server responded to an earlier search for it. If no result is stored for a type, the type is requested once to
// find out whether the server supports it. A type outside the granted scopes is not tried, because neither the server
// nor the patient has offered it.
func (b beginner) unlisted(facts plan.Facts) (answered, trials []plan.Query) {
	if b.memory.isNone() { // without stored results, each export would repeat the trial searches
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

// tried processes the first page of a trial search. The response shows that the server supports the type, so a complete
// search follows if the page contains any resources.
func (s *searcher) tried(q plan.Query, found source.Page) {
	s.state.Server.Learned.Tried(q.Type, true)
	if found.Len == 0 && found.Unusable == 0 && found.Next == "" && !found.NextLost {
		s.state.Accounts.Of(q.Type).Answer("")
		s.leave(q)
		return
	}
	s.instead(q, q.Whole())
}

// untried handles a failed trial search, whose purpose was to find out whether the server supports a type. If the
// server states that it does not support the type, untried records that.
func (s *searcher) untried(q plan.Query, failed *fhir.RequestError) {
	switch {
	case failed.Refusal == fhir.NoCount && q.Count > 0:
		again := q
		again.Count = 0
		s.instead(q, again)
		return
	case failed.Refusal == fhir.NeedsMore: // the server supports the type, but requires other parameters
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

// isAnswer reports whether a failure is permanent and concerns the requested type.
func isAnswer(failed *fhir.RequestError) bool {
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected:
		return true
	case fhir.Limited, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network:
	}
	return failed.Refusal != fhir.Unexplained || failed.Status == 501
}

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

// notAdvertised ends a trial search without a definite result.
func (s *searcher) notAdvertised(q plan.Query, status int) {
	s.state.Accounts.Of(q.Type).Fail(export.OutcomeUnsupported, export.LossNotAdvertised, status)
	s.leave(q)
}

func (s *searcher) leave(q plan.Query) {
	s.restart(q)
	s.state.Work.Queries = s.state.Work.Queries[1:]
	s.state.Work.Ended++
}

// instead replaces the plan's first query with another query.
func (s *searcher) instead(q, other plan.Query) {
	s.restart(q)
	s.state.Work.Queries[0] = other
}
