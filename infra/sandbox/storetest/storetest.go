// Package storetest tests the properties that the sandbox's authorization server requires of a store (oauth.Store). The
// tests run against every implementation: the in-memory store and the deployed DynamoDB store.
package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/infra/sandbox/oauth"
)

const rivals = 20

// Run runs all tests against s, which must be empty. Values written by the tests expire far in the future.
func Run(t *testing.T, s oauth.Store, now time.Time) {
	t.Helper()
	t.Run("a put replaces", func(t *testing.T) { putReplaces(t, s, now.Add(time.Hour)) })
	t.Run("a swap wants what it saw", func(t *testing.T) { swapWantsWhatItSaw(t, s, now.Add(time.Hour)) })
	t.Run("of many swaps one wins", func(t *testing.T) { ofManySwapsOneWins(t, s, now.Add(time.Hour)) })
	t.Run("what is stored is a copy", func(t *testing.T) { storedIsACopy(t, s, now.Add(time.Hour)) })
}

func putReplaces(t *testing.T, s oauth.Store, expires time.Time) {
	t.Helper()
	holds(t, s, "put", "")
	for _, value := range []string{"a", "b"} {
		if err := s.Put(t.Context(), "put", []byte(value), expires); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "put", value)
	}
	holds(t, s, "PUT", "")
}

func swapWantsWhatItSaw(t *testing.T, s oauth.Store, expires time.Time) {
	t.Helper()
	for _, step := range []struct {
		name       string
		old, value []byte
		want       bool
		holds      string
	}{
		{"a swap of what is not there", []byte("x"), []byte("a"), false, ""},
		{"a create", nil, []byte("a"), true, "a"},
		{"a second create", nil, []byte("b"), false, "a"},
		{"a swap of another value", []byte("x"), []byte("b"), false, "a"},
		{"a swap", []byte("a"), []byte("b"), true, "b"},
		{"the same swap again", []byte("a"), []byte("c"), false, "b"},
	} {
		got, err := s.Swap(t.Context(), "swap", step.old, step.value, expires)
		if err != nil || got != step.want {
			t.Errorf("%s: %v %v, want %v", step.name, got, err, step.want)
		}
		holds(t, s, "swap", step.holds)
	}
}

func ofManySwapsOneWins(t *testing.T, s oauth.Store, expires time.Time) {
	t.Helper()
	for _, old := range [][]byte{nil, []byte("first")} {
		if old != nil {
			if err := s.Put(t.Context(), "race", old, expires); err != nil {
				t.Fatal(err)
			}
		}
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range rivals {
			all.Go(func() {
				swapped, err := s.Swap(t.Context(), "race", old, fmt.Append(nil, "winner ", i), expires)
				if err != nil {
					t.Error(err)
				}
				if swapped {
					won.Add(1)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of %d swaps of %q won, want 1", won.Load(), rivals, old)
		}
	}
}

func storedIsACopy(t *testing.T, s oauth.Store, expires time.Time) {
	t.Helper()
	value := []byte("kept")
	if err := s.Put(t.Context(), "copy", value, expires); err != nil {
		t.Fatal(err)
	}
	copy(value, "XXXX")
	read, _, err := s.Get(t.Context(), "copy")
	if err != nil || !bytes.Equal(read, []byte("kept")) {
		t.Errorf("read %q (%v) after the writer changed its bytes", read, err)
	}
	copy(read, "YYYY")
	holds(t, s, "copy", "kept")
}

// holds fails the test unless the value under key equals want. An empty want means that key must not exist.
func holds(t *testing.T, s oauth.Store, key, want string) {
	t.Helper()
	got, found, err := s.Get(t.Context(), key)
	if err != nil || string(got) != want || found != (want != "") {
		t.Errorf("%s holds %q (found: %v, %v), want %q", key, got, found, err, want)
	}
}
