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
		c.searches[q] = c.open(ahead, next, tried, c.searching(q))
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
	if err := c.writePage(found); err != nil {
		return err
	}
	c.state.Pages++
	defer c.tell()
	switch {
	case found.NextLost:
		c.endQuery(q, &fhir.RequestError{Class: fhir.Content})
	case found.Next == "":
		c.endQuery(q, nil)
	case c.state.Pages >= maxPages || !c.state.turn(found.Next):
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
	for resource := range found.All() {
		if err := c.write(resource, 0); err != nil {
			return err
		}
	}
	return nil
}

// refused asks for something else in place of a query that failed, or records how it ended. A query that has begun is
// left where it is, unless its pages are too large: then it begins again with smaller ones.
func (c *collector) refused(q plan.Query, failed *fhir.RequestError) {
	var instead []plan.Query
	if failed.Class == fhir.TooLarge {
		c.state.Oversize++
	}
	if c.state.Oversize <= maxOversize && (c.state.Pages == 0 || failed.Class == fhir.TooLarge) {
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
	default:
		c.endQuery(q, failed)
	}
}

// anew forgets how far the first query has come.
func (c *collector) anew(q plan.Query) {
	c.drop(q)
	c.state.Next, c.state.Pages, c.state.Links, c.state.Lost = "", 0, nil, 0
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
	begun, lost := c.state.Pages > 0, c.state.Lost
	c.anew(q)
	c.state.Queries = c.state.Queries[1:]
	c.state.Done++
	if q.Type == "" {
		c.endEverything(failed, lost)
		return
	}
	account := c.state.account(q.Type)
	switch {
	case failed != nil && begun:
		account.fail(OutcomeTruncated, failed.Status)
	case failed != nil:
		account.fail(outcomeOf(failed), failed.Status)
	default:
		account.Answered++
		account.OnlyBy = cmp.Or(account.OnlyBy, q.OnlyBy())
	}
	if lost > 0 {
		account.Missing += lost
		account.fail(OutcomeTruncated, 0)
	}
}

// endEverything ends the query for the whole record at once. Where it brought more than the Patient, the queries for its
// parts are not needed (fhir notes section 2.2).
func (c *collector) endEverything(failed *fhir.RequestError, lost int) {
	if failed != nil || lost > 0 || len(c.state.Counts) < 2 {
		return
	}
	c.state.Done += len(c.state.Queries)
	for _, q := range c.state.Queries {
		c.state.account(q.Type).Answered++
		c.drop(q)
	}
	c.state.Queries = nil
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
