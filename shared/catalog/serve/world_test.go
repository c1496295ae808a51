package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

var errTrouble = errors.New("trouble at 10.0.0.7")

// world simulates a bucket and the test-mode rows for the live catalogue and health summary. Live mode is empty unless
// a test adds to it.
type world struct {
	lock     sync.Mutex
	objects  map[string][]byte
	live     ledger.Pointer
	other    ledger.Version // live mode's version
	health   health.Pointer
	asked    int      // number of reads of snapshot pointers
	opened   []string // keys of opened objects
	ranges   int      // number of ranges read
	failing  bool
	rowsFail bool          // whether reading a row fails
	door     chan struct{} // if not nil, opening an object waits for this channel
}

func newWorld() *world { return &world{objects: map[string][]byte{}} }

type snapshotRows struct{ w *world }

func (r snapshotRows) Pointer(_ context.Context, mode string) (ledger.Pointer, error) {
	r.w.lock.Lock()
	defer r.w.lock.Unlock()
	r.w.asked++
	if r.w.rowsFail {
		return ledger.Pointer{}, errTrouble
	}
	if mode != "test" {
		return ledger.Pointer{Mode: mode, Live: r.w.other}, nil
	}
	return r.w.live, nil
}

type healthRows struct{ w *world }

func (r healthRows) Pointer(context.Context, string) (health.Pointer, error) {
	r.w.lock.Lock()
	defer r.w.lock.Unlock()
	return r.w.health, nil
}

func (w *world) Write(_ context.Context, key, _ string, write func(io.Writer) error) error {
	var object bytes.Buffer
	err := write(&object)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.objects[key] = object.Bytes()
	return err
}

func (w *world) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	w.lock.Lock()
	door := w.door
	w.lock.Unlock()
	if door != nil {
		select {
		case <-door:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.opened = append(w.opened, key)
	if w.failing {
		return nil, errTrouble
	}
	object, ok := w.objects[key]
	if !ok {
		return nil, fault.Missing("No.")
	}
	return io.NopCloser(bytes.NewReader(object)), nil
}

func (w *world) Range(_ context.Context, key string, from, length int64) ([]byte, int64, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.ranges++
	object, ok := w.objects[key]
	if !ok {
		return nil, 0, fault.Missing("No.")
	}
	if from < 0 || from >= int64(len(object)) {
		return nil, 0, fmt.Errorf("offset %d of %d", from, len(object))
	}
	return object[from:min(int64(len(object)), from+length)], int64(len(object)), nil
}

func (w *world) Delete(_ context.Context, key string) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.objects, key)
	return nil
}

func (w *world) pointers() serve.Pointers {
	return serve.Pointers{Snapshots: snapshotRows{w}, Health: healthRows{w}}
}

func (w *world) set(change func()) {
	w.lock.Lock()
	defer w.lock.Unlock()
	change()
}

// publish makes a catalogue live and returns its version.
func (w *world) publish(t *testing.T, c record.Catalog) ledger.Version {
	t.Helper()
	v, err := snapshot.Snapshots{Files: w}.Write(t.Context(), "test", c, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.set(func() { w.live = ledger.Pointer{Mode: "test", Live: v} })
	return v
}

func (w *world) fares(t *testing.T, states map[string]health.State) {
	t.Helper()
	records := make([]health.Record, 0, len(states))
	for id, state := range states {
		records = append(records, health.Record{EndpointID: id, State: state, CheckedAt: time.Now()})
	}
	summary := health.Summarize(records)
	version := summary.Version(time.Now())
	w.set(func() {
		w.objects[health.ObjectName("test", version)] = summary.Bytes()
		w.health = health.Pointer{Mode: "test", Version: version}
	})
}

// institutions returns a catalogue of count brands, each with a portal and an endpoint.
func institutions(count int, name string) record.Catalog {
	c := record.Catalog{
		Brands: map[string]record.Brand{}, Portals: map[string]record.Portal{}, Endpoints: map[string]record.Endpoint{},
		Successors: map[string]string{},
	}
	for i := range count {
		brand, portal, endpoint := id("brand", i), id("portal", i), id("endpoint", i)
		c.Brands[brand] = record.Brand{
			ID: brand, Name: fmt.Sprintf("%s %d", name, i), SortName: fmt.Sprintf("%s %06d", name, i),
			PortalIDs: []string{portal}, PlatformType: "smart",
		}
		c.Portals[portal] = record.Portal{ID: portal, Name: "Portal", EndpointIDs: []string{endpoint}}
		c.Endpoints[endpoint] = record.Endpoint{
			ID: endpoint, Status: record.Active, Name: "FHIR",
			FHIRBase: "https://fhir.example/secret-base",
		}
	}
	return c
}

func id(kind string, number int) string { return ids.Derive(kind, strconv.Itoa(number)) }
