package records_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const connID = "c0000000-0000-4000-8000-000000000001"

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	noon       = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	errTrouble = errors.New("trouble on our side")
)

// objects is a bucket that accepts a limited number of writes.
type objects struct {
	kept   map[string][]byte
	accept int // number of writes still accepted; negative if unlimited
}

func (o *objects) Put(_ context.Context, key, _ string, body []byte) error {
	if o.accept == 0 {
		return errTrouble
	}
	o.accept--
	o.kept[key] = bytes.Clone(body)
	return nil
}

func (o *objects) Open(_ context.Context, key string) (io.ReadCloser, error) {
	body, ok := o.kept[key]
	if !ok {
		return nil, fault.Missing("no object")
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func (o *objects) List(_ context.Context, prefix string) ([]string, error) {
	var found []string
	for key := range o.kept {
		if strings.HasPrefix(key, prefix) {
			found = append(found, key)
		}
	}
	return found, nil
}

func (o *objects) Delete(_ context.Context, key string) error {
	delete(o.kept, key)
	return nil
}

// sealer is a fake cipher that inverts every bit and checks the binding.
type sealer struct{}

func (sealer) Seal(_ context.Context, of org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return turned(append([]byte(of.Key()+" "+boundTo+"\n"), plain...)), nil
}

func (sealer) Open(_ context.Context, of org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(turned(sealed), []byte(of.Key()+" "+boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return plain, nil
}

func turned(text []byte) []byte {
	other := make([]byte, len(text))
	for i, b := range text {
		other[i] = ^b
	}
	return other
}

type world struct {
	objects *objects
	cache   records.Cache
	reader  records.Reader
	remover records.Remover
}

func newWorld() world {
	kept, made := &objects{kept: map[string][]byte{}, accept: -1}, 0
	return world{
		objects: kept,
		cache: records.Cache{
			Objects: kept, Sealer: sealer{}, Now: func() time.Time { return noon },
			NewID: func() string { made++; return fmt.Sprint("batch-", made) },
		},
		reader: records.Reader{Objects: kept, Sealer: sealer{}}, remover: records.Remover{Objects: kept},
	}
}

// feed returns a Feed that overwrites each resource after passing it to put, which must therefore copy it.
func feed(resources []string) records.Feed {
	return func(put func([]byte) error) error {
		for _, one := range resources {
			lent := []byte(one)
			if err := put(lent); err != nil {
				return err
			}
			clear(lent)
		}
		return nil
	}
}

func (w world) write(t *testing.T, content records.Content) tokens.Records {
	t.Helper()
	held, err := w.cache.Write(t.Context(), tenant, connID, content)
	expect.NoError(t, err)
	return held
}

func (w world) read(t *testing.T, held tokens.Records, fixture string) []string {
	t.Helper()
	chunks, ok := held.Held(fixture)
	if !ok {
		t.Fatalf("nothing is held of %q", fixture)
	}
	var all []string
	for n := range chunks {
		found, err := w.reader.Read(t.Context(), tenant, connID, held, fixture, n)
		expect.NoError(t, err)
		for one := range found {
			all = append(all, string(one))
		}
	}
	return all
}

func resource(id, size int) string {
	head := fmt.Sprintf(`{"resourceType":"Basic","id":"%d","p":"`, id)
	return head + strings.Repeat("x", max(0, size-len(head)-2)) + `"}`
}

// TestReadReturnsWrittenRecord checks records of various sizes, and that no chunk exceeds the full size by more than
// one resource.
func TestReadReturnsWrittenRecord(t *testing.T) {
	t.Parallel()
	const full, largest = 4 << 20, 3 << 20
	random := rand.New(rand.NewPCG(21, 4))
	for round := range 12 {
		w := newWorld()
		sent := make([]string, random.IntN(12))
		for i := range sent {
			sent[i] = resource(i, []int{1, 2 << 10, full / 2, largest}[random.IntN(4)])
		}
		held := w.write(t, records.Content{
			Generation: 3, Resources: feed(sent), Documents: 2,
			Lost: map[string]int{"unavailable": 1},
		})
		if diff := cmp.Diff(sent, w.read(t, held, ""),
			cmp.Transformer("none", func(list []string) []string { return append([]string{}, list...) })); diff != "" {
			t.Fatalf("round %d (-want +got):\n%.2000s", round, diff)
		}
		for key, body := range w.objects.kept {
			if len(body) > full+largest+200 {
				t.Errorf("%s has %d bytes", key, len(body))
			}
		}
		want := tokens.Records{
			Generation: 3, Batch: "batch-1", Chunks: len(w.objects.kept), Documents: 2, Lost: map[string]int{"unavailable": 1},
			Fixtures: map[string]int{}, Until: noon.Add(24 * time.Hour),
		}
		if diff := cmp.Diff(want, held); diff != "" {
			t.Errorf("held (-want +got):\n%s", diff)
		}
	}
}

func TestWriteStoresLossesReportedByFeed(t *testing.T) {
	t.Parallel()
	lost := map[string]int{"unavailable": 1}
	held := newWorld().write(t, records.Content{Generation: 1, Lost: lost, Resources: func(put func([]byte) error) error {
		lost["limit"]++
		return put([]byte(`{"a":1}`))
	}})
	if held.Lost["limit"] != 1 || held.Lost["unavailable"] != 1 {
		t.Errorf("lost is %v", held.Lost)
	}
}

func TestFixturesAreStoredByName(t *testing.T) {
	t.Parallel()
	w := newWorld()
	held := w.write(t, records.Content{
		Generation: 1, Resources: feed([]string{`{"a":1}`}),
		Fixtures: map[string]records.Feed{
			"alder.xml": feed([]string{`{"b":1}`, `{"b":2}`}), "birch.xml": feed(nil),
		},
	})
	for fixture, want := range map[string][]string{
		"": {`{"a":1}`}, "alder.xml": {`{"b":1}`, `{"b":2}`},
		"birch.xml": nil,
	} {
		if got := w.read(t, held, fixture); !slices.Equal(got, want) {
			t.Errorf("%q holds %v, want %v", fixture, got, want)
		}
	}
	if _, ok := held.Held("cedar.xml"); ok {
		t.Error("an unknown fixture is held")
	}
	folder := "test/" + tenant.OrgID + "/" + connID + "/1/batch-1/"
	if got, want := slices.Sorted(maps.Keys(w.objects.kept)),
		[]string{folder + "0", folder + "alder.xml/0"}; !slices.Equal(got, want) {
		t.Errorf("kept under %v, want %v", got, want)
	}
	for key, body := range w.objects.kept {
		if bytes.Contains(body, []byte(`{"`)) {
			t.Errorf("%s is not sealed: %q", key, body)
		}
	}
}

func TestReadRejectsMovedChunk(t *testing.T) {
	t.Parallel()
	other := tenant
	other.OrgID = "0b000000-0000-4000-8000-00000000000b"
	live := org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}
	type place struct {
		tenant     org.Tenant
		connection string
		held       tokens.Records
		fixture    string
		chunk      int
	}
	here := place{tenant: tenant, connection: connID, held: tokens.Records{Generation: 1, Batch: "batch-1", Chunks: 1}}
	for name, move := range map[string]func(*place){
		"another organisation": func(p *place) { p.tenant = other },
		"the other mode":       func(p *place) { p.tenant = live },
		"another connection":   func(p *place) { p.connection = "c0000000-0000-4000-8000-000000000002" },
		"another generation":   func(p *place) { p.held.Generation = 2 },
		"another writing":      func(p *place) { p.held.Batch = "batch-2" },
		"a fixture":            func(p *place) { p.fixture = "alder.xml" },
		"another chunk":        func(p *place) { p.chunk = 1 },
	} {
		w := newWorld()
		w.write(t, records.Content{Generation: 1, Resources: feed([]string{`{"a":1}`})})
		body := w.objects.kept[keyOf(here.tenant, here.connection, here.held, "", 0)]
		there := here
		move(&there)
		key := keyOf(there.tenant, there.connection, there.held, there.fixture, there.chunk)
		w.objects.kept[key] = body
		if _, err := w.reader.Read(t.Context(), there.tenant, there.connection, there.held, there.fixture,
			there.chunk); err == nil || errors.Is(err, fault.NotFound) {
			t.Errorf("to %s: %v", name, err)
		}
	}
}

func keyOf(of org.Tenant, connection string, held tokens.Records, fixture string, chunk int) string {
	parts := []string{
		string(of.Mode), of.OrgID, connection, strconv.FormatInt(held.Generation, 10), held.Batch, fixture,
		strconv.Itoa(chunk),
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "/")
}

// TestReadFailsOnDamagedRecord checks that the error identifies the damage and that Read never returns a truncated
// record.
func TestReadFailsOnDamagedRecord(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(map[string][]byte, string){
		"gone":    func(kept map[string][]byte, key string) { delete(kept, key) },
		"changed": func(kept map[string][]byte, key string) { kept[key][0] ^= 1 },
		"empty":   func(kept map[string][]byte, key string) { kept[key] = nil },
	} {
		w := newWorld()
		held := w.write(t, records.Content{Generation: 1, Resources: feed([]string{`{"a":1}`})})
		damage(w.objects.kept, keyOf(tenant, connID, held, "", 0))
		_, err := w.reader.Read(t.Context(), tenant, connID, held, "", 0)
		if want := (fault.Spot{Operation: "open", Row: "RECORDS", Attribute: "sealed"}); err == nil ||
			fault.SpotOf(err) != want {
			t.Errorf("%s: %v at %+v", name, err, fault.SpotOf(err))
		}
	}
}

// TestWriteDiscardsRecordOnFailure covers a record whose feed fails, and a record that could not be read back
// unchanged.
func TestWriteDiscardsRecordOnFailure(t *testing.T) {
	t.Parallel()
	large := []string{resource(1, 4<<20), resource(2, 4<<20), resource(3, 10)}
	breaks := func(put func([]byte) error) error {
		expect.NoError(t, feed(large)(put))
		return errTrouble
	}
	for name, c := range map[string]struct {
		content records.Content
		accept  int
	}{
		"a put fails": {records.Content{Resources: feed(large)}, 2},
		"a fixture's fails": {records.Content{
			Resources: feed(large),
			Fixtures:  map[string]records.Feed{"alder.xml": feed(large)},
		}, 4},
		"the feed breaks off": {records.Content{Resources: breaks}, -1},
		"a line break":        {records.Content{Resources: feed(append(large, "{\n}"))}, -1},
	} {
		w := newWorld()
		w.objects.accept = c.accept
		if held, err := w.cache.Write(t.Context(), tenant, connID, c.content); err == nil || len(w.objects.kept) > 0 {
			t.Errorf("%s: held %+v of %d objects, %v", name, held, len(w.objects.kept), err)
		}
	}
}

func TestRemoverKeepsChunksOfOtherVersions(t *testing.T) {
	t.Parallel()
	w := newWorld()
	content := records.Content{
		Generation: 1, Resources: feed([]string{resource(1, 5<<20), resource(2, 1)}),
		Fixtures: map[string]records.Feed{"alder.xml": feed([]string{"{}"})},
	}
	first, second := w.write(t, content), w.write(t, content)
	for range 2 {
		expect.NoError(t, w.remover.Delete(t.Context(), tenant, connID, first))
	}
	if len(w.objects.kept) != 3 {
		t.Errorf("left are %v", slices.Sorted(maps.Keys(w.objects.kept)))
	}
	if got := w.read(t, second, ""); len(got) != 2 {
		t.Errorf("the other writing holds %d resources", len(got))
	}
}

// TestEnderKeepsRecordCachedAfterReconnect checks that records cached after a reconnect and records of other
// connections are not deleted.
func TestEnderKeepsRecordCachedAfterReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld()
	ender := records.Ender{Objects: w.objects}
	one := func(generation int64) records.Content {
		return records.Content{
			Generation: generation, Resources: feed([]string{resource(1, 1)}),
			Fixtures: map[string]records.Feed{"alder.xml": feed([]string{"{}"})},
		}
	}
	for _, generation := range []int64{9, 10, 10, 11} {
		w.write(t, one(generation))
	}
	const longer = connID + "0"
	_, err := w.cache.Write(t.Context(), tenant, longer, one(1))
	expect.NoError(t, err)
	for range 2 {
		expect.NoError(t, ender.DeleteUntil(t.Context(), tenant, connID, 10))
	}
	for name := range w.objects.kept {
		if !strings.Contains(name, "/"+connID+"/11/") && !strings.Contains(name, "/"+longer+"/") {
			t.Errorf("left is %s", name)
		}
	}
	if len(w.objects.kept) != 4 {
		t.Errorf("%d are left, want 4", len(w.objects.kept))
	}
	expect.NoError(t, ender.DeleteAll(t.Context(), tenant, connID))
	if len(w.objects.kept) != 2 {
		t.Errorf("in the end left are %v", slices.Sorted(maps.Keys(w.objects.kept)))
	}
}
