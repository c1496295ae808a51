// Package memstore is an in-memory store for the sandbox's authorization server. Tests that run the sandbox in-process
// use this store.
//
// The store neither persists values nor removes expired ones. A deployed sandbox uses DynamoDB instead of this store.
package memstore

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// Store implements oauth.Store with a map. Use New to create a Store. A Store is safe for concurrent use.
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
