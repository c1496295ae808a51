package source

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
)

const (
	// firstInFlight is the number of concurrent requests at the start of a run: a server serves its clinicians first.
	firstInFlight = 4
	// mostInFlight is the maximum number, for a server that handles them with ease.
	mostInFlight = 8
	// lateTimes and lateBy define a late response: it takes longer than lateTimes the usual time plus lateBy. One that
	// takes longer than lateTimes that, and longer than veryLate, is a sign of strain.
	lateTimes = 2
	lateBy    = 100 * time.Millisecond
	veryLate  = 2 * time.Second
	// provenBy is the number of calm responses at a concurrency that prove that a refusal has another cause. A few prove
	// nothing: some of the other requests may just have ended.
	provenBy = 24
)

// sign classifies the end of a request by the server's load.
type sign int

const (
	calm      sign = iota // it responded normally
	unrelated             // it failed because of the request itself
	strain                // near a limit: a rate limit nearly used up, or a temporary failure
	refusal               // it refused the work: 429, 503, or a Retry-After
)

// completion describes the end of a request.
type completion struct {
	number int // number of the request, in the order of sending
	beside int // requests under way at the same time, including itself
	sign   sign
	took   time.Duration
}

// flight decides how many requests to one server are under way at once. It allows one more after as many calm responses
// as there are requests, half as many after a sign of strain or a refusal (additive increase, multiplicative decrease;
// RFC 5681 section 3.1), and one less if responses are much later than usual. A refusal at a concurrency above the
// proven one reveals a limit, which is not tried again, unless a request that is alone is refused as well: then the
// server limits the rate. It is not safe for concurrent use.
type flight struct {
	limit    int                   // current number of concurrent requests allowed
	ceiling  int                   // upper bound of limit
	most     int                   // upper bound of ceiling, whatever the server handles
	calm     [mostInFlight + 1]int // calm responses, by the number of requests under way
	isFull   bool                  // the limit was reached since it last changed
	inARow   int                   // calm responses since then
	usual    time.Duration         // smoothed response time
	left     int                   // requests sent so far
	troubled bool                  // there was strain or a refusal
	refused  bool                  // ceiling was lowered by a refusal
	// requests sent before the limit was last lowered: their results add no information
	turned int
}

// newFlight returns the flight for a server that allows most concurrent requests, 0 if unknown.
func newFlight(most int) flight {
	if most <= 0 || most > mostInFlight {
		most = mostInFlight
	}
	return flight{limit: min(firstInFlight, most), ceiling: most, most: most}
}

// expect sets the concurrency that the server has handled before, and the limit that it has shown; 0 for none.
func (f *flight) expect(begin, shown int) {
	if shown > 0 {
		f.ceiling = min(shown, f.ceiling)
	}
	if f.troubled {
		begin = 0
	}
	f.limit = min(max(f.limit, begin), f.ceiling)
}

// load returns the outcome of the requests so far.
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

// shown returns the limit that the server has shown; 0 for none.
func (f *flight) shown() int {
	if f.ceiling == f.most {
		return 0
	}
	return f.ceiling
}

// start counts a request being sent. beside is the number of requests under way, including itself.
func (f *flight) start(beside int) (number int) {
	f.isFull = f.isFull || beside >= f.limit
	f.left++
	return f.left
}

// complete learns from a request that has ended.
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
		default: // another of the requests that were refused together
			f.ceiling = max(1, f.ceiling-1)
		}
	case unrelated:
		return
	case strain:
	}
	f.troubled = true
	f.lower(l, f.limit/2)
}

// isProven reports whether the server has proven to handle so many concurrent requests.
func (f *flight) isProven(beside int) bool { return f.answered(beside) >= provenBy }

// answered counts the calm responses to requests with at least beside under way.
func (f *flight) answered(beside int) (answers int) {
	for _, count := range f.calm[beside:] {
		answers += count
	}
	return answers
}

// hasAnswered reports whether the server has responded calmly to any request.
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

// lower lowers the limit to at most the given one, once for all requests that were under way together.
func (f *flight) lower(l completion, limit int) {
	f.limit, f.inARow, f.isFull = min(f.limit, f.ceiling), 0, false
	if l.number > f.turned {
		f.limit, f.turned = max(1, min(f.limit, limit)), f.left
	}
}
