package faults

import (
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Middleware returns middleware for aws.Options.Middleware that applies the plan to every call.
func (p *Plan) Middleware() wire.Middleware {
	return func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
			kind, random := p.decide(c)
			if kind == None {
				next(w, r, c)
				return
			}
			if kind.afterEffect() {
				next(&discarded{}, r, c)
			}
			p.inject(w, r, c, kind, random)
		}
	}
}

func (p *Plan) inject(w http.ResponseWriter, r *http.Request, c wire.Call, kind Kind, random *rand.Rand) {
	switch kind {
	case Throttled:
		refuse(w, r, c, throttling(c, random, members(r, c)))
	case Conflicted:
		refuse(w, r, c, conflict(random, members(r, c)))
	case FailedBefore, FailedAfter:
		refuse(w, r, c, internal(c))
	case TimedOutBefore, TimedOutAfter:
		_, _ = io.Copy(io.Discard, r.Body) // net/http detects a disconnected caller only after the body has been read
		stay(r, time.Second+spread(random, max(p.severity.Silence-time.Second, 0)))
		breakOff()
	case BrokenBefore, BrokenAfter:
		breakOff()
	case None, Doubled, Reordered:
	}
}

// breakOff ends the connection without sending a response, whether the call uses a socket or is in process (aws.Cloud).
func breakOff() {
	panic(http.ErrAbortHandler)
}

// stay waits for the given duration, or until the caller gives up.
func stay(r *http.Request, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

type discarded struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d *discarded) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}

// WriteHeader implements http.ResponseWriter.
func (d *discarded) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *discarded) Write(part []byte) (int, error) { return len(part), nil }
