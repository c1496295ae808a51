package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/shared/export"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/secret"
)

const (
	manyResources = 50_000
	pageResources = 500
	// heapBound is far below the total size of the resources (50 MB) and far above the size of a page plus the hashes
	// of 50,000 resources.
	heapBound = 24 << 20
)

// endless is a source.Server that generates its record page by page, so the whole record is never in memory.
type endless struct {
	peak uint64 // peak live heap size
}

func (e *endless) Open(string, plan.Profile, func(context.Context) (secret.Text, error)) (source.Server, error) {
	return e, nil
}

func (*endless) Metadata(context.Context) (fhir.Response, error) {
	return fhir.Response{Body: []byte(`{"resourceType":"CapabilityStatement","rest":[{"mode":"server","resource":[` +
		`{"type":"Observation","searchParam":[{"name":"patient"}]}]}]}`)}, nil
}

func (*endless) Read(_ context.Context, resourceType, id string, _ int64) (fhir.Response, error) {
	return fhir.Response{Body: fmt.Appendf(nil, `{"resourceType":%q,"id":%q}`, resourceType, id)}, nil
}

func (e *endless) Search(ctx context.Context, _ string, _ url.Values, limit int64) (fhir.Response, error) {
	return e.Page(ctx, "0", limit)
}

func (*endless) Batch(context.Context, []byte, int64) (fhir.Response, error) {
	return fhir.Response{}, errors.ErrUnsupported
}

func (e *endless) Page(_ context.Context, next string, _ int64) (fhir.Response, error) {
	first, err := strconv.Atoi(next[strings.LastIndexByte(next, '/')+1:])
	if err != nil {
		return fhir.Response{}, err
	}
	e.measure(first)
	page := []byte(`{"resourceType":"Bundle","entry":[`)
	for id := first; id < first+pageResources; id++ {
		page = fmt.Appendf(page, `{"resource":{"resourceType":"Observation","id":"%d","note":[{"text":%q}]}},`, id,
			strings.Repeat("x", 1000))
	}
	page = append(page[:len(page)-1], ']')
	if last := first + pageResources; last < manyResources {
		page = fmt.Appendf(page, `,"link":[{"relation":"next","url":"%d"}]`, last)
	}
	return fhir.Response{Body: append(page, '}')}, nil
}

func (*endless) Attachment(context.Context, string, int64) (fhir.File, error) {
	return fhir.File{}, errTrouble
}

func (e *endless) measure(first int) {
	if first%(20*pageResources) != 0 {
		return
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	e.peak = max(e.peak, memory.HeapAlloc)
}

// nowhere is a file store that counts the bytes written and discards them.
type nowhere struct{ bytes int64 }

// Create ignores the manifest, which is not part of the file.
func (n *nowhere) Create(_ context.Context, _, contentType string) (export.Writer, error) {
	if contentType == export.ManifestType {
		return &nowhere{}, nil
	}
	return n, nil
}

func (*nowhere) Open(context.Context, string) (io.ReadCloser, error) { return nil, errTrouble }

func (*nowhere) Compose(context.Context, string, string, []string) error { return errTrouble }
func (*nowhere) Delete(context.Context, string) error                    { return nil }
func (n *nowhere) Write(p []byte) (int,
	error,
) {
	n.bytes += int64(len(p))
	return len(p), nil
}
func (*nowhere) Mark()                        {}
func (*nowhere) Rewind(context.Context) error { return nil }
func (*nowhere) Close(context.Context) error  { return nil }
func (*nowhere) Abort(context.Context)        {}

// The heap measurement covers the whole process, so the test does not run in parallel with other tests.
func TestLargeRecordIsExportedInBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var source endless
		var written nowhere
		b.worker.Source.Portals, b.worker.Files = &source, &written
		b.work(t, 0)
		if got := b.task().Stats.TotalResources; got != manyResources+1 {
			t.Errorf("%d resources, want %d", got, manyResources+1)
		}
		if written.bytes < manyResources*1000 || b.task().Files[0].Bytes != written.bytes {
			t.Errorf("%d bytes written, the task tells %d", written.bytes, b.task().Files[0].Bytes)
		}
		if source.peak > heapBound {
			t.Errorf("the heap reached %d MB, want at most %d", source.peak>>20, heapBound>>20)
		}
		t.Logf("largest live heap: %d MB for a file of %d MB", source.peak>>20, written.bytes>>20)
	})
}
