package ddb

import (
	"cmp"
	"slices"
	"strings"
)

// rowKey places an item: partition and order are the encoded partition and sort key (order is empty without one), tie
// tells rows of an index with equal keys apart and is empty in a table.
type rowKey struct{ partition, order, tie string }

// row is not modified once it is in a tree. The row of an index has the whole item of its table's, which it shares.
type row struct {
	key  rowKey
	item packed
	size int // of what it shows
}

// tree keeps rows by partition, sorted within it. A sorted slice is enough: an insertion moves pointers only, which
// costs less than the rest of a call up to partitions of some 100 000 rows.
type tree struct {
	partitions map[string][]*row
	count      int
	shown      map[string]bool // the attributes of an index; nil is all
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

// get is nil when there is no such row.
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
		partition = strings.Clone(partition) // the name of a partition stays when its first row changes
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
