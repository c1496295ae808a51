package collect

import (
	"context"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// searcher runs the planned searches.
type searcher struct {
	session   *source.Session
	state     *checkpoint.State
	record    *record
	outage    *outage
	pace      pace
	writer    *writer
	streams   *source.Streams[plan.Query]
	batches   batches
	faults    int                // number of trial searches that ended with a server error
	resumed   bool               // whether an earlier run received the next link
	forgotten map[plan.Query]int // number of times that the server discarded a query's pages during this run
}

// maxForgotten limits how often a query restarts in a run because the server discarded its pages. If a page can be
// requested only once, each lost response counts as a restart.
const maxForgotten = 3

func newSearcher(
	session *source.Session, state *checkpoint.State, of *record, down *outage, p pace, w *writer,
) *searcher {
	return &searcher{
		session: session, state: state, record: of, outage: down, pace: p, writer: w,
		streams: source.NewStreams[plan.Query](session), batches: newBatches(state, session.Profile().PageSize),
		resumed: state.Work.Next != "", forgotten: map[plan.Query]int{},
	}
}

// all runs the remaining searches. It does nothing if the export has reached its limit of distinct resources.
func (s *searcher) all(ctx context.Context) (export.Result, error) {
	state := s.state
	for len(state.Work.Queries) > 0 || s.attach() {
		if state.Full() {
			if first := state.Work.Queries[0]; first.IsTrial() {
				s.notAdvertised(first, 0)
				continue
			}
			s.end(state.Work.Queries[0], &fhir.RequestError{Class: fhir.TooLarge, Cause: checkpoint.ErrLimit})
			continue
		}
		if stop, err := s.step(ctx); err != nil || stop.Stops() {
			return stop, err
		}
	}
	s.writer.references.resolve()
	if state.Full() {
		state.Abandon()
	}
	return export.Result{}, nil
}

// step writes a page of the first query while prefetching pages of the next queries.
func (s *searcher) step(ctx context.Context) (export.Result, error) {
	if stop := s.pace.isDue(); stop.Stops() {
		return stop, nil
	}
	s.readAhead(ctx)
	q := s.state.Work.Queries[0]
	if batch := s.batches.of[q]; batch != nil && batch.found == nil {
		return s.receive(ctx, batch)
	}
	found, isBatched := s.batches.take(q)
	var err error
	if !isBatched {
		found, err = s.streams.Take(ctx, q, func() { s.readAhead(ctx) })
	}
	switch {
	case err != nil || found.Stop.Stops():
		return found.Stop, err
	case found.Failed != nil && q.IsTrial():
		s.untried(q, found.Failed)
		return export.Result{}, nil
	case found.Failed != nil && q.IsAttaching() && s.state.Work.Pages == 0:
		s.unattached(q, found.Failed)
		return export.Result{}, nil
	case found.Failed != nil && (s.resumed || s.isForgotten(q, found.Failed)):
		// Some servers discard a query's pages between runs or after sending them once. Resources that are already
		// written are not written again.
		s.resumed = false
		s.restart(q)
		return export.Result{}, nil
	case found.Failed != nil:
		s.refused(q, found.Failed)
		return export.Result{}, nil
	}
	s.resumed = false
	s.outage.recordAnswer()
	defer s.pace.reportProgress()
	if q.IsTrial() {
		s.tried(q, found)
		return export.Result{}, nil
	}
	if q.IsAttaching() && !s.attached(q, found.Bundle) {
		return export.Result{}, nil
	}
	if s.state.Work.Pages == 0 {
		s.state.Server.Learned.Paged(q, found.Bundle, found.Bytes, found.Took)
		s.batches.note(q, found)
	}
	return export.Result{}, s.page(q, found.Bundle)
}

// receive processes the response to a batch. The batch's searches end one at a time, in plan order.
func (s *searcher) receive(ctx context.Context, batch *batch) (export.Result, error) {
	found, err := s.streams.Take(ctx, batch.key, func() { s.readAhead(ctx) })
	if err != nil || found.Stop.Stops() {
		return found.Stop, err
	}
	s.streams.Drop(batch.key)
	s.batches.receive(batch, found)
	return export.Result{}, nil
}

// readAhead starts the first queries that are not in progress. Queries after the query for the complete record are not
// started, because they may be unnecessary.
func (s *searcher) readAhead(ctx context.Context) {
	work, learned := &s.state.Work, &s.state.Server.Learned
	for i, q := range s.upcoming() {
		if s.streams.Full() && i > 0 || i > 0 && work.Queries[0].Type == "" {
			return
		}
		if s.isAsked(q) {
			continue
		}
		if i > 0 && s.batches.waits(q) {
			return
		}
		var wanted source.Wanted
		if i == 0 {
			wanted.Next, wanted.Tried = work.Next, work.TakeTried()
		}
		if !q.IsAttaching() && (i > 0 || work.Next == "") {
			q = learned.Sized(q, s.session.Profile().PageSize)
			work.Queries[i] = q
			if batch := s.batches.begin(work.Queries[i:], s.isAsked); batch != nil {
				s.streams.Start(ctx, q, wanted, s.session.Batch(batch.searches(), s.record.base))
				continue
			}
		}
		s.streams.Start(ctx, q, wanted, s.session.Search(q, s.record.base))
	}
}

// isAsked reports whether a query has already been sent.
func (s *searcher) isAsked(q plan.Query) bool { return s.streams.Has(q) || s.batches.has(q) }

// isForgotten reports whether the server responds that a later page does not exist. It returns true only if the query
// can start over to verify the claim.
func (s *searcher) isForgotten(q plan.Query, failed *fhir.RequestError) bool {
	isGone := failed.Class == fhir.NotFound || failed.Class == fhir.Gone || failed.Class == fhir.Rejected
	if !isGone || s.state.Work.Pages == 0 || s.forgotten[q] >= maxForgotten {
		return false
	}
	s.forgotten[q]++
	return true
}

// page writes a page of the first query, then continues with the next page or ends the query.
func (s *searcher) page(q plan.Query, found fhir.Bundle) error {
	work := &s.state.Work
	if work.Pages == 0 {
		s.writer.references.learn(found, source.PathOf(q))
	}
	work.Lost += found.Unusable
	work.Hits += found.Len
	for resource := range found.All() {
		if err := s.writer.write(resource, 0); err != nil {
			return err
		}
	}
	work.Pages++
	if q.Type != "" {
		s.state.Accounts.Of(q.Type).Paged = true
	}
	switch {
	case found.NextLost:
		s.end(q, &fhir.RequestError{Class: fhir.Content})
	case found.Next == "":
		s.end(q, nil)
	case work.Pages >= checkpoint.MaxPages:
		s.end(q, &fhir.RequestError{Class: fhir.TooLarge, Cause: checkpoint.ErrLimit})
	case !work.Turn(found.Next):
		s.end(q, &fhir.RequestError{Class: fhir.Content})
	}
	return nil
}

// refused replaces a failed query with a different request or records its result. A query that has already written
// pages is changed only if its pages are too large or its next link points to another server. The changed query starts
// again from the first page with a different page size.
func (s *searcher) refused(q plan.Query, failed *fhir.RequestError) {
	work := &s.state.Work
	s.state.Server.Learned.Refused(q, failed)
	var instead []plan.Query
	isOther := work.Pages == 0 // after the first page, only a paging failure leads to a different request
	switch failed.Class {      //nolint:exhaustive // the others say nothing of pages
	case fhir.TooLarge:
		work.Oversize++
		isOther = true
	case fhir.ForeignLink:
		isOther = !isOther
	}
	if work.Oversize <= checkpoint.MaxOversize && isOther {
		instead = q.Alternatives(failed)
	}
	switch {
	case instead != nil:
		s.restart(q)
		work.Queries = append(instead, work.Queries[1:]...)
	case q.Type != "" && s.outage.mayPass(failed):
		s.restart(q)
		work.Queries = work.Queries[1:]
		work.Deferred.Queries = append(work.Deferred.Queries, q)
		if s.outage.recordFailure() {
			s.streams.DropAll()
			s.batches = newBatches(s.state, s.session.Profile().PageSize)
		}
	case q.Widened():
		s.end(q, &fhir.RequestError{Class: fhir.ForeignLink, Status: failed.Status}) // the original query's failure
	default:
		s.end(q, failed)
	}
}

// restart restarts the first query from its first page.
func (s *searcher) restart(q plan.Query) {
	s.streams.Drop(q)
	s.state.Work.Restart()
}

// end removes the first query from the plan and records its result.
func (s *searcher) end(q plan.Query, failed *fhir.RequestError) {
	state := s.state
	work := &state.Work
	begun, lost, hits := work.Pages > 0 || q.Widened(), work.Lost, work.Hits
	s.restart(q)
	work.Queries = work.Queries[1:]
	work.Ended++
	switch {
	case q.Type == "":
		s.endEverything(failed, lost)
		return
	case q.IsDefinition():
		s.endDefinition(q, failed, hits)
		return
	case q.IsAttaching():
		s.endAttaching(q, failed, lost)
		return
	}
	account := state.Accounts.Of(q.Type)
	switch {
	case failed != nil && begun:
		account.Fail(export.OutcomeTruncated, checkpoint.NamedLoss(failed), failed.Status)
	case failed != nil:
		reason := state.Server.SearchLoss(failed)
		account.Bar(reason)
		account.Fail(checkpoint.OutcomeOf(failed), reason, failed.Status)
	default:
		account.Answer(q.OnlyBy())
	}
	if lost > 0 {
		account.Miss(lost, export.OutcomeTruncated, export.LossContent, 0)
	}
}

// endEverything ends the query for the complete record and, if possible, the queries made unnecessary by it. If the
// query returned more than the Patient, queries for individual types are unnecessary, because a server that supports
// the query returns the complete record.
func (s *searcher) endEverything(failed *fhir.RequestError, lost int) {
	work, accounts := &s.state.Work, &s.state.Accounts
	if failed != nil || lost > 0 || len(accounts.Counts) < 2 {
		return
	}
	var left []plan.Query
	for _, q := range work.Queries {
		if q.IsDefinition() { // a definition to which the record refers is not part of the record
			left = append(left, q)
			continue
		}
		work.Ended++
		if q.IsTrial() { // the server is not expected to support the type
			s.streams.Drop(q)
			continue
		}
		account := accounts.Of(q.Type)
		account.Paged = true
		account.Answer("")
		s.streams.Drop(q)
	}
	work.Queries = left
}

// endDefinition records the result of a Questionnaire search that had the given number of hits.
func (s *searcher) endDefinition(q plan.Query, failed *fhir.RequestError, hits int) {
	account := s.state.Accounts.Of(q.Type)
	switch {
	case failed != nil:
		account.Miss(1, checkpoint.OutcomeOf(failed), checkpoint.NamedLoss(failed), failed.Status)
	case hits == 0:
		account.Miss(1, export.OutcomeUnsupported, export.LossNotFound, 0)
	default:
		account.Answer("")
	}
}
