package worker_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

// withAttachments has a note whose content is at two addresses of the server, one of them a Binary.
func withAttachments(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.server.add(t, `{"resourceType":"DocumentReference","id":"n1","content":[`+
		`{"attachment":{"url":"`+base+`/documents/7","contentType":"application/pdf"}},`+
		`{"attachment":{"url":"Binary/b1","contentType":"text/plain"}}]}`)
	b.server.resources["documents/7"] = "%PDF-1.7 synthetic"
	return b
}

// binaries are the Binary resources of a file, by id.
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

func TestContentAtAnAddressBecomesABinary(t *testing.T) {
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
			if len(id) != 62 || resource["data"] != want || resource["contentType"] != "application/pdf" || meta["source"] != base+"/documents/7" {
				t.Errorf("binary %v", resource)
			}
		}
		if got := b.task().Stats.TotalByResourceType["Binary"]; got != 2 {
			t.Errorf("stats tell %d binaries, want 2", got)
		}
	})
}

func TestABinaryThatIsServedAsItsBytesIsOneAllTheSame(t *testing.T) {
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

func TestAnAttachmentThatCannotBeReadIsNamedAndLeavesNoBrokenLine(t *testing.T) {
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
				want := export.TypeOutcome{Type: "Binary", Result: export.OutcomeTruncated, Count: 1, Missing: 1, Status: c.status, Reason: c.reason}
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

func TestAHandOverBetweenAttachmentsChangesNothing(t *testing.T) {
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
		if len(b.enqueued.tasks) != 1 || b.enqueued.tasks[0] != 2*time.Minute {
			t.Errorf("enqueued %v, want one after two minutes", b.enqueued.tasks)
		}
	})
}
