// Package secrets implements an embedded AWS Secrets Manager (AWS JSON 1.1). The service stores named text secrets,
// each with only its current version. Earlier versions, staging labels, rotation, deletion, replication and resource
// policies are not supported. The program that starts the embedded AWS generates the values that a template requests
// with GenerateSecretString. Values are in plain text in memory and in the journal.
//
// Rules without a cited source follow the AWS Secrets Manager API reference.
package secrets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName = "secretsmanager"
	arnPrefix   = "arn:aws:secretsmanager:us-east-1:000000000000:secret:"
)

// Server is the Secrets Manager service. Use New to create a Server.
type Server struct {
	wire.JSONService

	journal wire.Journal

	mu      sync.RWMutex
	secrets map[string]*secret
}

// secret is a stored secret and its journal record.
type secret struct {
	Name    string   `json:"name"`
	ARN     string   `json:"arn"`
	Current *version `json:"current"`
}

type version struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

// New returns a service that has no secrets. Every change is appended to journal before it is applied.
func New(journal wire.Journal) *Server {
	s := &Server{journal: journal, secrets: map[string]*secret{}}
	s.JSONService = wire.JSONService{ServiceName: serviceName, Version: "1.1", Operations: map[string]wire.Operation{
		"CreateSecret":   wire.Typed(s.createSecret),
		"GetSecretValue": wire.Typed(s.getSecretValue),
		"PutSecretValue": wire.Typed(s.putSecretValue),
	}}
	return s
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var next secret
	if err := json.Unmarshal(raw, &next); err != nil {
		return fmt.Errorf("secretsmanager record: %w", err)
	}
	if next.Current == nil {
		return fmt.Errorf("secretsmanager record: secret %q without a version", next.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[next.Name] = &next
	return nil
}

// Dump implements wire.Service.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		if err := emit(s.secrets[name]); err != nil {
			return err
		}
	}
	return nil
}

// commit journals next and then applies it. The caller must hold the mutex.
func (s *Server) commit(next secret) error {
	if err := s.journal.Append(serviceName, next); err != nil {
		return err
	}
	s.secrets[next.Name] = &next
	return nil
}

// find returns the secret with this name or ARN. The ARN may omit the six characters that AWS appends to the name.
func (s *Server) find(secretID string) (*secret, error) {
	if secretID == "" {
		return nil, wire.Fail("InvalidParameterException", "You must provide a value for the SecretId parameter.")
	}
	name, isARN := strings.CutPrefix(secretID, arnPrefix)
	if found, ok := s.secrets[name]; ok {
		return found, nil
	}
	if cut := strings.LastIndexByte(name, '-'); isARN && cut > 0 {
		if found, ok := s.secrets[name[:cut]]; ok && found.ARN == secretID {
			return found, nil
		}
	}
	return nil, wire.Fail("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
}
