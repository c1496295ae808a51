// Package cache keeps in memory what a warm function has read, bounded in number and age. It knows no errors and no
// store: a value that is missing or too old is read again by its user.
package cache

import (
	"container/list"
	"sync"
	"time"
)

// Cache keeps values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	size int
	life time.Duration
	now  func() time.Time

	mu      sync.Mutex
	entries map[K]*list.Element
	oldest  *list.List // of *entry, in the order in which they were put
}

type entry[K comparable, V any] struct {
	key   K
	value V
	at    time.Time
}

// New makes a Cache of at most size values, each for life. In a full one the oldest value makes room.
func New[K comparable, V any](size int, life time.Duration, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{size: size, life: life, now: now, entries: map[K]*list.Element{}, oldest: list.New()}
}

// Get returns the value of key, unless there is none or it is too old.
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

// Put keeps a value from now on.
func (c *Cache[K, V]) Put(key K, value V) { c.put(key, value, c.now()) }

// Load returns the value of key, or that of read, which it keeps. The age of that counts from before it was read.
// Callers that come at the same time each read; errors are not kept.
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
