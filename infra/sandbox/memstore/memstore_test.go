package memstore_test

import (
	"testing"
	"time"

	"recordbridge/infra/sandbox/memstore"
)

func TestSwapIsACompareAndSwap(t *testing.T) {
	t.Parallel()
	s, ctx, later := memstore.New(), t.Context(), time.Unix(1, 0)
	for _, step := range []struct {
		name       string
		old, value []byte
		want       bool
		holds      string
	}{
		{"absent, but a value is expected", []byte("x"), []byte("a"), false, ""},
		{"created", nil, []byte("a"), true, "a"},
		{"created twice", nil, []byte("b"), false, "a"},
		{"wrong old value", []byte("x"), []byte("b"), false, "a"},
		{"right old value", []byte("a"), []byte("b"), true, "b"},
	} {
		got, err := s.Swap(ctx, "k", step.old, step.value, later)
		if err != nil || got != step.want {
			t.Errorf("%s: %v %v, want %v", step.name, got, err, step.want)
		}
		value, found, err := s.Get(ctx, "k")
		if err != nil || string(value) != step.holds || found != (step.holds != "") {
			t.Errorf("%s: holds %q %v %v, want %q", step.name, value, found, err, step.holds)
		}
	}
}
