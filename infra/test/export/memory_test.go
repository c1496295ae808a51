package exporttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/memory"
	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	archiveBase = origin + "/archive"
	// heapBound is the maximum growth of the live heap during an export, in bytes, regardless of the record's size.
	heapBound = 64 << 20
)

// archive implements smart.Doer as a FHIR server whose documents have large attachments. The record is generated while
// clients read it, so the server needs little memory.
type archive struct {
	documents int
	bytes     int64
	isSilent  bool // omits Content-Length
	measure   func()
}

func (a *archive) Do(r *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(r.URL.Path, "/archive/")
	switch {
	case path == "metadata":
		return a.document(
			`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"mode":"server","resource":[` +
				`{"type":"DocumentReference","searchParam":[{"name":"patient"}]}]}]}`), nil
	case path == "Patient/p1":
		return a.document(`{"resourceType":"Patient","id":"p1"}`), nil
	case path == "DocumentReference":
		return a.document(a.page(r)), nil
	case strings.HasPrefix(path, "attachments/"):
		length := a.bytes
		if a.isSilent {
			length = -1
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/pdf"}}, ContentLength: length,
			Body: io.NopCloser(io.LimitReader(&scan{measure: a.measure}, a.bytes)),
		}, nil
	}
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody}, nil
}

func (*archive) document(text string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/fhir+json"}},
		ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)),
	}
}

func (a *archive) page(r *http.Request) string {
	const size = 50
	first, _ := strconv.Atoi(r.URL.Query().Get("from"))
	var entries []string
	for i := first; i < min(first+size, a.documents); i++ {
		entries = append(entries, fmt.Sprintf(`{"resource":{"resourceType":"DocumentReference","id":"d%d",`+
			`"subject":{"reference":"Patient/p1"},"content":[{"attachment":{"contentType":"application/pdf",`+
			`"url":"%s/attachments/%d"}}]}}`,
			i, archiveBase, i))
	}
	next := ""
	if first+size < a.documents {
		next = fmt.Sprintf(`,"link":[{"relation":"next","url":"%s/DocumentReference?from=%d"}]`, archiveBase, first+size)
	}
	return `{"resourceType":"Bundle","type":"searchset","entry":[` + strings.Join(entries, ",") + `]` + next + `}`
}

// measureEvery is the number of bytes read between heap measurements.
const measureEvery = 7 << 20

// scan is an endless reader that repeats a single byte.
type scan struct {
	measure func()
	left    int // bytes until the next heap measurement
	fill    byte
}

func (s *scan) Read(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		s.measure()
		s.left = measureEvery
	}
	for i := range p {
		p[i] = s.fill
	}
	return len(p), nil
}

// shredder implements export.Files and export.Writer. It discards all data and counts the bytes written.
type shredder struct{ bytes int64 }

var errShredded = errors.New("nothing is kept")

func (s *shredder) Create(context.Context, string, string) (export.Writer, error) { return s, nil }

func (*shredder) Open(context.Context, string) (io.ReadCloser, error) { return nil, errShredded }

func (*shredder) Compose(context.Context, string, string, []string) error { return errShredded }

func (*shredder) Delete(context.Context, string) error { return nil }

func (s *shredder) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return len(p), nil
}

func (*shredder) Mark() {}

func (*shredder) Rewind(context.Context) error { return nil }

func (*shredder) Close(context.Context) error { return nil }

func (*shredder) Abort(context.Context) {}

// plain implements source.Platforms, using the default profile for every server.
type plain struct{}

func (plain) Asking(catalog.Endpoint) (plan.Profile, error) { return plan.Profile{}, nil }

// exportOf exports the record at base into kept, using a token set that is valid for a day.
func exportOf(tb testing.TB, doer smart.Doer, base string, kept export.Files) export.Task {
	tb.Helper()
	return exportWith(tb, doer, nil, kept, tokens.Set{
		AccessToken: secret.New("access"), PatientID: secret.New("p1"), Scope: wideScope, FHIRBase: base,
		ExpiresAt: time.Now().Add(24 * time.Hour),
	})
}

// exportWith runs an export with the given token set and fails the test unless the export succeeds.
func exportWith(tb testing.TB, doer smart.Doer, cache collect.Cache, kept export.Files, set tokens.Set) export.Task {
	tb.Helper()
	var enqueued []time.Duration
	state := memory.NewTasks()
	state.Put(pendingTask())
	g := &grants{version: 1, turn: make(chan struct{}, 1), set: set}
	world := crashing{invocation: &invocation{end: func() {}}, enqueue: &enqueued}
	err := worker.Worker{
		Store: state, Refreshes: g, Cache: cache, Files: kept, Enqueuer: world, Links: newLinks(tb), Now: time.Now,
		Source: source.Opener{
			Tokens: g, Portals: portalOf(doer), Now: time.Now,
			Profiles: source.Profiles{Connections: g, Endpoints: g, Platforms: plain{}},
		},
		Share:     share.New(state, world, 1, lease, time.Now),
		Manifests: jws.NewKeyring(vaulttest.New(tb), []string{"ec1"}),
		Lease:     lease, Retention: 8 * 24 * time.Hour, AddMetaSource: true,
	}.Work(tb.Context(), tenant, taskID, time.Time{})
	task := state.Get(tenant, taskID)
	if err != nil || task.Status != export.Success {
		tb.Fatalf("status %s, reason %s: %v", task.Status, task.FailureReason, err)
	}
	return task
}

func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestExportOfLargeAttachmentsUsesBoundedMemory measures the process's heap, so it does not run in parallel. The
// measurement excludes memory retained by earlier tests.
func TestExportOfLargeAttachmentsUsesBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("copies 160 MB")
	}
	large, small := &archive{documents: 4, bytes: 20 << 20}, &archive{documents: 40, bytes: 2<<20 - 1, isSilent: true}
	if soakingLong() {
		large.documents, small.documents = 150, 400
	}
	for name, source := range map[string]*archive{"streamed": large, "read ahead": small} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var peak uint64
			before := liveHeap()
			source.measure = func() {
				mu.Lock()
				defer mu.Unlock()
				peak = max(peak, liveHeap())
			}
			synctest.Test(t, func(t *testing.T) {
				var written shredder
				task := exportOf(t, source, archiveBase, &written)
				if got, want := task.Stats.TotalByResourceType["Binary"], source.documents; got != want {
					t.Errorf("%d Binaries, want %d", got, want)
				}
				if least := int64(source.documents) * source.bytes * 4 / 3; written.bytes < least {
					t.Errorf("%d bytes were written, want %d at least", written.bytes, least)
				}
				if peak > before+heapBound {
					t.Errorf("the live heap reached %d MB from %d, want at most %d more", peak>>20, before>>20, heapBound>>20)
				}
				t.Logf("largest live heap: %.1f MB, %.1f MB before; file of %d MB", float64(peak)/(1<<20), float64(before)/(1<<20),
					written.bytes>>20)
			})
		})
	}
}
