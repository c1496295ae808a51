package cache_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/shared/words/cache"
)

// clock returns a time that tests can advance.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.passed.Load()) }

func (c *clock) pass(d time.Duration) { c.passed.Add(int64(d)) }

func want(t *testing.T, c *cache.Cache[string, int], key string, value int) {
	t.Helper()
	got, ok := c.Get(key)
	if got != value || ok != (value != 0) {
		t.Errorf("%s has %d, %v; want %d", key, got, ok, value)
	}
}

func TestCacheExpiresValues(t *testing.T) {
	t.Parallel()
	var moving clock
	c := cache.New[string, int](2, time.Minute, moving.now)
	want(t, c, "a", 0)
	c.Put("a", 1)
	moving.pass(time.Minute - 1)
	want(t, c, "a", 1)
	moving.pass(1)
	want(t, c, "a", 0)
	c.Put("a", 2)
	want(t, c, "a", 2)
}

func TestCacheEvictsOldestValueWhenFull(t *testing.T) {
	t.Parallel()
	var moving clock
	c := cache.New[string, int](2, time.Hour, moving.now)
	c.Put("a", 1)
	c.Put("b", 2)
	c.Put("a", 3) // replaces the value, so a is now newer than b
	want(t, c, "b", 2)
	c.Put("c", 4)
	want(t, c, "a", 3)
	want(t, c, "b", 0)
	want(t, c, "c", 4)
	c.Put("d", 5)
	want(t, c, "a", 0)
	want(t, c, "c", 4)
	want(t, c, "d", 5)
}

func TestLoadMeasuresCacheAgeFromStartOfLoad(t *testing.T) {
	t.Parallel()
	var moving clock
	c := cache.New[string, int](2, time.Minute, moving.now)
	reads := 0
	load := func(result int, err error) {
		t.Helper()
		got, failure := c.Load("a", func() (int, error) {
			reads++
			moving.pass(20 * time.Second)
			return reads, err
		})
		if got != result || !errors.Is(failure, err) {
			t.Errorf("got %d, %v; want %d, %v", got, failure, result, err)
		}
	}
	load(1, errors.New("no answer"))
	load(2, nil)
	moving.pass(40*time.Second - 1)
	load(2, nil)
	moving.pass(1)
	load(3, nil)
}

func TestCacheEnforcesSizeWithConcurrentWriters(t *testing.T) {
	t.Parallel()
	var moving clock
	c := cache.New[int, int](8, time.Hour, moving.now)
	var group sync.WaitGroup
	for writer := range 8 {
		group.Go(func() {
			for i := range 200 {
				c.Put(i%(writer+5), i)
				_, _ = c.Load(i%7, func() (int, error) { return i, nil })
			}
		})
	}
	group.Wait()
	kept := 0
	for key := range 200 {
		if _, ok := c.Get(key); ok {
			kept++
		}
	}
	if kept != 8 {
		t.Errorf("%d values are kept, want 8", kept)
	}
}
