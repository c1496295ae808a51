package rounds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/health/rounds"
)

// world simulates the catalogue, the stored rows and the servers, and counts calls to them.
type world struct {
	memory.EndpointHealth

	mu      sync.Mutex
	catalog rounds.Catalog
	objects map[string][]byte

	dead     map[string]bool // unresponsive hosts
	dark     bool            // whether the prober's network is down
	findings map[string]health.Finding
	takes    time.Duration // servers' response time
	answered map[string]int
	failing  map[string]bool
	broken   map[string]error // injected errors, keyed by call

	probes    map[string]int // number of probes, keyed by endpoint
	underway  map[string]int // number of running probes, keyed by host
	most      int            // peak number of concurrent probes
	together  bool           // whether two probes of one host ran concurrently
	reads     int            // number of reads of rows other than records
	summaries int
}

func newWorld(endpoints ...health.Endpoint) *world {
	return &world{
		catalog: rounds.Catalog{Version: "1", Published: time.Now(), Endpoints: endpoints},
		objects: map[string][]byte{}, dead: map[string]bool{}, findings: map[string]health.Finding{},
		takes: 300 * time.Millisecond, answered: map[string]int{}, failing: map[string]bool{},
		broken: map[string]error{}, probes: map[string]int{}, underway: map[string]int{},
	}
}

func endpoint(n, host int) health.Endpoint {
	return health.Endpoint{
		ID: fmt.Sprintf("0e000000-0000-4000-8000-%012d", n), Mode: "live",
		Base: fmt.Sprintf("https://h%d.example/%d/fhir", host, n), Platform: "smart",
	}
}

func (w *world) Live(_ context.Context, mode, known string) (rounds.Catalog, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if mode != "live" || known == w.catalog.Version {
		return rounds.Catalog{Version: known}, w.broken["Live"]
	}
	return w.catalog, w.broken["Live"]
}

func (w *world) SaveRecord(ctx context.Context, r health.Record) error {
	if err := w.call("SaveRecord"); err != nil {
		return err
	}
	return w.EndpointHealth.SaveRecord(ctx, r)
}

func (w *world) Failing(_ context.Context, token string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return w.failing[token], w.broken["Failing"]
}

func (w *world) Answered(_ context.Context, token string, _ time.Time) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return w.answered[token], nil
}

func (w *world) Probe(ctx context.Context, e health.Endpoint) health.Finding {
	host := hostOf(e)
	w.mu.Lock()
	w.probes[e.ID]++
	w.underway[host]++
	w.together = w.together || w.underway[host] > 1
	total := 0
	for _, n := range w.underway {
		total += n
	}
	w.most = max(w.most, total)
	silent := w.dark || w.dead[host]
	found, special := w.findings[e.ID]
	w.mu.Unlock()
	wait := w.takes
	if silent {
		wait = time.Minute
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	w.mu.Lock()
	w.underway[host]--
	w.mu.Unlock()
	switch {
	case silent:
		return health.Finding{Cause: "timeout", Silent: true}
	case special:
		return found
	}
	return health.Finding{Token: "token of " + host}
}

func (w *world) rounds() *rounds.Rounds {
	return rounds.New(rounds.Deps{
		Catalogs: w, Records: w, Prober: w, Observer: w, Put: w.put,
		Admits: func(base string) bool { return !strings.Contains(base, "forbidden") }, Now: time.Now,
	})
}

// visit executes one run with Lambda's time limit.
func (w *world) visit(t *testing.T, r *rounds.Rounds) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
	defer cancel()
	return r.Run(ctx)
}

// pass executes one run per minute for the given period.
func (w *world) pass(t *testing.T, r *rounds.Rounds, span time.Duration) {
	t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end); {
		next := time.Now().Add(time.Minute)
		if err := w.visit(t, r); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Until(next))
	}
}

func (w *world) call(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken[name]
}

func (w *world) record(t *testing.T, e health.Endpoint) health.Record {
	t.Helper()
	return w.kept(t)[e.ID]
}

func (w *world) kept(t *testing.T) map[string]health.Record {
	t.Helper()
	all, err := w.Records(t.Context(), "live")
	expect.NoError(t, err)
	by := map[string]health.Record{}
	for _, one := range all {
		by[one.EndpointID] = one
	}
	return by
}

func (w *world) pointer(t *testing.T) health.Pointer {
	t.Helper()
	p, err := w.Pointer(t.Context(), "live")
	expect.NoError(t, err)
	return p
}

func (w *world) rows() (reads, writes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads + w.Calls("Pointer"), w.Calls("Begin") + w.Calls("SaveRecord") + w.Calls("SaveDiscoveredURLs") +
		w.Calls("MovePointer")
}

func (w *world) put(_ context.Context, name string, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.summaries++
	w.objects[name] = body
	return w.broken["put"]
}

var errTrouble = errors.New("trouble on our side")
