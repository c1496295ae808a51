package e2e_test

import (
	"os"
	"testing"
	"time"
)

// soakSeeds and soakLives are the minimum numbers of seeds of the main job, and of connections' lives, in a soak. A
// short soak runs a tenth.
const soakSeeds, soakLives, shorter = 500, 100, 10

// atLeast returns the minimum number of seeds to run, regardless of the time budget.
func atLeast(seeds int) int {
	if isLongSoak() {
		return seeds
	}
	return seeds / shorter
}

// isSoak reports whether everything is tested instead of a sample.
func isSoak() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

// isLongSoak reports whether there are ten minutes, enough for more runs of the same.
func isLongSoak() bool {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	return err == nil && budget >= 10*time.Minute
}

// TestSoakFaults runs the main job with seeded faults until its time budget is used up: `make soak` sets one. A failure
// names its seed; RECORDBRIDGE_SEED reruns only that one.
func TestSoakFaults(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakSeeds) || time.Since(began) < budget }, survive)
}

// TestSoakRefresh does the same for the life of connections between exports, with a quarter of the budget.
func TestSoakRefresh(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakLives) || time.Since(began) < budget/4 },
		survivePatients)
}
