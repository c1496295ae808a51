package faults

import (
	"strconv"
	"time"
)

// The methods below match the signatures of hooks without referring to the hooks' types, so this package stays
// independent of queues and tables.

// Disorder implements sqs.Disorder. Given the number of candidates, which are ordered oldest first, Disorder chooses
// the message that a queue delivers. twice reports whether the message is delivered again.
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

// IndexLag returns the delay of an index entry (ddb.Server.LagIndexes). Injected does not include these delays, because
// every write has a delay.
func (p *Plan) IndexLag(table, index string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return 0
	}
	n := p.count(site{table, "dynamodb", index})
	return spread(p.random(table, index, strconv.Itoa(n)), p.severity.IndexLag)
}

// Skew returns how far the cloud's clock is ahead of the caller's clock (aws.Options.Skew). A caller's skew is constant
// during a run.
func (p *Plan) Skew(caller string) time.Duration {
	if !p.callers(caller) {
		return 0
	}
	return spread(p.random(caller, "clock"), 2*p.severity.Skew) - p.severity.Skew
}
