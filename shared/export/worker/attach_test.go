package worker_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

// withAttachments returns a bench whose server has a note with two attachments, one of which is a Binary.
func withAttachments(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.server.add(t, `{"resourceType":"DocumentReference","id":"n1","content":[`+
		`{"attachment":{"url":"`+base+`/documents/7","contentType":"application/pdf"}},`+
		`{"attachment":{"url":"Binary/b1","contentType":"text/plain"}}]}`)
	b.server.resources["documents/7"] = "%PDF-1.7 synthetic"
	return b
}

func binaries(t *testing.T, file []byte) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for line := range strings.Lines(string(file)) {
		var resource map[string]any
		if err := json.Unmarshal([]byte(line), &resource); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if id, ok := resource["id"].(string); ok && resource["resourceType"] == "Binary" {
			found[id] = resource
		}
	}
	return found
}

func TestAttachmentIsExportedAsBinary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := withAttachments(t)
		b.work(t, 0)
		found := binaries(t, b.file(t))
		if len(found) != 2 {
			t.Fatalf("%d binaries, want 2: %v", len(found), found)
		}
		for id, resource := range found {
			if id == "b1" {
				continue
			}
			meta, _ := resource["meta"].(map[string]any)
			want := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7 synthetic"))
			if len(id) != 62 || resource["data"] != want || resource["contentType"] != "application/pdf" ||
				meta["source"] != base+"/documents/7" {
				t.Errorf("binary %v", resource)
			}
		}
		if got := b.task().Stats.TotalByResourceType["Binary"]; got != 2 {
			t.Errorf("stats tell %d binaries, want 2", got)
		}
	})
}

func TestBinaryIsExportedWhenServedAsRawBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := withAttachments(t)
		b.server.script("Binary/b1", answer{status: 200, body: "as it is", always: true})
		b.work(t, 0)
		resource := binaries(t, b.file(t))["b1"]
		if got, want := resource["data"], base64.StdEncoding.EncodeToString([]byte("as it is")); got != want {
			t.Errorf("data %v, want %v", got, want)
		}
	})
}

func TestUnreadableAttachmentIsRolledBackAndReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer answer
		status int
		reason export.LossReason
	}{
		"missing":   {answer{status: 404}, 404, export.LossNotFound},
		"forbidden": {answer{status: 403}, 403, export.LossRefused},
		"too large": {answer{status: 200, body: strings.Repeat("x", 26<<20)}, 0, export.LossTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := withAttachments(t)
				c.answer.always = true
				b.server.script("documents/7", c.answer)
				b.work(t, 0)
				if found := binaries(t, b.file(t)); len(found) != 1 || found["b1"] == nil {
					t.Errorf("%d binaries, want b1 alone", len(found))
				}
				want := export.TypeOutcome{
					Type: "Binary", Result: export.OutcomeTruncated, Count: 1, Missing: 1, Status: c.status,
					Reason: c.reason,
				}
				if got := outcomeOf(t, b.task(), "Binary"); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if got, want := b.task().Files[0].Bytes, int64(len(b.file(t))); got != want {
					t.Errorf("the task tells %d bytes, want %d", got, want)
				}
			})
		})
	}
}

func TestHandoverBetweenAttachmentsPreservesFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		whole := withAttachments(t)
		whole.work(t, 0)
		b := withAttachments(t)
		b.server.script("documents/7", answer{status: 503, retryAfter: 120})
		b.finish(t)
		if got, want := string(b.file(t)), string(whole.file(t)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if len(b.enqueued.tasks) != 1 || b.enqueued.tasks[0] != 2*time.Minute+afterWait {
			t.Errorf("enqueued %v, want one after two minutes", b.enqueued.tasks)
		}
	})
}

// withManyAttachments returns a bench whose server has a note with twelve attachments. The third attachment is too
// large to be read ahead, and the fifth does not exist.
func withManyAttachments(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.server.latency = time.Second
	b.server.types, b.server.pages = []string{"Patient:_id", "DocumentReference:subject"},
		map[string][]string{"DocumentReference": {"n1"}}
	all := make([]string, 0, 12)
	for i := range cap(all) {
		path := fmt.Sprintf("documents/%d", i)
		all = append(all, `{"attachment":{"url":"`+base+"/"+path+`","contentType":"text/plain"}}`)
		b.server.resources[path] = fmt.Sprintf("synthetic text %d", i)
	}
	b.server.resources["documents/2"] = strings.Repeat("large ", 500<<10)
	delete(b.server.resources, "documents/4")
	b.server.add(t, `{"resourceType":"Patient","id":"p1"}`,
		`{"resourceType":"DocumentReference","id":"n1","content":[`+strings.Join(all, ",")+`]}`)
	return b
}

func TestAttachmentsAreReadConcurrentlyAndWrittenInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := withManyAttachments(t)
		began := time.Now()
		b.work(t, 0)
		// The run requests the patient, the statement, the search and twelve attachments, one of them twice.
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("the export took %v", took)
		}
		var got []string
		for line := range strings.Lines(string(b.file(t))) {
			var resource struct {
				ResourceType string
				Data         []byte
				Meta         struct{ Source string }
			}
			if err := json.Unmarshal([]byte(line), &resource); err != nil {
				t.Fatal(err)
			}
			if path, ok := strings.CutPrefix(resource.Meta.Source, base+"/documents/"); ok {
				got = append(got, path)
				if string(resource.Data) != b.server.resources["documents/"+path] {
					t.Errorf("document %s has other content: %d bytes", path, len(resource.Data))
				}
			}
		}
		if diff := cmp.Diff(strings.Fields("0 1 2 3 5 6 7 8 9 10 11"), got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if got := b.server.times("documents/2"); got != 2 {
			t.Errorf("the large one was asked for %d times, want once before its turn and once in it", got)
		}
	})
}

func TestHandoverDuringAttachmentReadAheadPreservesFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		whole := withManyAttachments(t)
		whole.work(t, 0)
		for _, breaks := range []string{"documents/0", "documents/2", "documents/7", "documents/11"} {
			b := withManyAttachments(t)
			b.server.script(breaks, answer{status: 503, retryAfter: 120})
			if runs := b.finish(t); runs != 2 {
				t.Errorf("%s: %d runs, want 2", breaks, runs)
			}
			if got, want := string(b.file(t)), string(whole.file(t)); got != want {
				t.Errorf("%s: the file has %d bytes, want %d, or another order", breaks, len(got), len(want))
			}
		}
	})
}
