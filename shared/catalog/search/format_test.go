package search_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/search"
)

func written(tb testing.TB, entries []search.Entry) []byte {
	tb.Helper()
	x, err := search.Build(entries)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestIndexRoundTrips(t *testing.T) {
	t.Parallel()
	for _, entries := range [][]search.Entry{nil, town()} {
		x, err := search.Read(bytes.NewReader(written(t, entries)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(found(t, indexOf(t, entries), search.Query{Text: "harbor clinc"}),
			found(t, x, search.Query{Text: "harbor clinc"})); diff != "" || x.Len() != len(entries) {
			t.Errorf("%d brands (-built +read):\n%s", x.Len(), diff)
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	backwards := town()
	slices.Reverse(backwards)
	if !bytes.Equal(written(t, town()), written(t, backwards)) {
		t.Error("the order of entries can be seen")
	}
}

func TestBuildRejectsDuplicateID(t *testing.T) {
	t.Parallel()
	if _, err := search.Build([]search.Entry{town()[0], town()[0]}); err == nil {
		t.Error("two brands have one id")
	}
}

// TestReadRejectsDamagedIndex changes each byte of an index, and truncates it at each position.
func TestReadRejectsDamagedIndex(t *testing.T) {
	t.Parallel()
	whole := written(t, town()[:2])
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x20
		if _, err := search.Read(bytes.NewReader(damaged)); err == nil {
			t.Fatalf("byte %d is another, and nobody sees it", i)
		}
		if _, err := search.Read(bytes.NewReader(whole[:i])); err == nil {
			t.Fatalf("%d of %d bytes are an index", i, len(whole))
		}
	}
}

// headSize is the combined size of the magic, the size field and the checksum.
const headSize = len("rb-catalog-index 1\n") + 8

// TestReadRejectsInvalidReferences checks that invalid references with a valid checksum are rejected or harmless.
func TestReadRejectsInvalidReferences(t *testing.T) {
	t.Parallel()
	skipInShort(t)
	body := written(t, []search.Entry{brand("St. Odo|Quarrytown VT 05001", "Odo")})[headSize:]
	for i := range body {
		for _, other := range []byte{0xff, 0x80, body[i] + 1, body[i] - 1} {
			damaged := bytes.Clone(body)
			damaged[i] = other
			readAndSearch(t, damaged)
		}
	}
}

// readAndSearch opens an index from the data that follows the header. If the index is valid, readAndSearch runs a
// search of every kind.
func readAndSearch(t *testing.T, body []byte) {
	t.Helper()
	whole := append([]byte("rb-catalog-index 1\n"), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(whole[headSize-8:], uint32(len(body)))
	binary.LittleEndian.PutUint32(whole[headSize-4:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	x, err := search.Read(bytes.NewReader(append(whole, body...)))
	if err != nil {
		return
	}
	for _, text := range []string{
		"", "velamar clnic", "velamarclinic st odo", "stodo", "hosp e", "ear nose throat",
		"chm 44101 oh",
	} {
		page, err := x.Search(search.Query{Text: text, Size: 3, ByLocation: len(text) > 10, ZIPs: []string{"44101"}})
		if err == nil && (len(page.Hits) > page.Total || page.Total > x.Len()) {
			t.Errorf("%q: %d hits of %d in %d brands", text, len(page.Hits), page.Total, x.Len())
		}
	}
}

// FuzzRead checks that data with a valid checksum is either rejected or searchable.
func FuzzRead(f *testing.F) {
	for _, entries := range [][]search.Entry{nil, town()[:1], town()[3:9]} {
		f.Add(written(f, entries)[headSize:])
	}
	f.Fuzz(readAndSearch)
}
