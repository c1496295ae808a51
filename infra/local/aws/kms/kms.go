// Package kms owns the embedded KMS: symmetric keys that seal with an encryption context and wrap data keys,
// asymmetric keys that sign, and aliases, spoken in AWS JSON 1.1. It has no key policies, grants, rotation, deletion
// or multi-region keys, and it protects nothing: key material lies in the clear in memory and in the journal.
//
// Rules without a source of their own follow the AWS KMS API reference.
package kms

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName = "kms"
	account     = "000000000000"
	arnPrefix   = "arn:aws:kms:us-east-1:" + account + ":"
)

// Server is the service. Create it with New.
type Server struct {
	journal    wire.Journal
	operations map[string]wire.Operation

	mu      sync.RWMutex
	keys    map[string]*key   // by key id
	aliases map[string]string // "alias/name" to key id
}

// New makes an empty service; every change goes into journal before it takes effect.
func New(journal wire.Journal) *Server {
	s := &Server{journal: journal, keys: map[string]*key{}, aliases: map[string]string{}}
	s.operations = map[string]wire.Operation{
		"CreateKey":       wire.Typed(s.createKey),
		"CreateAlias":     wire.Typed(s.createAlias),
		"DescribeKey":     wire.Typed(s.describeKey),
		"GenerateDataKey": wire.Typed(s.generateDataKey),
		"Encrypt":         wire.Typed(s.encrypt),
		"Decrypt":         wire.Typed(s.decrypt),
		"GetPublicKey":    wire.Typed(s.getPublicKey),
		"Sign":            wire.Typed(s.sign),
	}
	return s
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Operation implements wire.Service.
func (s *Server) Operation(r *http.Request) string { return wire.Target(r) }

// Serve implements wire.Service.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, _ wire.Call) {
	wire.ServeJSON(w, r, "1.1", s.operations)
}

// record is one change as it stands in the journal: a new key, or a new alias of one.
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

// commit stores r and then lets it take effect. The caller holds the mutex.
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

// find returns the key of a key id, key ARN, alias name or alias ARN.
func (s *Server) find(keyID string) (*key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	name := strings.TrimPrefix(keyID, arnPrefix)
	if strings.HasPrefix(name, "alias/") {
		k, ok := s.keys[s.aliases[name]]
		if !ok {
			return nil, wire.Fail("NotFoundException", "Alias %s is not found.", arnPrefix+name)
		}
		return k, nil
	}
	k, ok := s.keys[strings.TrimPrefix(name, "key/")]
	if !ok {
		return nil, wire.Fail("NotFoundException", "Key '%s' does not exist", arnPrefix+"key/"+strings.TrimPrefix(name, "key/"))
	}
	return k, nil
}
