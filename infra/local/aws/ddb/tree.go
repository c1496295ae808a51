package ddb

import (
	"cmp"
	"slices"
)

// rowKey places an item: partition and order are the encoded partition and sort key (order is empty without one), tie
// tells rows of an index with equal keys apart and is empty in a table.
type rowKey struct{ partition, order, tie string }

// row is not modified once it is in a tree.
type row struct {
	key  rowKey
	item item
	size int
}

// tree keeps rows by partition, sorted within it. A sorted slice is enough: an insertion moves pointers only, which
// costs less than the rest of a call up to partitions of some 100 000 rows.
type tree struct {
	partitions map[string][]*row
	count      int
}

func newTree() *tree { return &tree{partitions: map[string][]*row{}} }

func findRow(rows []*row, key rowKey) (int, bool) {
	return slices.BinarySearchFunc(rows, key, func(r *row, key rowKey) int {
		return cmp.Or(cmp.Compare(r.key.order, key.order), cmp.Compare(r.key.tie, key.tie))
	})
}

func (t *tree) get(key rowKey) item {
	rows := t.partitions[key.partition]
	if i, found := findRow(rows, key); found {
		return rows[i].item
	}
	return nil
}

func (t *tree) set(key rowKey, it item) {
	rows := t.partitions[key.partition]
	i, found := findRow(rows, key)
	fresh := &row{key: key, item: it, size: it.size()}
	if found {
		rows[i] = fresh
		return
	}
	t.partitions[key.partition] = slices.Insert(rows, i, fresh)
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
