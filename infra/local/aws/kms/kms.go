// Package kms implements an embedded AWS KMS (AWS JSON 1.1). It supports symmetric keys that encrypt with an encryption
// context and wrap data keys, asymmetric keys that sign, and aliases. Key policies, grants, rotation, deletion and
// multi-region keys are not supported. The service does not protect keys: key material is in plain text in memory and
// in the journal.
//
// Rules without a cited source follow the AWS KMS API reference.
package kms

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName = "kms"
	account     = "000000000000"
	arnPrefix   = "arn:aws:kms:us-east-1:" + account + ":"
	maxKeyID    = 2048
)

// Server is the KMS service. Use New to create a Server.
type Server struct {
	wire.JSONService

	journal wire.Journal

	mu      sync.RWMutex
	keys    map[string]*key
	aliases map[string]string // key IDs by alias name ("alias/name")
}

// New returns a service that has no keys. Every change is appended to journal before it is applied.
func New(journal wire.Journal) *Server {
	s := &Server{journal: journal, keys: map[string]*key{}, aliases: map[string]string{}}
	s.JSONService = wire.JSONService{ServiceName: serviceName, Version: "1.1", Operations: map[string]wire.Operation{
		"CreateKey":       wire.Typed(s.createKey),
		"CreateAlias":     wire.Typed(s.createAlias),
		"DescribeKey":     wire.Typed(s.describeKey),
		"DisableKey":      wire.Typed(s.disableKey),
		"EnableKey":       wire.Typed(s.enableKey),
		"GenerateDataKey": wire.Typed(s.generateDataKey),
		"Decrypt":         wire.Typed(s.decrypt),
		"GetPublicKey":    wire.Typed(s.getPublicKey),
		"Sign":            wire.Typed(s.sign),
	}}
	return s
}

// record is a journalled change: a new or changed key, or a new alias.
type record struct {
	Key    *storedKey `json:"key,omitempty"`
	Alias  string     `json:"alias,omitempty"`
	Target string     `json:"target,omitempty"`
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("kms record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apply(r)
}

// Dump implements wire.Service, emitting the keys, then their aliases.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(s.keys)) {
		if err := emit(record{Key: &s.keys[id].storedKey}); err != nil {
			return err
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(s.aliases)) {
		if err := emit(record{Alias: alias, Target: s.aliases[alias]}); err != nil {
			return err
		}
	}
	return nil
}

// commit journals r and then applies it. The caller must hold the mutex.
func (s *Server) commit(r record) error {
	if err := s.journal.Append(serviceName, r); err != nil {
		return err
	}
	return s.apply(r)
}

func (s *Server) apply(r record) error {
	if r.Key == nil {
		s.aliases[r.Alias] = r.Target
		return nil
	}
	k, err := loadKey(*r.Key)
	if err != nil {
		return err
	}
	s.keys[k.ID] = k
	return nil
}

// find returns the key with the given key ID, key ARN, alias name or alias ARN, or KMS's error if the key does not
// exist.
func (s *Server) find(keyID string) (*key, error) {
	if keyID == "" || len(keyID) > maxKeyID {
		return nil, invalid("keyId", "Member must have length between 1 and %d", maxKeyID)
	}
	name, isARN := strings.CutPrefix(keyID, arnPrefix)
	id, isKeyARN := strings.CutPrefix(name, "key/")
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case strings.HasPrefix(keyID, "arn:") && !isARN:
		return nil, wire.Fail("NotFoundException", "Invalid arn %s", keyID)
	case strings.HasPrefix(name, "alias/"):
		if k, ok := s.keys[s.aliases[name]]; ok {
			return k, nil
		}
		return nil, wire.Fail("NotFoundException", "Alias %s is not found.", arnPrefix+name)
	case isARN != isKeyARN:
		return nil, wire.Fail("NotFoundException", "Invalid keyId '%s'", keyID)
	}
	if k, ok := s.keys[id]; ok {
		return k, nil
	}
	return nil, wire.Fail("NotFoundException", "Key '%s' does not exist", arnPrefix+"key/"+id)
}

// usable is like find, but returns an error if the key is disabled.
func (s *Server) usable(keyID string) (*key, error) {
	k, err := s.find(keyID)
	if err == nil && k.Disabled {
		return nil, wire.Fail("DisabledException", "%s is disabled.", k.arn())
	}
	return k, err
}

// invalid returns KMS's validation error for a request field.
func invalid(member, format string, args ...any) error {
	return wire.Fail("ValidationException", "1 validation error detected: Value at '%s' failed to satisfy constraint: %s",
		member, fmt.Sprintf(format, args...))
}
