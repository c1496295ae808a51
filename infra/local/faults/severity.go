package faults

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Severity says how often things go wrong, as parts of 1, and how far.
type Severity struct {
	Throttle float64 // of all calls
	Fail     float64 // of all calls, half of them after the effect
	Break    float64 // of all calls, half of them after the effect
	Timeout  float64 // of all calls, half of them after the effect
	Conflict float64 // of DynamoDB's writes
	// Storm is the part of stretches of calls of one sort in which most fail, so that trying again at once is no help.
	Storm float64

	Double  float64 // of the messages that are received
	Reorder float64 // of the messages that are received

	Silence  time.Duration // the longest before a timeout; a caller that gives up earlier ends it
	IndexLag time.Duration // the longest that an index is behind its table
	Skew     time.Duration // the farthest that the clock of a caller is off, to either side
}

const (
	// stormCalls is the length of a stretch: longer than the tries that an SDK makes of one call.
	stormCalls = 6
	// stormFails is the part of a storm's calls that fail.
	stormFails = 0.8
)

// Mild is a bad day: what a client's retries have to hide.
func Mild() Severity {
	return Severity{
		Throttle: 0.01, Fail: 0.01, Break: 0.01, Timeout: 0.002, Conflict: 0.01, Storm: 0.002,
		Double: 0.05, Reorder: 0.2, Silence: 2 * time.Second, IndexLag: time.Second, Skew: 30 * time.Second,
	}
}

// Harsh is a day that AWS does not have: calls fail for good all the time, and only what is stored for later helps.
func Harsh() Severity {
	return Severity{
		Throttle: 0.03, Fail: 0.03, Break: 0.03, Timeout: 0.01, Conflict: 0.03, Storm: 0.04,
		Double: 0.25, Reorder: 0.5, Silence: 20 * time.Second, IndexLag: 20 * time.Second, Skew: 4 * time.Minute,
	}
}

func severities() map[string]Severity { return map[string]Severity{"mild": Mild(), "harsh": Harsh()} }

// String tells what no Injection tells.
func (s Severity) String() string {
	return fmt.Sprintf("indexes up to %v late, clocks up to %v off", s.IndexLag, s.Skew)
}

// draw picks what becomes of a call. storm is the chance number of the stretch that it belongs to.
func (s Severity) draw(random *rand.Rand, storm float64, c wire.Call) Kind {
	early := random.IntN(2) == 0
	pick := func(before, after Kind) Kind {
		if early {
			return before
		}
		return after
	}
	chances := []struct {
		part float64
		kind Kind
	}{
		{s.Throttle, Throttled},
		{s.Fail, pick(FailedBefore, FailedAfter)},
		{s.Break, pick(BrokenBefore, BrokenAfter)},
		{s.Timeout, pick(TimedOutBefore, TimedOutAfter)},
	}
	if c.Service == "dynamodb" && conflicts(c.Operation) {
		chances = append(chances, struct {
			part float64
			kind Kind
		}{s.Conflict, Conflicted})
	}
	sum := 0.0
	for _, chance := range chances {
		sum += chance.part
	}
	at := random.Float64()
	if storm < s.Storm && sum > 0 {
		at *= sum / stormFails // stretches the chances over most of a storm's calls
	}
	for _, chance := range chances {
		if at < chance.part {
			return chance.kind
		}
		at -= chance.part
	}
	return None
}
