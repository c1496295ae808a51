package faults

import (
	"strconv"
	"time"
)

// The methods in this file match the services' hooks without using the hooks' types, so that this package doesn't
// depend on the services.

// Disorder implements sqs.Disorder. Disorder chooses one of the candidates, which are ordered oldest first, and reports
// whether the message is delivered twice.
func (p *Plan) Disorder(queue string, candidates int) (pick int, twice bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return 0, false
	}
	n := p.count(site{queue, "sqs", "message"})
	random := p.random(queue, "message", strconv.Itoa(n))
	twice = random.Float64() < p.severity.Double
	if random.Float64() < p.severity.Reorder && candidates > 1 {
		pick = random.IntN(candidates)
	}
	if twice {
		p.note(Injection{Caller: queue, Service: "sqs", Operation: "message", N: n, Kind: Doubled})
	}
	if pick > 0 {
		p.note(Injection{Caller: queue, Service: "sqs", Operation: "message", N: n, Kind: Reordered})
	}
	return pick, twice
}

// IndexLag returns the delay of an index update, as ddb.Server.LagIndexes requires. Injected omits these delays,
// because every write has one.
func (p *Plan) IndexLag(table, index string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return 0
	}
	n := p.count(site{table, "dynamodb", index})
	return spread(p.random(table, index, strconv.Itoa(n)), p.severity.IndexLag)
}

// Skew returns how far the cloud's clock is ahead of the caller's clock, as required by aws.Options.Skew. A caller's
// clock skew stays the same throughout a run.
func (p *Plan) Skew(caller string) time.Duration {
	if !p.callers(caller) {
		return 0
	}
	return spread(p.random(caller, "clock"), 2*p.severity.Skew) - p.severity.Skew
}
