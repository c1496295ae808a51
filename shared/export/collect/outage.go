package collect

import (
	"errors"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// What fails for a reason that may pass is put off until all else is done, and then tried again in rounds, so that a
// server that is down for an hour costs an hour and no records (docs/reference/deviations.md, "Exports").
const (
	// fewRounds is how often what was put off is tried again at a server that answers other
	// requests: for six minutes in all.
	fewRounds = 2
	// allRounds is how often at a server that answers nothing: for 80 minutes in all.
	allRounds = 7
	// lastRounds is how long after its request an export still tries anything again, so that what it has is delivered
	// before its time is over. A server that demands to be left alone until after that is given up
	// (source.Session.GiveUpBy).
	lastRounds = export.Budget - time.Hour
	// downAfter is after how many such failures in a row, each of several tries, a server is left
	// alone until the next round.
	downAfter = 3
)

// roundWait returns the pause before a round of retries, counted from 0.
func roundWait(round int) time.Duration {
	switch round {
	case 0:
		return 30 * time.Second
	case 1:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

// outage decides what is put off because the server may be down.
type outage struct {
	work     *checkpoint.Work
	now      func() time.Time
	began    time.Time // of the task
	failures int       // in a row, of what was put off
}

// mayPass reports whether a failure is worth another round. Some servers answer 500, or a page of HTML, to what they
// will never answer: that is tried in one more round only, so that the other records do not wait for it long.
func (o *outage) mayPass(failed *fhir.RequestError) bool {
	rounds := fewRounds
	if o.work.Down {
		rounds = allRounds
	}
	if failed.Refusal != fhir.Unexplained || errors.Is(failed, source.ErrOther) || o.work.Round >= rounds ||
		o.now().Add(failed.RetryAfter).Sub(o.began) > lastRounds {
		return false
	}
	switch failed.Class {
	case fhir.Limited, fhir.Network:
		return true
	case fhir.ServerFault:
		return (failed.Status != 500 && failed.Status != 501) || o.work.Round == 0
	case fhir.Content:
		return o.work.Round == 0
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
	}
	return false
}

// recordAnswer notes that the server is there.
func (o *outage) recordAnswer() { o.failures, o.work.Down = 0, false }

// recordFailure notes that the server has not answered something that was put off. One that does not answer anything is
// left alone: all that is left is put off, too, and what is asked ahead is of no use.
func (o *outage) recordFailure() (isDown bool) {
	if o.failures++; o.failures < downAfter {
		return false
	}
	o.work.Down = true
	o.work.PutOffAll()
	return true
}
