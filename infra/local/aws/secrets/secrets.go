// Package secrets owns the embedded Secrets Manager: secrets with versions and staging labels, spoken in AWS JSON
// 1.1. It has no rotation, deletion, replication or resource policies; who starts the embedded AWS generates the
// values that a template asks for with GenerateSecretString. Values lie in the clear in memory and in the journal.
//
// Rules without a source of their own follow the AWS Secrets Manager API reference.
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

	stageCurrent  = "AWSCURRENT"
	stagePrevious = "AWSPREVIOUS"
)

// Server is the service. Create it with New.
type Server struct {
	wire.JSONService

	journal wire.Journal

	mu      sync.RWMutex
	secrets map[string]*secret // by name
}

// secret is one secret as it stands in memory and, after a start, in the journal.
type secret struct {
	Name        string              `json:"name"`
	ARN         string              `json:"arn"`
	Description string              `json:"description,omitempty"`
	Created     time.Time           `json:"created"`
	Changed     time.Time           `json:"changed"`
	Versions    map[string]*version `json:"versions"` // by their ids
	Stages      map[string]string   `json:"stages"`   // staging label to version id
}

// version is one value as it stands in memory and in the journal: text or bytes.
type version struct {
	ID      string    `json:"id"`
	Text    *string   `json:"text,omitempty"`
	Bytes   []byte    `json:"bytes,omitempty"`
	Created time.Time `json:"created"`
}

// New makes an empty service; every change goes into journal before it takes effect.
func New(journal wire.Journal) *Server {
	s := &Server{journal: journal, secrets: map[string]*secret{}}
	s.JSONService = wire.JSONService{ServiceName: serviceName, Version: "1.1", Operations: map[string]wire.Operation{
		"CreateSecret":   wire.Typed(s.createSecret),
		"DescribeSecret": wire.Typed(s.describeSecret),
		"GetSecretValue": wire.Typed(s.getSecretValue),
		"PutSecretValue": wire.Typed(s.putSecretValue),
	}}
	return s
}

// record is one change as it stands in the journal: a new version, of a new secret when ARN is set. A start writes
// whole secrets instead.
type record struct {
	Whole       *secret   `json:"whole,omitempty"`
	Name        string    `json:"name,omitempty"`
	ARN         string    `json:"arn,omitempty"`
	Description string    `json:"description,omitempty"`
	Version     *version  `json:"version,omitempty"` // none when a secret is made without a value
	Stages      []string  `json:"stages,omitempty"`
	At          time.Time `json:"at,omitzero"`
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("secretsmanager record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apply(r)
}

// Dump implements wire.Service.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		if err := emit(record{Whole: s.secrets[name]}); err != nil {
			return err
		}
	}
	return nil
}

// commit stores r and then lets it take effect. The caller holds the mutex.
func (s *Server) commit(r record) error {
	if err := s.journal.Append(serviceName, r); err != nil {
		return err
	}
	return s.apply(r)
}

func (s *Server) apply(r record) error {
	if r.Whole != nil {
		s.secrets[r.Whole.Name] = r.Whole
		return nil
	}
	if r.ARN != "" {
		s.secrets[r.Name] = &secret{
			Name: r.Name, ARN: r.ARN, Description: r.Description, Created: r.At,
			Versions: map[string]*version{}, Stages: map[string]string{},
		}
	}
	found, ok := s.secrets[r.Name]
	if !ok {
		return fmt.Errorf("secretsmanager record: no secret %q", r.Name)
	}
	found.Changed = r.At
	if r.Version != nil {
		found.Versions[r.Version.ID] = r.Version
		found.move(r.Stages, r.Version.ID)
	}
	return nil
}

// move puts staging labels on the version id. The one that loses AWSCURRENT becomes AWSPREVIOUS.
func (s *secret) move(stages []string, id string) {
	for _, stage := range stages {
		if last, ok := s.Stages[stage]; ok && stage == stageCurrent && last != id {
			s.Stages[stagePrevious] = last
		}
		s.Stages[stage] = id
	}
}

// find returns the secret of a name or ARN, with or without the six characters that AWS adds to the name.
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
