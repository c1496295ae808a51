// Package cache provides an in-memory cache with a maximum size and age, for values that a warm function has read.
// Cache doesn't load values or return errors. The caller must reload a missing or expired value.
package cache

import (
	"container/list"
	"sync"
	"time"
)

// Cache maps keys to values that expire. A Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	size int
	life time.Duration
	now  func() time.Time

	mu      sync.Mutex
	entries map[K]*list.Element
	oldest  *list.List // *entry values in insertion order
}

type entry[K comparable, V any] struct {
	key   K
	value V
	at    time.Time
}

// New returns a Cache that holds at most size values. Each value expires once it is older than life. A full cache
// evicts its oldest value.
func New[K comparable, V any](size int, life time.Duration, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{size: size, life: life, now: now, entries: map[K]*list.Element{}, oldest: list.New()}
}

// Get returns the value stored for key. ok is false if the value does not exist or has expired.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[key]
	if !ok {
		return value, false
	}
	found := at.Value.(*entry[K, V])
	if c.now().Sub(found.at) >= c.life {
		return value, false
	}
	return found.value, true
}

// Put stores value for key. The value's age is measured from the call to Put.
func (c *Cache[K, V]) Put(key K, value V) { c.put(key, value, c.now()) }

// Load returns the cached value for key. If there is no cached value, Load calls read and caches the result. The
// value's age is measured from the start of the call to read. If several callers request a missing value at once, each
// calls read. Errors are not cached.
func (c *Cache[K, V]) Load(key K, read func() (V, error)) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	began := c.now()
	value, err := read()
	if err == nil {
		c.put(key, value, began)
	}
	return value, err
}

func (c *Cache[K, V]) put(key K, value V, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.entries[key]; ok {
		c.oldest.Remove(known)
	} else if len(c.entries) >= c.size {
		first := c.oldest.Remove(c.oldest.Front()).(*entry[K, V])
		delete(c.entries, first.key)
	}
	c.entries[key] = c.oldest.PushBack(&entry[K, V]{key, value, at})
}
