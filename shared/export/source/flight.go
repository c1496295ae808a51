package source

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
)

const (
	// firstInFlight is a run's initial limit on concurrent requests. The limit is low because clinicians' use of the
	// server has priority.
	firstInFlight = 4
	// mostInFlight is the maximum number of concurrent requests, even to a server that could handle more.
	mostInFlight = 8
	// lateTimes and lateBy define the threshold for a late response: lateTimes*usual + lateBy. A response reduces the
	// concurrency limit if it takes longer than lateTimes times this threshold and longer than veryLate.
	lateTimes = 2
	lateBy    = 100 * time.Millisecond
	veryLate  = 2 * time.Second
	// provenBy is the number of normal responses that rule out a concurrency level as the cause of a refusal. Fewer
	// responses prove nothing, because some of the concurrent requests may have only just ended.
	provenBy = 24
)

// sign classifies a completed request by its indication of the server's load.
type sign int

const (
	calm      sign = iota // the server responded normally
	unrelated             // the request itself caused the failure
	strain                // the rate limit is nearly exhausted, or the request failed temporarily
	refusal               // the server refused the request: 429, 503 or Retry-After
)

type completion struct {
	number int
	beside int // requests in flight at the same time, including this one
	sign   sign
	took   time.Duration
}

// flight limits the number of concurrent requests to a single server. After limit consecutive normal responses, it
// raises the limit by one. After a sign of strain or a refusal, it halves the limit (additive increase, multiplicative
// decrease; RFC 5681 section 3.1). A response that arrives much later than usual lowers the limit by one. A refusal at
// an unproven concurrency level sets a ceiling below that level. A refusal of the only request in flight indicates a
// rate limit instead, and resets the ceiling. A flight is not safe for concurrent use.
type flight struct {
	limit    int                   // current limit on concurrent requests
	ceiling  int                   // upper bound on limit, learned from refusals
	most     int                   // upper bound on ceiling, regardless of the server's capacity
	calm     [mostInFlight + 1]int // normal responses by number of requests in flight
	isFull   bool                  // whether limit has been reached since it last changed
	inARow   int                   // number of consecutive normal responses since limit last changed
	usual    time.Duration         // smoothed response time
	left     int                   // number of requests sent so far
	troubled bool                  // whether the server has shown strain or refused a request
	refused  bool                  // whether a refusal has lowered ceiling
	// number of the last request sent before limit was lowered; requests up to that number can lower only ceiling
	turned int
}

// newFlight returns a flight for a single server. The most argument is the maximum number of concurrent requests that
// the server is known to allow, or 0 if unknown.
func newFlight(most int) flight {
	if most <= 0 || most > mostInFlight {
		most = mostInFlight
	}
	return flight{limit: min(firstInFlight, most), ceiling: most, most: most}
}

// expect raises the limit to begin if it is lower, and caps the limit at shown. The begin argument is the concurrency
// that the server handled in earlier exports or runs, and shown is a previously observed limit. Zero means unknown.
func (f *flight) expect(begin, shown int) {
	if shown > 0 {
		f.ceiling = min(shown, f.ceiling)
	}
	if f.troubled {
		begin = 0
	}
	f.limit = min(max(f.limit, begin), f.ceiling)
}

// load reports the concurrency handled so far, the limit learned from a refusal, if any, and whether the server showed
// signs of strain.
func (f *flight) load() known.Experience {
	met := known.Experience{Trouble: f.troubled}
	if f.refused {
		met.Limit = f.shown()
	}
	for at := f.most; at > firstInFlight && met.Handled == 0 && !f.troubled; at-- {
		if f.answered(at) >= at {
			met.Handled = at
		}
	}
	return met
}

// shown returns the observed concurrency limit, or 0 if no limit was observed.
func (f *flight) shown() int {
	if f.ceiling == f.most {
		return 0
	}
	return f.ceiling
}

// start records a request that is about to be sent and returns its sequence number. The beside argument is the number
// of requests in flight, including this one.
func (f *flight) start(beside int) (number int) {
	f.isFull = f.isFull || beside >= f.limit
	f.left++
	return f.left
}

// complete adjusts the limit after a request has completed.
func (f *flight) complete(l completion) {
	switch l.sign {
	case calm:
		f.completeCalm(l)
		return
	case refusal:
		f.refused = true
		switch {
		case l.beside == 1:
			f.ceiling, f.refused = f.most, false
		case f.isProven(l.beside):
		case l.number > f.turned:
			f.ceiling = min(f.ceiling, l.beside-1)
		default: // one of several requests that were refused together
			f.ceiling = max(1, f.ceiling-1)
		}
	case unrelated:
		return
	case strain:
	}
	f.troubled = true
	f.lower(l, f.limit/2)
}

// isProven reports whether the server has shown that it can handle the given number of concurrent requests.
func (f *flight) isProven(beside int) bool { return f.answered(beside) >= provenBy }

// answered returns the number of normal responses received while at least beside requests were in flight.
func (f *flight) answered(beside int) (answers int) {
	for _, count := range f.calm[beside:] {
		answers += count
	}
	return answers
}

// hasAnswered reports whether any request has received a normal response.
func (f *flight) hasAnswered() bool { return slices.Max(f.calm[:]) > 0 }

func (f *flight) completeCalm(l completion) {
	f.calm[l.beside]++
	if f.usual == 0 {
		f.usual = l.took
	}
	late := lateTimes*f.usual + lateBy
	switch {
	case l.took > lateTimes*late && l.took > veryLate:
		f.lower(l, f.limit-1)
	case l.took > late:
		f.inARow = 0
	case f.isFull:
		f.inARow++
	}
	f.usual += (l.took - f.usual) / firstInFlight
	if f.inARow >= f.limit && f.limit < f.ceiling {
		f.limit++
		f.inARow, f.isFull = 0, false
	}
}

// lower reduces f.limit to at most limit. Requests that were in flight at the same time lower the limit only once.
func (f *flight) lower(l completion, limit int) {
	f.limit, f.inARow, f.isFull = min(f.limit, f.ceiling), 0, false
	if l.number > f.turned {
		f.limit, f.turned = max(1, min(f.limit, limit)), f.left
	}
}
