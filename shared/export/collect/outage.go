package collect

import (
	"errors"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// A request that fails for a temporary reason is deferred until all other work is done, then retried in rounds. If a
// server is down for an hour, the export finishes an hour late but loses no resources (docs/reference/deviations.md,
// "Exports").
const (
	// fewRounds is the number of retry rounds, six minutes in total, while the server still responds to other requests.
	fewRounds = 2
	// allRounds is the number of retry rounds, 80 minutes in total, while the server responds to no requests.
	allRounds = 7
	// lastRounds is the period after an export's start within which it may retry requests. The remaining time is
	// reserved for delivering the collected data. If a server demands a pause beyond lastRounds, the export gives up on
	// the server (source.Session.GiveUpBy).
	lastRounds = export.Budget - time.Hour
	// downAfter is the number of consecutive deferred requests after which the export stops sending requests to the
	// server until the next round. Each deferred request has already been attempted several times.
	downAfter = 3
)

// roundWait returns the pause before a retry round. Rounds are numbered from 0.
func roundWait(round int) time.Duration {
	switch round {
	case 0:
		return 30 * time.Second
	case 1:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

// outage decides which work to defer when the server may be down.
type outage struct {
	work     *checkpoint.Work
	now      func() time.Time
	began    time.Time // start time of the task
	failures int       // number of consecutive deferred requests
}

// mayPass reports whether to retry a failed request in another round. Some servers return 500, or an HTML page, for
// requests that will never succeed, so such requests are retried in one round only.
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

// recordAnswer records that the server has responded to a request.
func (o *outage) recordAnswer() { o.failures, o.work.Down = 0, false }

// recordFailure records that the server did not respond to a deferred request. After repeated failures, the export
// considers the server down and sends no requests until the next round. All remaining work is deferred, and prefetched
// responses are discarded.
func (o *outage) recordFailure() (isDown bool) {
	if o.failures++; o.failures < downAfter {
		return false
	}
	o.work.Down = true
	o.work.DeferAll()
	return true
}
