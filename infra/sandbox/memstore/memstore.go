// Package memstore owns the in-memory counterpart of the store of the sandbox's authorization server, for tests that
// mount the sandbox in their own process.
//
// It stores nothing between processes and never drops expired values by itself; a deployed sandbox uses DynamoDB.
package memstore

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// Store implements oauth.Store in a map. The zero value is not ready; use New. It is safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	values map[string][]byte
}

// New returns an empty store.
func New() *Store { return &Store{values: map[string][]byte{}} }

// Put implements oauth.Store.
func (s *Store) Put(_ context.Context, key string, value []byte, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = bytes.Clone(value)

	return nil
}

// Get implements oauth.Store.
func (s *Store) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, found := s.values[key]

	return bytes.Clone(value), found, nil
}

// Swap implements oauth.Store.
func (s *Store) Swap(_ context.Context, key string, old, value []byte, _ time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current, found := s.values[key]
	if found != (old != nil) || !bytes.Equal(current, old) {
		return false, nil
	}
	s.values[key] = bytes.Clone(value)

	return true, nil
}
