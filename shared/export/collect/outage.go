package collect

import (
	"errors"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// A request that fails for a temporary reason is deferred until all else is done, and then retried in rounds, so that a
// server that is down for an hour costs an hour and no records (docs/reference/deviations.md, "Exports").
const (
	// fewRounds is the number of retry rounds at a server that responds to other requests: six minutes in all.
	fewRounds = 2
	// allRounds is the number of rounds at a server that does not respond at all: 80 minutes in all.
	allRounds = 7
	// lastRounds is the time after its request until which an export still retries, so that it can deliver what it has
	// before its time is over. A server that demands a longer pause is given up (source.Session.GiveUpBy).
	lastRounds = export.Budget - time.Hour
	// downAfter is the number of such failures in a row, each of several tries, after which a server gets no requests
	// until the next round.
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

// outage decides what is deferred because the server may be down.
type outage struct {
	work     *checkpoint.Work
	now      func() time.Time
	began    time.Time // start of the task
	failures int       // consecutive deferred requests
}

// mayPass reports whether a failure is worth another round. Some servers return 500, or an HTML page, for requests that
// will never succeed: those get only one more round, so that the other records are not delayed for long.
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

// recordAnswer records that the server has responded.
func (o *outage) recordAnswer() { o.failures, o.work.Down = 0, false }

// recordFailure records that the server did not respond to a deferred request. A server that responds to nothing gets
// no requests until the next round: all remaining work is deferred too, and requests sent ahead are useless.
func (o *outage) recordFailure() (isDown bool) {
	if o.failures++; o.failures < downAfter {
		return false
	}
	o.work.Down = true
	o.work.DeferAll()
	return true
}
