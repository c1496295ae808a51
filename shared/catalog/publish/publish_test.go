package publish_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/fault"
)

func TestPublishPublishesUnchangedCatalogueOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(250, nil)
	out := w.publish(t)
	if !out.Published || out.Rows.Created != 250 || out.Diff.Brands.Added != 250 || len(w.active()) != 250 {
		t.Errorf("published %+v, %d rows", out, len(w.active()))
	}
	row := w.rows[server(7)]
	want := catalog.Endpoint{
		ID: server(7), BrandID: brand(7), PortalID: portal(7), Name: "Hospital 7", FHIRBase: "https://fhir7.example/r4",
		PlatformType: "smart",
		FHIRVersion:  "4.0.1", Mode: "test", Status: catalog.EndpointActive, Published: true, OwnRegistration: true, Rev: 1,
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("a row (-want +got):\n%s", diff)
	}
	before := w.writes
	if again := w.publish(t); again.Published || w.writes != before || again.Live != out.Live {
		t.Errorf("the second time %+v with %d writes", again, w.writes-before)
	}
}

// TestPublishWritesRowsBeforePointerAndSuspendsAfter checks that an endpoint's row is written before patients can find
// it, and suspended only after they can't.
func TestPublishWritesRowsBeforePointerAndSuspendsAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(3, nil)
	w.publish(t)
	w.told = nil
	w.next = institutions(4, removed(0, 1))
	w.publish(t)
	order := slices.DeleteFunc(w.told, func(what string) bool {
		return what == "file" ||
			strings.HasPrefix(what, "publication")
	})
	if want := []string{"rows", "pointer", "row " + server(0)}; !slices.Equal(order, want) {
		t.Errorf("in the order %q, want %q", order, want)
	}
	if want := []string{server(1), server(2), server(3)}; !slices.Equal(w.active(), want) {
		t.Errorf("patients may go to %v", w.active())
	}
}

func TestPublishRequiresApprovalForLargeRemovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(60, nil)
	first := w.publish(t)
	w.next = institutions(60, removed(0, 12)) // removes a fifth of the institutions
	if out := w.publish(t); !out.Published {
		t.Errorf("a fifth waits: %+v", out)
	}
	w.next = institutions(60, removed(0, 36))
	waits := w.publish(t)
	if waits.Published || !waits.Question.Whole || waits.Diff.Brands.Removed != 24 || len(waits.Diff.Brands.Names) != 20 ||
		waits.Live == first.Live || len(w.active()) != 48 {
		t.Errorf("half: %+v", waits)
	}
	before := w.writes
	again := w.publish(t)
	if w.writes != before || again.Question.ID != waits.Question.ID || !again.Question.Asked.Equal(waits.Question.Asked) {
		t.Errorf("asked again with %d writes: %+v", w.writes-before, again.Question)
	}
	w.approve(t, waits.Question.ID)
	w.next = institutions(60, removed(0, 48))
	if more := w.publish(t); more.Published || more.Question.ID == waits.Question.ID {
		t.Errorf("the answer to another question was taken: %+v", more)
	}
	w.next = institutions(60, removed(0, 36))
	if out := w.publish(t); !out.Published || len(w.active()) != 24 {
		t.Errorf("approved: %+v", out)
	}
	if left, err := w.ledger.Publication(t.Context(), "test"); err != nil || left.Question.ID != "" ||
		left.Approved != "" {
		t.Errorf("left over: %+v (%v)", left, err)
	}
}

// approve approves a question, as an operator would.
func (w *world) approve(t *testing.T, question string) {
	t.Helper()
	state, err := w.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	state.Approved = question
	_, err = w.ledger.SavePublication(t.Context(), state)
	expect.NoError(t, err)
}

func TestPublishRequiresApprovalToChangeConnectedEndpoint(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*record.Endpoint){
		"address":       func(e *record.Endpoint) { e.FHIRBase = "https://elsewhere.example/r4" },
		"platform_type": func(e *record.Endpoint) { e.PlatformType = "epic" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.next = institutions(3, nil)
			w.publish(t)
			if w.asked != 0 {
				t.Errorf("looked for connections %d times where nothing changes", w.asked)
			}
			w.connected[server(0)] = true
			moved := func(c *record.Catalog) {
				changed(0, change)(c)
				changed(1, change)(c)
				changed(2, func(e *record.Endpoint) { e.Name = "Cedar" })(c)
			}
			w.next = institutions(3, moved)
			was := w.rows[server(0)]
			out := w.publish(t)
			if !out.Published || len(out.Question.Held) != 1 || out.Question.Held[0].EndpointID != server(0) ||
				out.Question.Held[0].What != name {
				t.Errorf("asked %+v", out.Question)
			}
			if w.rows[server(0)] != was || w.rows[server(1)].Rev != 2 || w.rows[server(2)].Name != "Cedar" || w.asked != 1 {
				t.Errorf("rows %+v after looking %d times", w.rows, w.asked)
			}
			before := w.writes
			if again := w.publish(t); again.Published || w.writes != before {
				t.Errorf("again: %+v, %d writes", again, w.writes-before)
			}
			w.approve(t, out.Question.ID)
			if out := w.publish(t); !out.Published || w.rows[server(0)].Rev != was.Rev+1 {
				t.Errorf("approved: %+v, row %+v", out, w.rows[server(0)])
			}
		})
	}
}

func TestPublishKeepsRowChangesMadeByOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := catalog.Endpoint{
		ID: server(0), BrandID: brand(9), Name: "By hand", FHIRBase: "https://own.example",
		Mode: "test", Status: catalog.EndpointSuspended, Rev: 7,
	}
	w.rows[server(0)] = own
	w.next = institutions(3, nil)
	if out := w.publish(t); out.Rows.Operators != 1 || out.Rows.Created != 2 {
		t.Errorf("%+v", out.Rows)
	}
	touched := w.rows[server(1)]
	touched.Name, touched.Pins.Token, touched.Overrides, touched.Status = "Renamed", "https://auth.example", "scope: {}",
		catalog.EndpointSuspended
	w.rows[server(1)] = touched
	w.next = institutions(3, func(c *record.Catalog) {
		for i := range 3 {
			changed(i, func(e *record.Endpoint) { e.Name, e.FHIRVersion = "From the list", "4.0.0" })(c)
		}
	})
	w.publish(t)
	if got := w.rows[server(1)]; got.Name != "Renamed" || got.FHIRVersion != "4.0.0" || got.Pins != touched.Pins ||
		got.Overrides != touched.Overrides || got.Status != touched.Status {
		t.Errorf("row %+v", got)
	}
	if w.rows[server(0)] != own || w.rows[server(2)].Name != "From the list" {
		t.Errorf("rows %+v", w.rows)
	}
}

// TestPublishKeepsEndpointDisabledByOperator checks that an endpoint that returns to its list becomes active again
// unless an operator has disabled it.
func TestPublishKeepsEndpointDisabledByOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(3, nil)
	w.publish(t)
	disabled := w.rows[server(0)]
	disabled.Status = catalog.EndpointSuspended
	w.rows[server(0)] = disabled
	for range 2 {
		w.next = institutions(3, removed(0, 2))
		w.publish(t)
		if got := w.active(); !slices.Equal(got, []string{server(2)}) {
			t.Errorf("while it is gone: %v", got)
		}
		w.next = institutions(3, nil)
		w.publish(t)
		if got := w.active(); !slices.Equal(got, []string{server(1), server(2)}) {
			t.Errorf("when its list has it again: %v", got)
		}
	}
}

func TestPublishRejectsEndpointsAtOwnHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(3, func(c *record.Catalog) {
		changed(0, func(e *record.Endpoint) { e.FHIRBase = "https://api.example/v1/bridge" })(c)
		changed(1, func(e *record.Endpoint) { e.FHIRBase = baseURL + "/sandbox/fhir" })(c)
	})
	if out := w.publish(t); out.Rows.Refused != 1 || !slices.Equal(w.active(), []string{server(1), server(2)}) {
		t.Errorf("%+v, rows %v", out.Rows, w.active())
	}
}

// TestPublishResumesAfterAnyInterruption checks that publishing continues after an interruption at any write.
func TestPublishResumesAfterAnyInterruption(t *testing.T) {
	t.Parallel()
	begin := func() *world {
		w := newWorld(t)
		w.next = institutions(50, nil)
		w.publish(t)
		return w
	}
	later := institutions(70, func(c *record.Catalog) {
		removed(0, 8)(c)
		for i := 10; i < 20; i++ {
			changed(i, func(e *record.Endpoint) { e.Name += " North" })(c)
		}
	})
	whole := begin()
	earlier := whole.writes
	whole.next = later
	whole.publish(t)
	for n := 1; n <= whole.writes-earlier; n++ {
		w := begin()
		w.next, w.crashAt = later, w.writes+n
		if out, err := w.publisher().Publish(t.Context(), "test"); !errors.Is(err, errCrash) || out.Published {
			t.Fatalf("write %d: %+v, %v", n, out, err)
		}
		p, err := w.ledger.Pointer(t.Context(), "test")
		expect.NoError(t, err)
		if found, err := w.publisher().Snapshots.Catalog(t.Context(), "test", p.Live); err != nil || len(found.Brands) < 50 {
			t.Fatalf("write %d: what is live cannot be read: %v", n, err)
		}
		w.crashAt, w.now = 0, w.now.Add(time.Hour)
		w.next = institutions(71, func(c *record.Catalog) { // the lists have changed in the meantime
			removed(0, 8)(c)
			changed(15, func(e *record.Endpoint) { e.Name = "Hospital 15" })(c)
		})
		w.publish(t)
		w.settled(t, n)
	}
}

// settled checks that no publication is in progress, and that rows and objects match the live version.
func (w *world) settled(t *testing.T, n int) {
	t.Helper()
	state, err := w.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	p, err := w.ledger.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	if state.To != "" || len(w.files.Keys()) != files*len(p.Kept) || len(w.active()) != 63 {
		t.Errorf("write %d: under way %+v, %d objects of %d versions, %d rows", n, state, len(w.files.Keys()), len(p.Kept),
			len(w.active()))
	}
	live, err := w.publisher().Snapshots.Catalog(t.Context(), "test", p.Live)
	expect.NoError(t, err)
	for id, e := range live.Endpoints {
		if row := w.rows[id]; e.Status == record.Active && (row.Name != e.Name || row.Status != catalog.EndpointActive) {
			t.Fatalf("write %d: the row %+v is not that of %+v", n, row, e)
		}
	}
}

// TestPublishResumesRowsFromCheckpoint covers a run that is interrupted, for example by a timeout, while it is writing
// rows. The test checks that the next run continues instead of starting again from the beginning.
func TestPublishResumesRowsFromCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(4500, func(c *record.Catalog) { c.Brands, c.Portals = nil, nil })
	// The run makes these writes: 1 to begin, the files, 1 for the rows phase, 20 transactions, the checkpoint, and 10
	// more transactions.
	w.crashAt = 1 + files + 1 + 20 + 1 + 10
	if _, err := w.publisher().Publish(t.Context(), "test"); !errors.Is(err, errCrash) || len(w.rows) < 2000 ||
		len(w.rows) > 3000 {
		t.Fatalf("%d rows: %v", len(w.rows), err)
	}
	w.told, w.crashAt = nil, 0
	out := w.publish(t)
	again := slices.DeleteFunc(w.told, func(what string) bool {
		return what != "rows" &&
			!strings.HasPrefix(what, "row ")
	})
	if !out.Published || len(w.rows) != 4500 || out.Rows.Created > 2500 || len(again) > 25 {
		t.Errorf("%d rows with %d writes: %+v", len(w.rows), len(again), out)
	}
}

func TestPublishReportsConcurrentPublisher(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := true
	w.next = func(before record.Catalog, now time.Time) record.Catalog {
		if first {
			first = false
			if _, err := w.publisher().Publish(t.Context(), "test"); err != nil {
				t.Error(err)
			}
		}
		return institutions(3, nil)(before, now)
	}
	if _, err := w.publisher().Publish(t.Context(), "test"); !errors.Is(err, fault.Conflict) {
		t.Errorf("the later one: %v", err)
	}
	if p, err := w.ledger.Publication(t.Context(), "test"); err != nil || p.To != "" {
		t.Errorf("under way %+v (%v)", p, err)
	}
}

func TestPreviewLeavesCatalogueUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(30, nil)
	w.publish(t)
	before := w.writes
	w.next = institutions(31, removed(0, 20))
	seen, err := w.publisher().Preview(t.Context(), "test")
	expect.NoError(t, err)
	want := ledger.Changes{Before: 30, After: 11, Added: 1, Removed: 20}
	got := seen.Diff.Endpoints
	got.Names = nil
	if diff := cmp.Diff(want, got); diff != "" || !seen.Question.Whole || w.writes != before {
		t.Errorf("%+v, %d writes (-want +got):\n%s", seen, w.writes-before, diff)
	}
}
