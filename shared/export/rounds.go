package export

import (
	"errors"
	"time"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// What fails for a reason that may pass is put off until all else is done, and then tried again in rounds, so that a server
// that is down for an hour costs an hour and no records (decisions section 5 leaves six).
const (
	// fewRounds is how often what was put off is tried again at a server that answers other requests: for six minutes in all.
	fewRounds = 2
	// allRounds is how often at a server that answers nothing: for 80 minutes in all.
	allRounds = 7
	// lastRounds is how long after its request an export still tries anything again, so that what it has is delivered before
	// its time is over.
	lastRounds = budget - time.Hour
	// downAfter is after how many such failures in a row, each of several tries, a server is left alone until the next round.
	downAfter = 3
)

// roundWait is how long the server is left alone before a round of trying again, counted from 0.
func roundWait(round int) time.Duration {
	switch round {
	case 0:
		return 30 * time.Second
	case 1:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

// later is what has been put off.
type later struct {
	Queries     []plan.Query `json:"queries,omitempty"`
	Refs        []reference  `json:"refs,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
}

func (l later) size() int { return len(l.Queries) + len(l.Refs) + len(l.Attachments) }

// mayPass reports whether a failure is worth another round. Some servers answer 500, or a page of HTML, to what they will
// never answer: that is tried in one more round only, so that the other records do not wait for it long.
func (c *collector) mayPass(failed *fhir.RequestError) bool {
	rounds := fewRounds
	if c.state.Down {
		rounds = allRounds
	}
	if failed.Refusal != fhir.Unexplained || errors.Is(failed, errOther) || c.state.Round >= rounds ||
		c.now().Sub(c.task.CreatedAt) > lastRounds {
		return false
	}
	switch failed.Class {
	case fhir.Limited, fhir.Network:
		return true
	case fhir.ServerFault:
		return (failed.Status != 500 && failed.Status != 501) || c.state.Round == 0
	case fhir.Content:
		return c.state.Round == 0
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
	}
	return false
}

// answered notes that the server is there.
func (c *collector) answered() { c.silent, c.state.Down = 0, false }

// silence notes that the server has not answered something that was put off. One that does not answer anything is left
// alone: all that is left is put off, too.
func (c *collector) silence() {
	c.silent++
	s := c.state
	if c.silent < downAfter {
		return
	}
	s.Down = true
	s.Later.Queries = append(s.Later.Queries, s.Queries...)
	s.Later.Refs = append(append(s.Later.Refs, s.Refs...), s.Binaries...)
	s.Later.Attachments = append(s.Later.Attachments, s.Attachments...)
	s.Queries, s.Refs, s.Binaries, s.Attachments = nil, nil, nil, nil
	s.restart()
	c.stopStreams()
}

func (c *collector) stopStreams() {
	for _, search := range c.searches {
		search.stop()
	}
	for _, read := range c.reads {
		read.stop()
	}
	clear(c.searches)
	clear(c.reads)
}

// nextRound makes what was put off the work that is to be done.
func (c *checkpoint) nextRound() {
	c.Queries, c.Attachments = c.Later.Queries, c.Later.Attachments
	for _, r := range c.Later.Refs {
		if r.Type == "Binary" {
			c.Binaries = append(c.Binaries, r)
		} else {
			c.Refs = append(c.Refs, r)
		}
	}
	c.Later = later{}
	c.Round++
}
