package ddb

import (
	"cmp"
	"slices"
	"strings"
)

// rowKey is a row's key. partition and order are the encoded partition key and sort key. If there is no sort key, order
// is empty. In an index, tie distinguishes rows with equal keys. In a table, tie is empty.
type rowKey struct{ partition, order, tie string }

// row is immutable once it is in a tree. An index's row shares the complete item with the table's row.
type row struct {
	key  rowKey
	item packed
	size int // size of the projected attributes in bytes
}

// tree stores rows by partition, sorted within each partition. A sorted slice is fast enough because insertion moves
// only pointers. In partitions of up to about 100 000 rows, inserting a row costs less than the rest of a call.
type tree struct {
	partitions map[string][]*row
	count      int
	shown      map[string]bool // attributes that an index projects; nil means all attributes
}

func newTree(shown map[string]bool) *tree {
	return &tree{partitions: map[string][]*row{}, shown: shown}
}

func findRow(rows []*row, key rowKey) (int, bool) {
	return slices.BinarySearchFunc(rows, key, func(r *row, key rowKey) int {
		return cmp.Or(cmp.Compare(r.key.order, key.order), cmp.Compare(r.key.tie, key.tie))
	})
}

func (t *tree) find(key rowKey) *row {
	rows := t.partitions[key.partition]
	if i, found := findRow(rows, key); found {
		return rows[i]
	}
	return nil
}

func (t *tree) get(key rowKey) item {
	if r := t.find(key); r != nil {
		return t.read(r)
	}
	return nil
}

func (t *tree) read(r *row) item { return r.item.item(t.shown) }

func (t *tree) set(fresh *row) {
	rows := t.partitions[fresh.key.partition]
	i, found := findRow(rows, fresh.key)
	if found {
		rows[i] = fresh
		return
	}
	partition := fresh.key.partition
	if len(rows) == 0 {
		partition = strings.Clone(partition) // copied, because the map key outlives the partition's first row
	}
	t.partitions[partition] = slices.Insert(rows, i, fresh)
	t.count++
}

func (t *tree) remove(key rowKey) {
	rows := t.partitions[key.partition]
	i, found := findRow(rows, key)
	if !found {
		return
	}
	t.count--
	if len(rows) == 1 {
		delete(t.partitions, key.partition)
		return
	}
	t.partitions[key.partition] = slices.Delete(rows, i, i+1)
}
