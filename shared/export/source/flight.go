package source

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
)

const (
	// firstInFlight is with how many requests at once a run begins: a server serves its clinicians first.
	firstInFlight = 4
	// mostInFlight is how many there are at most, at a server that bears them with ease.
	mostInFlight = 8
	// lateTimes is how many times as long as usual, and lateBy how much longer besides, an answer takes that comes late.
	// One that takes twice as long again is a sign of strain where it takes longer than veryLate.
	lateTimes = 2
	lateBy    = 100 * time.Millisecond
	veryLate  = 2 * time.Second
	// provenBy is how many calm answers to as many requests at once show that a refusal is not for their number. A few
	// show nothing: some of the others may just have been answered.
	provenBy = 24
)

// sign is what the end of a request says of the server's load.
type sign int

const (
	calm    sign = iota // it has answered
	nothing             // it has failed in a way that comes of what was asked for
	strain              // it is near a limit: of a rate that is nearly used up, or in the middle of trouble that passes
	refusal             // it refuses work: 429, 503, or a Retry-After
)

// landing is how a request has ended.
type landing struct {
	number int // of the request, in the order in which they left
	beside int // requests under way beside it, itself among them
	sign   sign
	took   time.Duration
}

// flight decides how many requests are under way at one server at once: one more after as many calm answers as there
// are requests, half as many at a sign of strain or a refusal (additive increase, multiplicative decrease; RFC 5681
// section 3.1), one less where answers come much later than usual. A refusal of more requests at once than the server
// has proven to bear shows a limit, which is not tried again, unless a request that is alone is refused, too: then it
// is a rate that is limited. It is for one goroutine at a time.
type flight struct {
	limit    int                   // requests at once, now
	ceiling  int                   // that limit does not pass
	most     int                   // that ceiling does not pass, whatever the server bears
	calm     [mostInFlight + 1]int // calm answers, by how many requests were under way
	isFull   bool                  // as many were under way as may be, since the limit has changed
	inARow   int                   // calm answers since then
	usual    time.Duration         // how long answers take, smoothed
	left     int                   // requests that have left
	troubled bool                  // there was strain or a refusal
	refused  bool                  // ceiling was lowered by a refusal
	// requests that had left when the limit was last lowered: what comes of them says nothing new
	turned int
}

// newFlight begins at a server that is to be asked for most at once, 0 where nobody says.
func newFlight(most int) flight {
	if most <= 0 || most > mostInFlight {
		most = mostInFlight
	}
	return flight{limit: min(firstInFlight, most), ceiling: most, most: most}
}

// expect begins with as many requests as the server has borne before, and with the limit that it has shown; 0 for none.
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
	for at := f.most; at > firstInFlight && met.Bears == 0 && !f.troubled; at-- {
		if f.answered(at) >= at {
			met.Bears = at
		}
	}
	return met
}

// shown is the limit that the server has shown; 0 for none.
func (f *flight) shown() int {
	if f.ceiling == f.most {
		return 0
	}
	return f.ceiling
}

// depart counts a request that leaves, beside which some are under way, itself among them.
func (f *flight) depart(beside int) (number int) {
	f.isFull = f.isFull || beside >= f.limit
	f.left++
	return f.left
}

// land learns from a request that has ended.
func (f *flight) land(l landing) {
	switch l.sign {
	case calm:
		f.landCalm(l)
		return
	case refusal:
		f.refused = true
		switch {
		case l.beside == 1:
			f.ceiling, f.refused = f.most, false
		case f.isProven(l.beside):
		case l.number > f.turned:
			f.ceiling = min(f.ceiling, l.beside-1)
		default: // another one of those that were refused together
			f.ceiling = max(1, f.ceiling-1)
		}
	case nothing:
		return
	case strain:
	}
	f.troubled = true
	f.lower(l, f.limit/2)
}

// isProven reports whether the server has proven to bear so many requests at once.
func (f *flight) isProven(beside int) bool { return f.answered(beside) >= provenBy }

// answered counts the calm answers to requests with at least so many under way.
func (f *flight) answered(beside int) (answers int) {
	for _, count := range f.calm[beside:] {
		answers += count
	}
	return answers
}

// hasAnswered reports whether the server has answered a request calmly.
func (f *flight) hasAnswered() bool { return slices.Max(f.calm[:]) > 0 }

func (f *flight) landCalm(l landing) {
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

// lower makes the limit at most what is given, once for all requests that were under way together.
func (f *flight) lower(l landing, limit int) {
	f.limit, f.inARow, f.isFull = min(f.limit, f.ceiling), 0, false
	if l.number > f.turned {
		f.limit, f.turned = max(1, min(f.limit, limit)), f.left
	}
}
