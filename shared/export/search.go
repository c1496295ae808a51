package export

import (
	"cmp"
	"context"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// search writes one page of the first query of the plan, while the pages of the next ones are read.
func (c *collector) search(ctx, ahead context.Context) error {
	if err := c.checkTime(); err != nil {
		return err
	}
	for i, q := range c.state.Queries[:min(inFlight, len(c.state.Queries))] {
		if c.searches[q] != nil {
			continue
		}
		next, tried := "", 0
		if i == 0 {
			next, tried = c.state.Next, c.tried()
		}
		c.searches[q] = c.open(ahead, next, tried, c.searching(q, c.base))
	}
	q := c.state.Queries[0]
	found, err := c.searches[q].take(ctx)
	failed, isFailed := refusedRequest(err)
	switch {
	case isFailed && (c.resumed || c.forgotten(q, failed)):
		// Some servers forget their pages between two runs, or once they have sent them; what is written already is not
		// written again.
		c.resumed = false
		c.anew(q)
		return nil
	case isFailed:
		c.refused(q, failed)
		return nil
	case err != nil:
		return err
	}
	c.resumed = false
	c.answered()
	if c.state.Pages == 0 {
		c.learn(found, pathOf(q))
	}
	if err := c.writePage(found); err != nil {
		return err
	}
	c.state.Pages++
	if q.Type != "" {
		c.state.account(q.Type).Paged = true
	}
	defer c.tell()
	switch {
	case found.NextLost:
		c.endQuery(q, &fhir.RequestError{Class: fhir.Content})
	case found.Next == "":
		c.endQuery(q, nil)
	case c.state.Pages >= maxPages:
		c.endQuery(q, &fhir.RequestError{Class: fhir.TooLarge, Cause: errLimit})
	case !c.state.turn(found.Next):
		c.endQuery(q, &fhir.RequestError{Class: fhir.Content})
	}
	return nil
}

// forgotten reports whether a server says of a later page that it is not there, for the first time in this run.
func (c *collector) forgotten(q plan.Query, failed *fhir.RequestError) bool {
	isGone := failed.Class == fhir.NotFound || failed.Class == fhir.Gone || failed.Class == fhir.Rejected
	if !isGone || c.state.Pages == 0 || c.begunAgain[q] {
		return false
	}
	c.begunAgain[q] = true
	return true
}

// open starts a stream that this run waits for before it ends.
func (c *collector) open(ctx context.Context, next string, tried int, read fetch) *stream {
	ctx, stop := context.WithCancel(ctx)
	s := newStream(stop)
	c.running.Go(func() {
		defer stop()
		s.run(ctx, next, tried, read)
	})
	return s
}

func (c *collector) writePage(found fhir.Bundle) error {
	c.state.Lost += found.Unusable
	c.state.Hits += found.Len
	for resource := range found.All() {
		if err := c.write(resource, 0); err != nil {
			return err
		}
	}
	return nil
}

// refused asks for something else in place of a query that failed, or records how it ended. A query that has begun is
// left where it is, unless its pages are too large, or the way to the next one leads elsewhere: then it begins again with
// smaller or larger ones.
func (c *collector) refused(q plan.Query, failed *fhir.RequestError) {
	var instead []plan.Query
	isOther := c.state.Pages == 0 // else only what is about the pages themselves is asked in another way
	switch failed.Class {         //nolint:exhaustive // the others say nothing of pages
	case fhir.TooLarge:
		c.state.Oversize++
		isOther = true
	case fhir.ForeignLink:
		isOther = !isOther
	}
	if c.state.Oversize <= maxOversize && isOther {
		instead = q.Instead(failed)
	}
	switch {
	case instead != nil:
		c.anew(q)
		c.state.Queries = append(instead, c.state.Queries[1:]...)
	case q.Type != "" && c.mayPass(failed):
		c.anew(q)
		c.state.Queries = c.state.Queries[1:]
		c.state.Later.Queries = append(c.state.Later.Queries, q)
		c.silence()
	case q.Widened():
		c.endQuery(q, &fhir.RequestError{Class: fhir.ForeignLink, Status: failed.Status}) // what all began with
	default:
		c.endQuery(q, failed)
	}
}

// anew forgets how far the first query has come.
func (c *collector) anew(q plan.Query) {
	c.drop(q)
	c.state.restart()
}

// drop ends the stream of a query, whose requests would be others' places.
func (c *collector) drop(q plan.Query) {
	if search := c.searches[q]; search != nil {
		search.stop()
		delete(c.searches, q)
	}
}

// endQuery takes the first query off the plan and records how it ended.
func (c *collector) endQuery(q plan.Query, failed *fhir.RequestError) {
	begun, lost, hits := c.state.Pages > 0 || q.Widened(), c.state.Lost, c.state.Hits
	c.anew(q)
	c.state.Queries = c.state.Queries[1:]
	c.state.Done++
	switch {
	case q.Type == "":
		c.endEverything(failed, lost)
		return
	case q.IsDefinition():
		c.endDefinition(q, failed, hits)
		return
	}
	account := c.state.account(q.Type)
	switch {
	case failed != nil && begun:
		account.fail(OutcomeTruncated, namedReason(failed), failed.Status)
	case failed != nil:
		reason := c.state.reasonOf(failed)
		account.bar(reason)
		account.fail(outcomeOf(failed), reason, failed.Status)
	default:
		account.Answered++
		account.OnlyBy = cmp.Or(account.OnlyBy, q.OnlyBy())
	}
	if lost > 0 {
		account.Missing += lost
		account.fail(OutcomeTruncated, LossContent, 0)
	}
}

// endEverything ends the query for the whole record at once. Where it brought more than the Patient, the queries for its
// parts are not needed (fhir notes section 2.2).
func (c *collector) endEverything(failed *fhir.RequestError, lost int) {
	if failed != nil || lost > 0 || len(c.state.Counts) < 2 {
		return
	}
	var left []plan.Query
	for _, q := range c.state.Queries {
		if q.IsDefinition() { // of what the record names, and no part of it
			left = append(left, q)
			continue
		}
		c.state.Done++
		account := c.state.account(q.Type)
		account.Paged = true
		account.Answered++
		c.drop(q)
	}
	c.state.Queries = left
}

func outcomeOf(failed *fhir.RequestError) Outcome {
	switch failed.Refusal {
	case fhir.Denied:
		return OutcomeDenied
	case fhir.Unsupported, fhir.Missing:
		return OutcomeUnsupported
	case fhir.Unexplained, fhir.NeedsMore, fhir.NoCount:
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden:
		return OutcomeDenied
	case fhir.NotFound, fhir.Gone, fhir.Rejected:
		return OutcomeUnsupported
	case fhir.Limited, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network:
	}
	return OutcomeFailed
}
