package ddb

import "slices"

// Damage spoils an attribute of a row, as a mistake or a broken disk would, for people who want to see what comes of
// it: of a binary value the last bit, anything else becomes the text "damaged". The errors are those of Row; ok is
// false when there is no such attribute, or it is part of a key, so that the row would be another one.
func (s *Server) Damage(table, id, attribute string) (ok bool, err error) {
	at, err := parsePosition(id)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(table)
	if err != nil {
		return false, err
	}
	row := t.rows.get(at)
	whole, there := row[attribute]
	isKey := t.key.has(attribute) || slices.ContainsFunc(t.indexes, func(x *index) bool { return x.key.has(attribute) })
	if !there || isKey {
		return false, nil
	}
	spoiled := value{kind: typeString, text: "damaged"}
	if last := len(whole.text) - 1; whole.kind == typeBinary && last >= 0 {
		spoiled = value{kind: typeBinary, text: whole.text[:last] + string([]byte{whole.text[last] ^ 1})}
	}
	row[attribute] = spoiled
	return true, s.commit(journalRecord{Items: []itemChange{{Table: table, Put: row}}})
}
