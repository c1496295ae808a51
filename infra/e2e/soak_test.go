package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestSoakCrashesAndLostMessages runs the main job under seeded crashes of every function and lost messages until its
// budget is spent: `make soak` gives it one. A failure names its seed; RECORDBRIDGE_SEED repeats it alone.
func TestSoakCrashesAndLostMessages(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	if err != nil {
		t.Skip("RECORDBRIDGE_SOAK holds no duration: run make soak")
	}
	if seed := os.Getenv("RECORDBRIDGE_SEED"); seed != "" {
		var n uint64
		_, err := fmt.Sscan(seed, &n)
		must(t, err)
		soak(t, n)
		return
	}
	seeds := uint64(0)
	for began := time.Now(); time.Since(began) < budget && !t.Failed(); seeds++ {
		soak(t, seeds)
	}
	t.Logf("%d seeds in %s", seeds, budget)
}

func soak(t *testing.T, seed uint64) {
	t.Helper()
	t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			luck := rand.New(rand.NewPCG(seed, 1))
			s := newStack(t, options{})
			people := s.seeded.Sandbox.Personas[:4]
			connectionID := s.connect(people[luck.IntN(len(people))].ID, "approve").Get("org_connection_id")
			for _, f := range s.template.Functions {
				if f.Folder != "sandboxehr" && luck.IntN(3) > 0 {
					s.crash(f.LogicalID, 1+luck.IntN(80))
				}
			}
			s.requestUntilAccepted(t, connectionID)
			if luck.IntN(2) == 0 {
				s.loseMessages()
			}
			s.settleAll(200)
			for _, f := range s.template.Functions {
				s.disarm(f.LogicalID) // the crash of a function that is not at work any more is of no interest
			}
			s.checkOneResult(t)
			s.checkNothingPending(t)
		})
	})
}
