// Package expect is what tests of every package expect in the same way: that nothing fails, that something is refused,
// and how many of many callers win. Only tests link it.
package expect

import (
	"context"
	"errors"
	"sync"
	"testing"

	"recordbridge/shared/words/fault"
)

// NoError ends a test whose own preparation has failed.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Conflict says what was tried, which fault.Conflict has to answer.
func Conflict(tb testing.TB, what string, err error) {
	tb.Helper()
	if !errors.Is(err, fault.Conflict) {
		tb.Errorf("%s = %v, want fault.Conflict", what, err)
	}
}

// NotFound says what was tried, which fault.NotFound has to answer.
func NotFound(tb testing.TB, what string, err error) {
	tb.Helper()
	if !errors.Is(err, fault.NotFound) {
		tb.Errorf("%s = %v, want fault.NotFound", what, err)
	}
}

// Winners runs n calls at once and returns how many succeeded. Any failure but fault.Conflict fails the test.
func Winners(tb testing.TB, n int, call func(ctx context.Context, i int) error) int {
	tb.Helper()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		won   int
	)
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			err := call(tb.Context(), i)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, fault.Conflict) {
				tb.Errorf("call %d: %v", i, err)
			}
		})
	}
	close(start)
	group.Wait()
	return won
}
