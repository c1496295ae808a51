package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/measured"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// catalogue returns a new process's Catalogue. Catalogues with the same dir represent consecutive processes.
func (w *world) catalogue(dir string) *serve.Catalogue {
	return serve.NewCatalogue(w.pointers(), serve.Files{Objects: w, Dir: dir}, time.Now)
}

func version(t *testing.T, c *serve.Catalogue) ledger.Version {
	t.Helper()
	edition, _, err := c.Live(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return edition.Version
}

func TestCatalogueLoadsNewVersionInBackground(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.catalogue(dir)
		first := w.publish(t, institutions(3, "Alder"))
		if got := version(t, c); got != first {
			t.Fatalf("first: %s", got)
		}
		<-time.After(time.Second)
		second := w.publish(t, institutions(4, "Alder"))
		if got := version(t, c); got != first || w.asked != 1 {
			t.Errorf("within ten seconds: %s, asked %d times", got, w.asked)
		}
		door := make(chan struct{})
		w.set(func() { w.door = door })
		<-time.After(9 * time.Second)
		if got := version(t, c); got != first {
			t.Errorf("while the second is loaded: %s", got)
		}
		close(door)
		synctest.Wait()
		if got := version(t, c); got != second || w.asked != 2 {
			t.Errorf("once it is loaded: %s, asked %d times", got, w.asked)
		}
	})
}

// TestCatalogueRestartsFrozenLoad covers a process that Lambda freezes during a load, whose connection is dead when the
// process resumes.
func TestCatalogueRestartsFrozenLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.catalogue(dir)
		first := w.publish(t, institutions(3, "Alder"))
		version(t, c)
		<-time.After(time.Minute)
		second := w.publish(t, institutions(4, "Alder"))
		w.set(func() { w.door = make(chan struct{}) })
		if got := version(t, c); got != first {
			t.Errorf("while it is loaded: %s", got)
		}
		w.set(func() { w.door = nil })
		<-time.After(5 * time.Second)
		if got := version(t, c); got != second {
			t.Errorf("after the sleep: %s", got)
		}
		synctest.Wait() // This test would hang if the first load had not ended.
	})
}

func TestCatalogueKeepsVersionWhenRenewalFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.catalogue(dir)
		first := w.publish(t, institutions(3, "Alder"))
		version(t, c)
		second := w.publish(t, institutions(4, "Alder"))
		w.set(func() { w.failing = true })
		var log bytes.Buffer
		for range 5 {
			<-time.After(11 * time.Second)
			ctx, event := logx.Begin(t.Context())
			if got, _, err := c.Live(ctx, "test"); err != nil || got.Version != first {
				t.Errorf("without objects: %s, %v", got, err)
			}
			synctest.Wait()
			event.Emit(ctx, logx.New(&log), "test")
		}
		// Each request starts a load and reports the previous load's result.
		if counted := measured.In(t, log.Bytes())["StaleCatalogues"]; counted != 4 {
			t.Errorf("%d of 4 failures were counted: %s", counted, log.String())
		}
		w.set(func() { w.failing, w.rowsFail = false, true })
		<-time.After(11 * time.Second)
		if got := version(t, c); got != first {
			t.Errorf("without rows: %s", got)
		}
		w.set(func() { w.rowsFail = false })
		<-time.After(11 * time.Second)
		version(t, c)
		synctest.Wait()
		if got := version(t, c); got != second {
			t.Errorf("after the trouble: %s", got)
		}
		w.set(func() { w.live = ledger.Pointer{} })
		<-time.After(11 * time.Second)
		if got := version(t, c); got != second {
			t.Errorf("without the row: %s", got)
		}
	})
}

func TestCatalogueIsUnavailableWithoutVersion(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.publish(t, institutions(1, "Alder"))
	w.failing = true
	c := w.catalogue(t.TempDir())
	c.Warm(t.Context())
	ctx, event := logx.Begin(t.Context())
	if _, _, err := c.Live(ctx, "test"); !errors.Is(err, fault.Unavailable) {
		t.Errorf("test: %v", err)
	}
	var log bytes.Buffer
	event.Emit(ctx, logx.New(&log), "test")
	if counted := measured.In(t, log.Bytes())["StaleCatalogues"]; counted != 1 {
		t.Errorf("counted %d times: %s", counted, log.String())
	}
	if edition, found, err := c.Live(t.Context(), "live"); err != nil || edition != (serve.Edition{}) ||
		found.Index != nil {
		t.Errorf("a mode that nothing was published of: %v, %v", edition, err)
	}
	w.failing = false
	if _, _, err := c.Live(t.Context(), "test"); err != nil {
		t.Errorf("after the trouble: %v", err)
	}
}

func TestCatalogueLoadsFromDiskAfterRestart(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(), t.TempDir()
	want := w.publish(t, institutions(3, "Alder"))
	w.fares(t, map[string]health.State{id("endpoint", 1): health.Down})
	version(t, w.catalogue(dir))
	w.failing = true
	c := w.catalogue(dir)
	if got := version(t, c); got != want {
		t.Errorf("got %s", got)
	}
	w.failing = false
	for i, broken := range []string{dir + "/no/\x00such", "/proc/no"} {
		if got := version(t, w.catalogue(broken)); got != want {
			t.Errorf("without a disk (%d): %s", i, got)
		}
	}
}

func TestCatalogueServesOlderVersionsUntilDeleted(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(), t.Context()
	editions := make([]serve.Edition, 0, 5)
	for i := range 5 {
		w.publish(t, institutions(i+1, "Alder"))
		edition, _, err := w.catalogue(t.TempDir()).Live(ctx, "test")
		if err != nil {
			t.Fatal(err)
		}
		editions = append(editions, edition)
	}
	c := w.catalogue(t.TempDir())
	for range 2 {
		for i, edition := range editions {
			found, err := c.At(ctx, "test", edition)
			if err != nil || found.Index.Len() != i+1 {
				t.Errorf("edition %d: %v", i, err)
			}
		}
	}
	before := len(w.opened)
	for _, i := range []int{4, 3, 2, 3, 2} { // the live version and the last two older ones
		if _, err := c.At(ctx, "test", editions[i]); err != nil {
			t.Error(err)
		}
	}
	if len(w.opened) != before {
		t.Errorf("opened %v", w.opened[before:])
	}
	if err := (snapshot.Snapshots{Files: w}).Delete(ctx, "test", editions[0].Version); err != nil {
		t.Fatal(err)
	}
	if _, err := w.catalogue(t.TempDir()).At(ctx, "test", editions[0]); !errors.Is(err, fault.Gone) {
		t.Errorf("deleted: %v", err)
	}
}

func TestSearchReportsAndDemotesBrandsThatAreDown(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.publish(t, institutions(3, "Alder"))
	w.fares(t, map[string]health.State{id("endpoint", 0): health.Down, id("endpoint", 1): health.OK})
	_, found, err := w.catalogue(t.TempDir()).Live(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	page, err := found.Index.Search(search.Query{Text: "alder", Size: 3, Demote: found.Demote})
	if err != nil {
		t.Fatal(err)
	}
	told := make([]string, 0, len(page.Hits))
	for _, hit := range page.Hits {
		source, err := found.Shown(ownhosts.Own(), hit, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(source), `,"health":`)
		told = append(told, fmt.Sprintf("%s %s", hit.Position.SortName, state))
	}
	want := `Alder 000001 {"state":"ok"}};Alder 000002 {"state":"unknown"}};Alder 000000 {"state":"down"}}`
	if got := strings.Join(told, ";"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestCatalogueReusesIndexForNewHealthSummary checks that a new health summary, which is created every few minutes,
// doesn't reload the index.
func TestCatalogueReusesIndexForNewHealthSummary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.publish(t, institutions(3, "Alder"))
		c := w.catalogue(dir)
		_, before, err := c.Live(context.Background(), "test")
		if err != nil {
			t.Fatal(err)
		}
		w.fares(t, map[string]health.State{id("endpoint", 0): health.Down})
		<-time.After(11 * time.Second)
		version(t, c)
		synctest.Wait()
		_, after, err := c.Live(context.Background(), "test")
		if err != nil || after.Index != before.Index || after.Health.Len() != 1 {
			t.Errorf("got %v, %v", after.Health.Len(), err)
		}
	})
}
