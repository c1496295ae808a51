package sim_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim"
)

// TestNetworkIsDeterministic checks that the order and timing of concurrent queries affect neither the reports,
// including their times, nor the documents' bytes.
func TestNetworkIsDeterministic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		patients := people.All()
		want := map[string]string{}
		for _, p := range patients {
			want[p.Subject] = everything(t, p, timed())
		}
		if len(slices.Compact(slices.Sorted(valuesOf(want)))) != len(patients) {
			t.Error("two patients have the same records")
		}
		for seed := range uint64(4) {
			chance := rand.New(rand.NewPCG(seed, 1))
			order := slices.Concat(patients, patients)
			chance.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			var all sync.WaitGroup
			for _, p := range order {
				later := time.Duration(chance.IntN(int(10 * time.Minute)))
				all.Go(func() {
					n := timed()
					n.Now = func() time.Time { return start().Add(later) }
					if got := everything(t, p, n); got != want[p.Subject] {
						t.Errorf("seed %d: %s is told otherwise:\n%s\n%s", seed, p.Person.Given, got, want[p.Subject])
					}
				})
			}
			all.Wait()
		}
	})
}

func valuesOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// everything returns all the data that a network returns about a patient, including response times.
func everything(t *testing.T, p people.Patient, n sim.Network) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	begun, found := time.Now(), map[string]tefca.Facility{}
	var text strings.Builder
	err := n.Locate(ctx, assertion(p), func(f tefca.Facility) error {
		fmt.Fprintf(&text, "%s %s %s %s\n", time.Since(begun), f.ID, f.Match, f.Local.Reveal())
		found[f.ID] = f
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, f := range inOrder(found) {
		list, err := n.Documents(t.Context(), assertion(p), f)
		fmt.Fprintf(&text, "%s %v\n", f.ID, err)
		for _, d := range list {
			content, err := n.Retrieve(t.Context(), assertion(p), f, d, limit)
			fmt.Fprintf(&text, "%s %s %d %x %v\n", d.ID, d.Made, d.Size, sha256.Sum256(content), err)
		}
	}
	return text.String() + time.Since(begun).String()
}
