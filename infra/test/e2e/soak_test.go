package e2e_test

import (
	"os"
	"testing"
	"time"
)

// soakSeeds and soakLives are the minimum numbers of seeds that a soak test runs for the main job and for simulated
// connections. A short soak test runs a tenth of these numbers.
const soakSeeds, soakLives, shorter = 500, 100, 10

// atLeast returns the minimum number of seeds to run, regardless of the time budget.
func atLeast(seeds int) int {
	if isLongSoak() {
		return seeds
	}
	return seeds / shorter
}

// isSoak reports whether tests cover all cases instead of a sample.
func isSoak() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

// isLongSoak reports whether the soak lasts at least ten minutes.
func isLongSoak() bool {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	return err == nil && budget >= 10*time.Minute
}

// TestSoakMainJobSurvivesFaults runs the main job with seeded faults until the time budget set by make soak is used up.
// A failure reports its seed; set RECORDBRIDGE_SEED to the seed to repeat the run.
func TestSoakMainJobSurvivesFaults(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakSeeds) || time.Since(began) < budget }, survive)
}

// TestSoakTokenRefreshSurvivesInjectedErrors simulates connections between exports, with seeded faults, until a quarter
// of the time budget is used up.
func TestSoakTokenRefreshSurvivesInjectedErrors(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	began := time.Now()
	sweepSeeds(t, 0, func(done int) bool { return done < atLeast(soakLives) || time.Since(began) < budget/4 },
		survivePatients)
}
