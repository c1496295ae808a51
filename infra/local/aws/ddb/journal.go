package ddb

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// journalRecord is a committed change. At most one of Table, TTL and Items is set. Token can be set together with
// Items, or alone if a transaction changed no items.
type journalRecord struct {
	Table *tableRecord `json:"table,omitempty"`
	TTL   *ttlRecord   `json:"ttl,omitempty"`
	Items []itemChange `json:"items,omitempty"`
	Token *tokenRecord `json:"token,omitempty"`
	// Dropped is the name of a deleted table.
	Dropped string `json:"dropped,omitempty"`
}

type tableRecord struct {
	Spec    tableSpec `json:"spec"`
	Created time.Time `json:"created"`
}

// ttlRecord enables a table's time to live, or disables it if Attribute is empty.
type ttlRecord struct {
	Table     string `json:"table"`
	Attribute string `json:"attribute,omitempty"`
}

// itemChange is a row's new content (Put) or the key of a removed row (Removed).
type itemChange struct {
	Table   string `json:"table"`
	Put     item   `json:"put,omitzero"`
	Removed item   `json:"removed,omitzero"`
}

type ledger struct {
	journal wire.Journal

	mu         sync.RWMutex
	tables     map[string]*table
	tokens     map[string]tokenUse
	tokenSweep int // number of stored tokens at which expired ones are removed
	inFlight   map[rowAddress]bool
	indexLag   func(table, index string) time.Duration
	late       atomic.Bool // true if an index has changes that are not yet visible
}

// commit appends a change to the journal and then makes it visible. The caller must hold the write lock to keep the
// journal's records in commit order.
func (l *ledger) commit(record journalRecord) error {
	if err := l.journal.Append(serviceName, record); err != nil {
		return &wire.Error{Code: "InternalServerError", Message: "journal: " + err.Error(), Status: 500}
	}
	return l.apply(record)
}

// Replay implements wire.Service. Records must be replayed in the order in which they were appended. Replay returns an
// error for a record that can't be decoded or applied.
func (s *Server) Replay(record json.RawMessage) error {
	var change journalRecord
	if err := json.Unmarshal(record, &change); err != nil {
		return fmt.Errorf("read DynamoDB journal record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.apply(change); err != nil {
		return fmt.Errorf("apply DynamoDB journal record: %w", err)
	}
	return nil
}

func (l *ledger) apply(record journalRecord) error {
	if record.Table != nil {
		l.tables[record.Table.Spec.TableName] = newTable(record.Table.Spec, record.Table.Created)
	}
	delete(l.tables, record.Dropped)
	if record.TTL != nil {
		t, err := l.table(record.TTL.Table)
		if err != nil {
			return err
		}
		t.ttlAttribute = record.TTL.Attribute
	}
	for _, change := range record.Items {
		t, err := l.table(change.Table)
		if err != nil {
			return err
		}
		keyHolder := change.Put
		if keyHolder == nil {
			keyHolder = change.Removed
		}
		key, err := t.keyOfItem(keyHolder)
		if err != nil {
			return err
		}
		if t.history != nil {
			t.history.add(t, key)
		}
		if t.put(key, change.Put, l.indexLag) {
			l.late.Store(true)
		}
	}
	if record.Token != nil {
		l.remember(*record.Token)
	}
	return nil
}

// Dump implements wire.Service, emitting the tables, then the rows, and finally the tokens of transactions that callers
// may still repeat.
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
