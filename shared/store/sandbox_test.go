package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"recordbridge/shared/fault"
)

func TestTheSandboxSwapsOnlyWhatItSaw(t *testing.T) {
	t.Parallel()
	s := newStores(t).sandbox
	expires := now.Add(time.Hour)
	steps := []struct {
		name       string
		old, value []byte
		want       bool
	}{
		{"a swap of what is not there", []byte("a"), []byte("b"), false},
		{"a create", nil, []byte("a"), true},
		{"a second create", nil, []byte("b"), false},
		{"a swap of another value", []byte("x"), []byte("b"), false},
		{"a swap", []byte("a"), []byte("b"), true},
		{"the same swap again", []byte("a"), []byte("c"), false},
	}
	for _, step := range steps {
		got, err := s.Swap(t.Context(), "code", step.old, step.value, expires)
		must(t, err)
		if got != step.want {
			t.Errorf("%s = %v, want %v", step.name, got, step.want)
		}
	}
	got, found, err := s.Get(t.Context(), "code")
	must(t, err)
	if !found || string(got) != "b" {
		t.Errorf("value = %q (%v), want b", got, found)
	}
	if _, found, err := s.Get(t.Context(), "other"); found || err != nil {
		t.Errorf("a key that was never written: found %v, %v", found, err)
	}
}

func TestOfManySwapsOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t).sandbox
	for _, old := range [][]byte{nil, []byte("first")} {
		if old != nil {
			must(t, s.Put(t.Context(), "code", old, now.Add(time.Hour)))
		}
		if won := race(t, 20, func(ctx context.Context, i int) error {
			swapped, err := s.Swap(ctx, "code", old, fmt.Append(nil, "winner ", i), now.Add(time.Hour))
			if err == nil && !swapped {
				return fault.Stale()
			}
			return err
		}); won != 1 {
			t.Errorf("%d of 20 swaps of %q won, want 1", won, old)
		}
	}
}
