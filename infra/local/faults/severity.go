package faults

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Severity sets the frequency of faults, as fractions of 1, and their magnitude.
type Severity struct {
	Throttle float64 // of all calls
	Fail     float64 // of all calls, half of them after the effect
	Break    float64 // of all calls, half of them after the effect
	Timeout  float64 // of all calls, half of them after the effect
	Conflict float64 // of DynamoDB's writes
	// Storm is the fraction of runs of the same kind of call in which most calls fail, so that immediate retries do not
	// help.
	Storm float64

	Double  float64 // of received messages
	Reorder float64 // of received messages

	Silence  time.Duration // maximum wait before a timeout; a caller that gives up earlier ends it
	IndexLag time.Duration // maximum delay of an index behind its table
	Skew     time.Duration // maximum deviation of a caller's clock, in either direction
}

const (
	// stormCalls is the length of a storm: more calls than an SDK's attempts at one request.
	stormCalls = 6
	// stormFails is the fraction of a storm's calls that fail.
	stormFails = 0.8
)

// Mild returns the faults of a bad day, which a client's retries must hide.
func Mild() Severity {
	return Severity{
		Throttle: 0.01, Fail: 0.01, Break: 0.01, Timeout: 0.002, Conflict: 0.01, Storm: 0.002,
		Double: 0.05, Reorder: 0.2, Silence: 2 * time.Second, IndexLag: time.Second, Skew: 30 * time.Second,
	}
}

// Harsh returns worse faults than AWS ever has: calls often fail permanently, and only work stored for later survives.
func Harsh() Severity {
	return Severity{
		Throttle: 0.03, Fail: 0.03, Break: 0.03, Timeout: 0.01, Conflict: 0.03, Storm: 0.04,
		Double: 0.25, Reorder: 0.5, Silence: 20 * time.Second, IndexLag: 20 * time.Second, Skew: 4 * time.Minute,
	}
}

func severities() map[string]Severity { return map[string]Severity{"mild": Mild(), "harsh": Harsh()} }

// String describes the settings that no Injection shows.
func (s Severity) String() string {
	return fmt.Sprintf("indexes up to %v late, clocks up to %v off", s.IndexLag, s.Skew)
}

// draw picks the fault of a call. storm is the random number of the run that the call belongs to.
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
		at *= sum / stormFails // scales the chances to most of a storm's calls
	}
	for _, chance := range chances {
		if at < chance.part {
			return chance.kind
		}
		at -= chance.part
	}
	return None
}
