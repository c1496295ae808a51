package ddb

import (
	"encoding/json"
	"fmt"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// journalRecord is one committed change. Exactly one of Table, TTL and Items is set; Token goes with Items.
type journalRecord struct {
	Table *tableRecord `json:"table,omitempty"`
	TTL   *ttlRecord   `json:"ttl,omitempty"`
	Items []itemChange `json:"items,omitempty"`
	Token *tokenRecord `json:"token,omitempty"`
}

type tableRecord struct {
	Spec    tableSpec `json:"spec"`
	Created time.Time `json:"created"`
}

// ttlRecord turns time to live on, or off when Attribute is empty.
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

// commit makes a change durable, then visible. The caller holds the write lock, so the journal is in commit order.
func (s *Server) commit(record journalRecord) error {
	if err := s.journal.Append(serviceName, record); err != nil {
		return &wire.Error{Code: "InternalServerError", Message: "journal: " + err.Error(), Status: 500}
	}
	return s.apply(record)
}

// Replay implements wire.Service. Records come in the order of Append; an unreadable one is an error.
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

func (s *Server) apply(record journalRecord) error {
	if record.Table != nil {
		s.tables[record.Table.Spec.TableName] = newTable(record.Table.Spec, record.Table.Created)
	}
	if record.TTL != nil {
		t, err := s.table(record.TTL.Table)
		if err != nil {
			return err
		}
		t.ttlAttribute = record.TTL.Attribute
	}
	for _, change := range record.Items {
		t, err := s.table(change.Table)
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
		if t.put(key, change.Put, s.indexLag) {
			s.late.Store(true)
		}
	}
	if record.Token != nil {
		s.remember(*record.Token)
	}
	return nil
}
