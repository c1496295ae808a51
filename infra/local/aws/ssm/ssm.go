// Package ssm implements an embedded Systems Manager Parameter Store (AWS JSON 1.1). The service stores named
// parameters with version numbers. Secure strings, lists, hierarchy queries, history, labels, policies and tags are not
// supported.
//
// Rules without a cited source follow the AWS Systems Manager API reference.
package ssm

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
	serviceName = "ssm"
	arnPrefix   = "arn:aws:ssm:us-east-1:000000000000:parameter"
)

// Server is the Parameter Store service. Use New to create a Server.
type Server struct {
	wire.JSONService

	journal wire.Journal

	mu         sync.RWMutex
	parameters map[string]parameter
}

// parameter is a stored parameter and its journal record.
type parameter struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Value    string    `json:"value"`
	Version  int64     `json:"version"`
	Modified time.Time `json:"modified"`
}

// New returns a service that has no parameters. Every change is appended to journal before it is applied.
func New(journal wire.Journal) *Server {
	s := &Server{journal: journal, parameters: map[string]parameter{}}
	s.JSONService = wire.JSONService{ServiceName: serviceName, Version: "1.1", Operations: map[string]wire.Operation{
		"GetParameter": wire.Typed(s.getParameter),
		"PutParameter": wire.Typed(s.putParameter),
	}}
	return s
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var p parameter
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("ssm record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parameters[p.Name] = p
	return nil
}

// Dump implements wire.Service.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(s.parameters)) {
		if err := emit(s.parameters[name]); err != nil {
			return err
		}
	}
	return nil
}

// arn returns the parameter's ARN, which has a slash before the name.
func (p parameter) arn() string { return arnPrefix + "/" + strings.TrimPrefix(p.Name, "/") }
