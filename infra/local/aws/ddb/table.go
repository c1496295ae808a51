package ddb

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

type attributeDefinition struct{ AttributeName, AttributeType string }

type keyElement struct{ AttributeName, KeyType string }

type projectionSpec struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type indexSpec struct {
	IndexName  string
	KeySchema  []keyElement
	Projection projectionSpec

	ProvisionedThroughput *json.RawMessage `json:",omitempty"` // not supported
}

// keyNames holds the key attribute names of a table or index. If there is no sort key, sort is empty.
type keyNames struct{ partition, sort string }

func keyNamesOf(schema []keyElement) keyNames {
	names := keyNames{partition: schema[0].AttributeName}
	if len(schema) > 1 {
		names.sort = schema[1].AttributeName
	}
	return names
}

func (k keyNames) has(attribute string) bool {
	return attribute != "" && (attribute == k.partition || attribute == k.sort)
}

func (k keyNames) list() []string {
	if k.sort == "" {
		return []string{k.partition}
	}
	return []string{k.partition, k.sort}
}

func (k keyNames) of(it item) item {
	key := item{}
	for _, name := range k.list() {
		key[name] = it[name]
	}
	return key
}

// rowKey encodes an item's key. The encoded key shares memory with the item.
func (k keyNames) rowKey(of attributes) rowKey {
	key := rowKey{partition: of.attribute(k.partition).sortKey()}
	if k.sort != "" {
		key.order = of.attribute(k.sort).sortKey()
	}
	return key
}

type index struct {
	spec indexSpec
	key  keyNames
	rows *tree
	late []entryChange // index changes that are delayed, in write order
}

// table holds a table and its indexes. spec and the fields derived from it never change after creation.
type table struct {
	spec    tableSpec
	created time.Time
	types   map[string]string // key attribute types, by name
	key     keyNames
	rows    *tree
	indexes []*index

	history *history // nil if point-in-time recovery is disabled

	ttlAttribute string // time-to-live attribute; empty if time to live is disabled
}

func newTable(spec tableSpec, created time.Time) *table {
	t := &table{
		spec: spec, created: created, types: map[string]string{}, key: keyNamesOf(spec.KeySchema),
		rows: newTree(nil),
	}
	for _, attribute := range spec.AttributeDefinitions {
		t.types[attribute.AttributeName] = attribute.AttributeType
	}
	for _, indexed := range spec.GlobalSecondaryIndexes {
		key := keyNamesOf(indexed.KeySchema)
		t.indexes = append(t.indexes, &index{spec: indexed, key: key, rows: newTree(indexed.Projection.shown(t.key, key))})
	}
	return t
}

func (t *table) index(name string) *index {
	for _, candidate := range t.indexes {
		if candidate.spec.IndexName == name {
			return candidate
		}
	}
	return nil
}

// mismatchError is a ValidationException for a well-formed request that does not match its table's schema. In a
// transaction, a mismatchError becomes the item's cancellation reason.
type mismatchError struct{ error }

func (m mismatchError) Unwrap() error { return m.error }

func mismatchf(format string, args ...any) error { return mismatchError{invalidf(format, args...)} }

func (t *table) keyOfItem(it item) (rowKey, error) {
	for _, name := range t.key.list() {
		v, ok := it[name]
		if !ok {
			return rowKey{}, mismatchf("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		if want := t.types[name]; v.kind != want {
			return rowKey{}, mismatchf("One or more parameter values were invalid: Type mismatch for key %s expected: %s "+
				"actual: %s", name, want, v.kind)
		}
	}
	return t.place(it)
}

// keyOf returns the row key for a request's Key. Key must contain exactly the key attributes.
func (t *table) keyOf(key item) (rowKey, error) {
	names := t.key.list()
	matches := len(key) == len(names)
	for _, name := range names {
		matches = matches && key[name].kind == t.types[name]
	}
	if !matches {
		return rowKey{}, mismatchf("The provided key element does not match the schema")
	}
	return t.place(key)
}

// place encodes an item's key, and rejects empty and oversized key attributes. The caller must have checked the types
// of the key attributes.
func (t *table) place(it item) (rowKey, error) {
	for _, name := range t.key.list() {
		if v := it[name]; v.text == "" {
			return rowKey{}, invalidf("One or more parameter values are not valid. The AttributeValue for a key attribute "+
				"cannot contain an empty %s value. Key: %s",
				strings.ToLower(operandName(v.kind)), name)
		}
	}
	if len(it[t.key.partition].text) > maxPartitionKeyBytes {
		return rowKey{}, invalidf("One or more parameter values were invalid: Size of hashkey has exceeded the maximum "+
			"size limit of%d bytes", maxPartitionKeyBytes)
	}
	if len(it[t.key.sort].text) > maxSortKeyBytes {
		return rowKey{}, invalidf("One or more parameter values were invalid: Aggregated size of all range keys has "+
			"exceeded the size limit of %d bytes", maxSortKeyBytes)
	}
	return t.key.rowKey(it), nil
}

const (
	maxPartitionKeyBytes = 2048
	maxSortKeyBytes      = 1024
)

// checkIndexKeys rejects an item if an index key attribute has the wrong type, is empty or is too long.
func (t *table) checkIndexKeys(it item) error {
	for _, x := range t.indexes {
		for i, name := range x.key.list() {
			v, ok := it[name]
			if !ok {
				continue
			}
			if want := t.types[name]; v.kind != want {
				return invalidf("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: "+
					"%s IndexName: %s",
					name, want, v.kind, x.spec.IndexName)
			}
			if v.text == "" {
				return invalidf("One or more parameter values are not valid. A value specified for a secondary index key is not "+
					"supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s",
					strings.ToLower(operandName(v.kind)), x.spec.IndexName, name)
			}
			if limit := []int{maxPartitionKeyBytes, maxSortKeyBytes}[i]; len(v.text) > limit {
				return invalidf("One or more parameter values were invalid: Size of index key %s has exceeded the maximum size "+
					"limit of %d bytes", name, limit)
			}
		}
	}
	return nil
}

// put stores an item under key, or removes the row if the item is nil. put updates each index after its own lag, or
// immediately if lag is nil, and reports whether an index update was delayed.
func (t *table) put(key rowKey, it item, lag func(table, index string) time.Duration) (late bool) {
	var old, content packed
	if r := t.rows.find(key); r != nil {
		old = r.item
	}
	if it != nil {
		content = pack(it)
		key = t.key.rowKey(content) // shares memory with the new content, so that the old content can be freed
	}
	for _, x := range t.indexes {
		change := entryChange{row: key}
		change.from, change.wasIn = x.keyOf(old, key)
		if at, isIn := x.keyOf(content, key); isIn {
			change.to = &row{key: at, item: content, size: it.sizeOf(x.rows.shown)}
		}
		if !change.wasIn && change.to == nil {
			continue
		}
		wait := time.Duration(0)
		if lag != nil {
			wait = lag(t.spec.TableName, x.spec.IndexName)
		}
		if x.postpone(change, wait) {
			late = true
		} else {
			x.carryOut(change)
		}
	}
	if it == nil {
		t.rows.remove(key)
	} else {
		t.rows.set(&row{key: key, item: content, size: it.size()})
	}
	return late
}

// keyOf returns an item's key in the index. If the item lacks an index key attribute, it is not in the index and ok is
// false.
func (x *index) keyOf(it attributes, base rowKey) (key rowKey, ok bool) {
	for _, name := range x.key.list() {
		if it.attribute(name).kind == "" {
			return rowKey{}, false
		}
	}
	key = x.key.rowKey(it)
	key.tie = base.joined()
	return key, true
}

// shown returns the names of the attributes that an index projects. If the index projects all attributes, the result is
// nil.
func (p projectionSpec) shown(tableKey, indexKey keyNames) map[string]bool {
	if p.ProjectionType == projectAll {
		return nil
	}
	names := map[string]bool{}
	for _, name := range slices.Concat(tableKey.list(), indexKey.list(), p.NonKeyAttributes) {
		names[name] = true
	}
	return names
}

// joined returns the key as a single string. The string is unambiguous because it starts with the partition's length.
func (k rowKey) joined() string {
	length := binary.BigEndian.AppendUint16(nil, uint16(len(k.partition))) //nolint:gosec // a key is at most 2048 bytes
	return string(length) + k.partition + k.order
}
