package faults_test

import (
	"testing"
	"time"

	"recordbridge/infra/local/faults"
)

func TestDisorderDuplicatesAndReordersMessages(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (picks, doubles int, all []int) {
		plan := faults.New(faults.Options{Seed: seed, Severity: faults.Severity{Double: 0.25, Reorder: 0.5}})
		for range 400 {
			pick, twice := plan.Disorder("q", 5)
			if pick < 0 || pick >= 5 {
				t.Fatalf("candidate %d of 5 was picked", pick)
			}
			all = append(all, pick)
			if pick > 0 {
				picks++
			}
			if twice {
				doubles++
			}
		}
		return picks, doubles, all
	}
	picks, doubles, all := draw(1)
	if picks < 100 || picks > 220 || doubles < 70 || doubles > 130 { // the expected counts are 160 and 100
		t.Errorf("of 400 messages %d overtook and %d doubled", picks, doubles)
	}
	_, _, again := draw(1)
	for i := range all {
		if all[i] != again[i] {
			t.Fatalf("message %d: %d, then %d", i, all[i], again[i])
		}
	}
}

func TestDisorderIgnoresSingleMessage(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Severity: faults.Severity{Reorder: 1}})
	for range 100 {
		if pick, _ := plan.Disorder("q", 1); pick != 0 {
			t.Fatalf("candidate %d of 1 was picked", pick)
		}
	}
	if got := plan.Injected(); len(got) != 0 {
		t.Errorf("injected %v", got)
	}
}

func TestIndexLagIsBounded(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Severity: faults.Severity{IndexLag: 10 * time.Second}})
	longest := time.Duration(0)
	for range 200 {
		lag := plan.IndexLag("WorkTable", "byDue")
		if lag < 0 || lag > 10*time.Second {
			t.Fatalf("an entry is %v late", lag)
		}
		longest = max(longest, lag)
	}
	if longest < 8*time.Second {
		t.Errorf("the latest of 200 is %v late", longest)
	}
	if lag := faults.New(faults.Options{}).IndexLag("WorkTable", "byDue"); lag != 0 {
		t.Errorf("a plan without lag gives %v", lag)
	}
}

func TestClockSkewIsConstantPerFunction(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Seed: 5, Severity: faults.Severity{Skew: time.Minute}})
	seen := make(map[time.Duration]bool)
	for _, name := range []string{"AFunction", "BFunction", "CFunction", "DFunction"} {
		skew := plan.Skew(name)
		if skew < -time.Minute || skew > time.Minute || skew != plan.Skew(name) {
			t.Errorf("%s is off by %v, then by %v", name, skew, plan.Skew(name))
		}
		seen[skew] = true
	}
	if len(seen) != 4 {
		t.Errorf("the clocks are off by %v", seen)
	}
	if skew := plan.Skew("operator"); skew != 0 {
		t.Errorf("the operator is off by %v", skew)
	}
}
