package faults

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Severity sets the frequency and the magnitude of faults. Frequencies are fractions between 0 and 1.
type Severity struct {
	Throttle float64 // fraction of all calls that are throttled
	Fail     float64 // fraction of all calls that fail; half of these take effect first
	Break    float64 // fraction of all calls whose connection breaks; half of these take effect first
	Timeout  float64 // fraction of all calls that time out; half of these take effect first
	Conflict float64 // fraction of DynamoDB writes that conflict
	// Storm is the fraction of runs of equal calls that become storms. In a storm, most calls fail, so immediate
	// retries do not help.
	Storm float64

	Double  float64 // fraction of received messages that are duplicated
	Reorder float64 // fraction of received messages that are reordered

	Silence  time.Duration // maximum wait before a timeout, unless the caller gives up earlier
	IndexLag time.Duration // maximum lag of an index behind its table
	Skew     time.Duration // maximum clock skew of a caller, in either direction
}

const (
	// stormCalls is the number of calls in a storm. It exceeds the number of attempts that an SDK makes for a request.
	stormCalls = 6
	// stormFails is the fraction of a storm's calls that fail.
	stormFails = 0.8
)

// Mild returns the fault severity of a bad day on AWS. Clients must hide mild faults by retrying.
func Mild() Severity {
	return Severity{
		Throttle: 0.01, Fail: 0.01, Break: 0.01, Timeout: 0.002, Conflict: 0.01, Storm: 0.002,
		Double: 0.05, Reorder: 0.2, Silence: 2 * time.Second, IndexLag: time.Second, Skew: 30 * time.Second,
	}
}

// Harsh returns a severity greater than any that occurs on AWS. Calls often fail despite retries, so only work that is
// stored for later survives.
func Harsh() Severity {
	return Severity{
		Throttle: 0.03, Fail: 0.03, Break: 0.03, Timeout: 0.01, Conflict: 0.03, Storm: 0.04,
		Double: 0.25, Reorder: 0.5, Silence: 20 * time.Second, IndexLag: 20 * time.Second, Skew: 4 * time.Minute,
	}
}

func severities() map[string]Severity { return map[string]Severity{"mild": Mild(), "harsh": Harsh()} }

// String describes the settings that don't appear in any Injection.
func (s Severity) String() string {
	return fmt.Sprintf("indexes up to %v late, clocks up to %v off", s.IndexLag, s.Skew)
}

// draw chooses the fault, if any, to inject into a call. storm is the random number shared by all calls of a run.
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
		at *= sum / stormFails // scales the probabilities so that most calls in a storm fail
	}
	for _, chance := range chances {
		if at < chance.part {
			return chance.kind
		}
		at -= chance.part
	}
	return None
}
