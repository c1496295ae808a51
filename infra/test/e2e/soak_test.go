package e2e_test

import (
	"os"
	"testing"
	"time"
)

// soakSeeds and soakLives are how many seeds of the main job, and of connections' lives, a soak tries at least;
// a short one has a tenth.
const soakSeeds, soakLives, shorter = 500, 100, 10

// atLeast is how many of so many seeds have to be tried, whatever the budget.
func atLeast(seeds int) int {
	if isLongSoak() {
		return seeds
	}
	return seeds / shorter
}

// isSoak tells whether everything is to be tried, not a sample.
func isSoak() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

// isLongSoak tells whether there are ten minutes for it, so that more of the same is tried, too.
func isLongSoak() bool {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	return err == nil && budget >= 10*time.Minute
}

// TestSoakFaults runs the main job under seeds of faults until its budget is spent: `make soak`
// gives it one. A failure names its seed; RECORDBRIDGE_SEED repeats it alone.
func TestSoakFaults(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakSeeds) || time.Since(began) < budget }, survive)
}

// TestSoakRefresh does the same with the life of connections between exports, for a quarter of the budget.
func TestSoakRefresh(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakLives) || time.Since(began) < budget/4 },
		survivePatients)
}
