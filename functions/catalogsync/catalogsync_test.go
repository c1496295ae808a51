package catalogsync_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/functions/catalogsync"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

var errTrouble = errors.New("trouble on our side")

// world simulates the sources, their servers, the bucket and the publisher.
type world struct {
	rows      []intake.Row
	takes     time.Duration // response time of the simulated servers
	lists     map[string]string
	trouble   map[string]error // errors to inject, by URL for fetches and by mode for publications
	conflict  string           // ID of a source that an operator changes during the run
	asked     []string
	published []string
	asks      map[string]time.Time // time at which each mode began to wait for approval
	log       bytes.Buffer
}

func (w *world) Fetch(ctx context.Context, address string, _ intake.Known) (intake.Answer, error) {
	w.asked = append(w.asked, address)
	select {
	case <-ctx.Done():
		return intake.Answer{}, ctx.Err()
	case <-time.After(w.takes):
	}
	return intake.Answer{Body: io.NopCloser(strings.NewReader(w.lists[address]))}, w.trouble[address]
}

func (w *world) Sources(context.Context) ([]intake.Row, error) {
	return slices.Clone(w.rows), w.trouble["rows"]
}

func (w *world) Source(context.Context, string) (intake.Row, error) { return intake.Row{}, nil }

func (w *world) SaveSource(_ context.Context, row intake.Row) (intake.Row, error) {
	at := slices.IndexFunc(w.rows, func(r intake.Row) bool { return r.Source.ID == row.Source.ID })
	if w.conflict == row.Source.ID || w.rows[at].Rev != row.Rev {
		return row, fault.Stale()
	}
	row.Rev++
	w.rows[at] = row
	return row, nil
}

func (w *world) Put(context.Context, string, string, []byte) error { return nil }

func (w *world) Delete(context.Context, string) error { return nil }

func (w *world) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, fault.Missing("gone")
}

func (w *world) Publish(_ context.Context, mode string) error {
	w.published = append(w.published, mode)
	return w.trouble[mode]
}

func (w *world) AskedAt(_ context.Context, mode string) (time.Time, error) {
	return w.asks[mode], w.trouble["asked "+mode]
}

func (w *world) source(id, mode string, due time.Time) {
	w.rows = append(w.rows, intake.Row{Rev: 1, State: intake.State{Due: due}, Source: intake.Source{
		ID: id, Mode: mode, URL: id, Format: listing.LanternNDJSON, Every: 24 * time.Hour,
	}})
}

// run invokes the function as Lambda does, with a 15-minute timeout.
func (w *world) run(t *testing.T) (line map[string]any, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	lists := intake.Intake{Lists: w, Rows: w, Objects: w, Now: time.Now, Random: func() float64 { return 0 }}
	w.log.Reset()
	handle := lambdarun.Schedule(lambdarun.Process{Logger: logx.New(&w.log), Now: time.Now}, "catalogsync",
		catalogsync.New(lists, w))
	err = handle(ctx, lambdarun.Tick{})
	first, _, _ := strings.Cut(w.log.String(), "\n")
	if failure := json.Unmarshal([]byte(first), &line); failure != nil {
		t.Fatal(failure)
	}
	return line, err
}

const clinic = `{"name":"Hidden Name Clinic","url":"https://fhir.example/r4"}`

func TestSyncDoesNothingWithoutSources(t *testing.T) {
	t.Parallel()
	var w world
	if line, err := w.run(t); err != nil || len(w.asked)+len(w.published) != 0 || line["due"] != 0.0 ||
		line["cut_short"] != false {
		t.Errorf("%v, asked %q, published %q, %v", err, w.asked, w.published, line)
	}
}

func TestSyncFetchesDueSourcesAndPublishesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{lists: map[string]string{"a": clinic, "b": clinic}}
		w.source("a", "test", time.Now())
		w.source("b", "test", time.Now().Add(-time.Hour))
		w.source("c", "live", time.Now().Add(time.Second))
		line, err := w.run(t)
		if got := strings.Join(w.asked, " "); err != nil || got != "b a" || strings.Join(w.published, " ") != "test" {
			t.Errorf("%v, asked %s, published %q", err, got, w.published)
		}
		if line["sources"] != 3.0 || line["due"] != 2.0 || line["accepted"] != 2.0 || line["msg"] != "catalogsync.run" {
			t.Errorf("%v", line)
		}
		if log := w.log.String(); strings.Contains(log, "Hidden") || strings.Contains(log, "fhir.example") ||
			!strings.Contains(log, `"source":"b"`) || !strings.Contains(log, `"Lists":2`) {
			t.Errorf("the log: %s", log)
		}
		if _, err := w.run(t); err != nil || len(w.asked) != 2 || len(w.published) != 1 {
			t.Errorf("a second run: %v, asked %q, published %q", err, w.asked, w.published)
		}
	})
}

func TestSyncRetriesFailedPublication(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]error{"of ours": errTrouble, "of another publisher": fault.Stale()} {
		synctest.Test(t, func(t *testing.T) {
			w := world{lists: map[string]string{"a": clinic}, trouble: map[string]error{"live": trouble}}
			w.source("a", "live", time.Now())
			if _, err := w.run(t); errors.Is(err, errTrouble) != errors.Is(trouble, errTrouble) || !w.rows[0].State.Unpublished {
				t.Errorf("%s: %v", name, err)
			}
			w.trouble = nil
			if _, err := w.run(t); err != nil || len(w.published) != 2 || w.rows[0].State.Unpublished || len(w.asked) != 1 {
				t.Errorf("%s: %v, published %q", name, err, w.published)
			}
		})
	}
}

func TestSyncContinuesAfterFailedSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{
			lists:   map[string]string{"a": "<html>", "b": clinic, "c": clinic, "d": clinic},
			trouble: map[string]error{"b": errTrouble}, conflict: "c",
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			w.source(id, "live", time.Now())
		}
		line, err := w.run(t)
		if !errors.Is(err, errTrouble) || len(w.asked) != 4 || line["accepted"] != 1.0 || line["failed"] != 1.0 ||
			len(w.published) != 1 {
			t.Errorf("%v, %v", err, line)
		}
		if w.rows[0].State.Reason != "is_page" || w.rows[3].State.Unpublished {
			t.Errorf("%+v", w.rows)
		}
	})
}

func TestSyncReservesTimeForPublishing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{lists: map[string]string{"a": clinic, "b": clinic, "c": clinic, "d": clinic}, takes: 5 * time.Minute}
		for i, id := range []string{"a", "b", "c", "d"} {
			w.source(id, "live", time.Now().Add(time.Duration(i)-time.Hour))
		}
		started := time.Now()
		line, err := w.run(t)
		if err != nil || time.Since(started) != 11*time.Minute || line["accepted"] != 2.0 || line["failed"] != nil ||
			line["left"] != 1.0 || line["cut_short"] != true || len(w.published) != 1 {
			t.Errorf("%v after %v: %v", err, time.Since(started), line)
		}
		if w.rows[2].State.Failures != 0 || w.rows[2].State.CheckedAt != (time.Time{}) ||
			w.rows[3].State.CheckedAt != (time.Time{}) {
			t.Errorf("the end of the run is held against a list: %+v", w.rows[2:])
		}
		w.takes = time.Hour
		if line, err = w.run(t); err != nil || line["failed"] != 1.0 || w.rows[2].State.Reason != intake.OutOfTime {
			t.Errorf("a list that takes too long: %v, %v", err, line)
		}
	})
}

// TestSyncRecordsLongestApprovalWait also checks that the metric is zero if no list or publication is waiting, because
// a zero clears the alarm.
func TestSyncRecordsLongestApprovalWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w world
		w.source("a", "live", time.Now().Add(time.Hour))
		wanted := func(name string, seconds int) {
			t.Helper()
			_, _ = w.run(t)
			if want := fmt.Sprintf(`"ApprovalSeconds":%d,`, seconds); measured.In(t, w.log.Bytes())["ApprovalSeconds"] != 1 ||
				!strings.Contains(w.log.String(), want) {
				t.Errorf("%s: %s, want %s", name, w.log.String(), want)
			}
		}
		wanted("nothing", 0)
		w.rows[0].State.Pending = &intake.Version{ReadAt: time.Now().Add(-time.Hour)}
		wanted("a list", 3600)
		w.asks = map[string]time.Time{"test": time.Now().Add(-time.Minute), "live": time.Now().Add(-2 * time.Hour)}
		wanted("a publication", 7200)
		w.trouble = map[string]error{"asked live": errTrouble}
		if _, err := w.run(t); !errors.Is(err, errTrouble) {
			t.Errorf("got %v", err)
		}
	})
}
