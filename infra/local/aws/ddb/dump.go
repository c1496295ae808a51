package ddb

import (
	"maps"
	"slices"
	"time"
)

// Dump implements wire.Service: the tables, then their rows, then the tokens of transactions that may still be
// repeated.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if err := s.tables[name].dump(emit); err != nil {
			return err
		}
	}
	now := time.Now()
	for _, token := range slices.Sorted(maps.Keys(s.tokens)) {
		use := s.tokens[token]
		if now.Sub(use.at) >= tokenLife {
			continue
		}
		if err := emit(journalRecord{Token: &tokenRecord{Token: token, Request: use.request[:], At: use.at}}); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) dump(emit func(record any) error) error {
	if err := emit(journalRecord{Table: &tableRecord{Spec: t.spec, Created: t.created}}); err != nil {
		return err
	}
	if t.ttlAttribute != "" {
		if err := emit(journalRecord{TTL: &ttlRecord{Table: t.spec.TableName, Attribute: t.ttlAttribute}}); err != nil {
			return err
		}
	}
	for _, partition := range slices.Sorted(maps.Keys(t.rows.partitions)) {
		for _, row := range t.rows.partitions[partition] {
			if err := emit(journalRecord{Items: []itemChange{{Table: t.spec.TableName, Put: t.rows.read(row)}}}); err != nil {
				return err
			}
		}
	}
	return nil
}
