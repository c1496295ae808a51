package ddb

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// This file implements table inspection for the console. Inspection is not a DynamoDB operation, so Recordbridge's
// functions can't use it, and Scan remains unsupported.

// TableInfo describes a table for display in the console.
type TableInfo struct {
	Name      string      `json:"name"`
	Partition string      `json:"partition"`      // partition key name
	Sort      string      `json:"sort,omitempty"` // sort key name, if the table has one
	Expires   string      `json:"expires,omitempty"`
	Rows      int         `json:"rows"`
	Indexes   []IndexInfo `json:"indexes"`
}

// IndexInfo describes one secondary index of a table.
type IndexInfo struct {
	Name      string `json:"name"`
	Partition string `json:"partition"`
	Sort      string `json:"sort,omitempty"`
	Rows      int    `json:"rows"`
}

// Position selects where browsing a table or index starts.
type Position struct {
	Table  string
	Index  string // index to browse; "" for the table itself
	Prefix string // prefix of the partition key's text; "" for all partitions
	From   string // value of Page.Next from the previous page; "" for the first page
	Limit  int    // rows per page, at least 1
}

// Page is a page of rows from a table or index, in key order. Unlike in DynamoDB, partitions are sorted by the bytes of
// their keys.
type Page struct {
	Rows []Row
	Next string // start of the next page; "" on the last page
}

// Row is a row of a table or index. Values are in DynamoDB's JSON wire format, such as {"S": "text"}.
type Row struct {
	ID   string                     // row ID for Server.Row
	Keys []string                   // key attribute names, with an index's own before the table's
	Item map[string]json.RawMessage // attributes that the table stores or the index projects
	Size int                        // size in bytes, as DynamoDB counts it
}

type view struct{ *ledger }

// Tables returns every table, sorted by name.
func (v view) Tables() []TableInfo {
	v.applyDue()
	v.mu.RLock()
	defer v.mu.RUnlock()
	all := make([]TableInfo, 0, len(v.tables))
	for _, name := range slices.Sorted(maps.Keys(v.tables)) {
		t := v.tables[name]
		info := TableInfo{
			Name: name, Partition: t.key.partition, Sort: t.key.sort, Expires: t.ttlAttribute,
			Rows: t.rows.count, Indexes: make([]IndexInfo, len(t.indexes)),
		}
		for i, x := range t.indexes {
			info.Indexes[i] = IndexInfo{Name: x.spec.IndexName, Partition: x.key.partition, Sort: x.key.sort, Rows: x.rows.count}
		}
		all = append(all, info)
	}
	return all
}

// Browse returns the page that starts at p. Browse returns ResourceNotFoundException for an unknown table, and
// ValidationException for an unknown index or an invalid position.
func (v view) Browse(p Position) (Page, error) {
	from, err := parsePosition(p.From)
	if err != nil {
		return Page{}, err
	}
	v.applyDue()
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.browse(p, from)
}

// Row returns one row of a table or, if index is not empty, of that index. If the row no longer exists, ok is false.
// Row returns the same errors as Browse.
func (v view) Row(table, index, id string) (found Row, ok bool, err error) {
	at, err := parsePosition(id)
	if err != nil {
		return Row{}, false, err
	}
	v.applyDue()
	v.mu.RLock()
	defer v.mu.RUnlock()
	rows, keys, err := v.browsed(table, index)
	if err != nil {
		return Row{}, false, err
	}
	partition := rows.partitions[at.partition]
	i, ok := findRow(partition, at)
	if !ok {
		return Row{}, false, nil
	}
	return rows.show(partition[i], keys), true, nil
}

// browsed returns the rows and key names of the table or index to browse. The caller must hold the lock.
func (v view) browsed(table, index string) (rows *tree, keys []string, err error) {
	t, err := v.table(table)
	if err != nil {
		return nil, nil, err
	}
	if index == "" {
		return t.rows, t.key.list(), nil
	}
	x := t.index(index)
	if x == nil {
		return nil, nil, invalidf("The table does not have the specified index: %s", index)
	}
	keys = x.key.list()
	for _, name := range t.key.list() {
		if !x.key.has(name) {
			keys = append(keys, name)
		}
	}
	return x.rows, keys, nil
}

// browse implements Browse. The caller must hold the lock.
func (v view) browse(p Position, from rowKey) (Page, error) {
	all, keys, err := v.browsed(p.Table, p.Index)
	if err != nil {
		return Page{}, err
	}
	page, limit := Page{Rows: []Row{}}, max(p.Limit, 1)
	for _, name := range all.partitionsFrom(from.partition, p.Prefix, keys[0]) {
		rows, first := all.partitions[name], 0
		if name == from.partition {
			first, _ = findRow(rows, from)
		}
		for _, r := range rows[first:] {
			if len(page.Rows) == limit {
				page.Next = r.key.position()
				return page, nil
			}
			page.Rows = append(page.Rows, all.show(r, keys))
		}
	}
	return page, nil
}

// partitionsFrom returns, in order, the partitions at or after first whose key attribute starts with prefix.
func (t *tree) partitionsFrom(first, prefix, attribute string) []string {
	var names []string
	for name, rows := range t.partitions {
		if name >= first && len(rows) > 0 && strings.HasPrefix(rows[0].item.attribute(attribute).text, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *tree) show(r *row, keys []string) Row {
	it := t.read(r)
	shown := Row{ID: r.key.position(), Keys: keys, Item: make(map[string]json.RawMessage, len(it)), Size: r.size}
	for name, v := range it {
		shown.Item[name] = v.appendJSON(nil)
	}
	return shown
}

// position encodes a key for use in a URL.
func (k rowKey) position() string {
	parts := make([]string, 3)
	for i, part := range []string{k.partition, k.order, k.tie} {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(part))
	}
	return strings.Join(parts, ".")
}

func parsePosition(text string) (rowKey, error) {
	if text == "" {
		return rowKey{}, nil
	}
	parts := strings.Split(text, ".")
	var k rowKey
	fields := []*string{&k.partition, &k.order, &k.tie}
	if len(parts) != len(fields) {
		return rowKey{}, invalidf("The position is invalid")
	}
	for i, field := range fields {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return rowKey{}, invalidf("The position is invalid: %v", err)
		}
		*field = string(raw)
	}
	return k, nil
}

// Damage corrupts one attribute of a row to simulate a bug or a broken disk. Damage flips the last bit of a binary
// value, and replaces any other value with the text "damaged". If the attribute does not exist or is part of a key, ok
// is false. Damage returns the same errors as Row, or an error if the journal fails.
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
