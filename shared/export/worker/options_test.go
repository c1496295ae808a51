package worker_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

func TestTypesOptionLimitsRequestsAndFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) {
			task.Options = export.Options{Types: []string{"Claim", "MedicationRequest", "Practitioner"}}
		})
		b.work(t, 0)
		want := []string{"Patient/p1", "MedicationRequest/r1", "Practitioner/d1"}
		if diff := cmp.Diff(want, names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if b.server.times(findConditions)+b.server.times(anyObservations)+b.server.times("Binary/b1")+
			b.server.times("Organization/g1") > 0 {
			t.Errorf("asked for %v", b.server.asked)
		}
		if got := outcomeOf(t, b.task(), "Claim").Result; got != export.OutcomeUnsupported {
			t.Errorf("a type that the server has not: %s, want unsupported", got)
		}
	})
}

func TestSinceOptionExcludesUnchangedResources(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.types = []string{"Condition:patient:_lastUpdated", "Observation:patient", "MedicationRequest:patient"}
		since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		b.change(func(task *export.Task) { task.Options = export.Options{Since: since} })
		for id, at := range map[string]string{
			"o1": "2026-03-01T11:59:59Z", "o2": "2026-03-01T14:00:00+02:00", "o3": "soon",
			"o4": "2026-03-02T00:00:00Z",
		} {
			b.server.resources["Observation/"+id] = `{"resourceType":"Observation","id":"` + id + `","meta":{"lastUpdated":"` +
				at + `"},"performer":[{"reference":"Practitioner/of-` + id + `"}]}`
			b.server.resources["Practitioner/of-"+id] = `{"resourceType":"Practitioner","id":"of-` + id +
				`","meta":{"lastUpdated":"2026-04-01T00:00:00Z"}}`
		}
		b.server.resources["Practitioner/of-o2"] = `{"resourceType":"Practitioner","id":"of-o2",` +
			`"meta":{"lastUpdated":"2020-01-01T00:00:00Z"}}`
		b.work(t, 0)
		got := names(t, b.file(t))
		for _, name := range []string{
			"Patient/p1", "Condition/c1", "Observation/o2", "Observation/o3", "Observation/o4",
			"Practitioner/of-o3", "Practitioner/of-o4",
		} {
			if !slices.Contains(got, name) {
				t.Errorf("no %s in %v", name, got)
			}
		}
		for _, name := range []string{"Observation/o1", "Practitioner/of-o1", "Practitioner/of-o2"} {
			if slices.Contains(got, name) {
				t.Errorf("%s in %v", name, got)
			}
		}
		if b.server.times("Condition?_count=100&_lastUpdated=ge2026-03-01T12%3A00%3A00Z&patient=p1") != 1 {
			t.Errorf("asked for %v", b.server.asked)
		}
	})
}

// formatted exports the record in all formats and returns the files, keyed by format.
func formatted(t *testing.T, b *bench, runFor time.Duration) map[export.Format][]byte {
	t.Helper()
	b.change(func(task *export.Task) {
		task.Options = export.Options{Formats: []export.Format{
			export.JSONLines, export.Gzipped, export.OneBundle,
			export.Report,
		}}
	})
	for runs := 0; b.task().Status == export.Pending; runs++ {
		if runs > 100 {
			t.Fatal("the task never ends")
		}
		b.work(t, runFor)
	}
	found := make(map[export.Format][]byte, len(b.task().Files))
	for _, f := range b.task().Files {
		body := b.object(t, f.Key)
		sum := sha256.Sum256(body)
		if int64(len(body)) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s has %d bytes and the digest %x, the task tells %d and %s", f.Name, len(body), sum, f.Bytes, f.SHA256)
		}
		found[f.Format] = body
	}
	return found
}

func TestFormatsContainSameRecordAcrossRuns(t *testing.T) {
	t.Parallel()
	for name, runFor := range map[string]time.Duration{"one run": 0, "many runs": 78 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.latency = time.Second
				found := formatted(t, b, runFor)
				lines := found[export.JSONLines]
				if diff := cmp.Diff(wholeRecord(), names(t, lines)); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				packed, err := gzip.NewReader(bytes.NewReader(found[export.Gzipped]))
				if err != nil {
					t.Fatal(err)
				}
				if unpacked, err := io.ReadAll(packed); err != nil || !bytes.Equal(unpacked, lines) {
					t.Errorf("compressed: %v, %d bytes, want %d", err, len(unpacked), len(lines))
				}
				wantBundle(t, found[export.OneBundle], lines)
				if diff := cmp.Diff(b.kept(), b.files.Keys()); diff != "" {
					t.Errorf("objects left (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func wantBundle(t *testing.T, body, lines []byte) {
	t.Helper()
	var bundle struct {
		ResourceType, Type string
		Entry              []struct {
			FullURL  string
			Resource json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &bundle); err != nil {
		t.Fatal(err)
	}
	var joined []byte
	for _, e := range bundle.Entry {
		joined = append(append(joined, e.Resource...), '\n')
	}
	if !bytes.Equal(joined, lines) || bundle.ResourceType != "Bundle" || bundle.Type != "collection" {
		t.Errorf("%s of type %s with %d entries", bundle.ResourceType, bundle.Type, len(bundle.Entry))
	}
	if got, want := bundle.Entry[0].FullURL, base+"/Patient/p1"; got != want {
		t.Errorf("fullUrl %s, want %s", got, want)
	}
}

func TestOutcomeFileListsRequestAndLosses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.set.AskedScope = wideScope + " offline_access"
		b.server.script(anyObservations, answer{status: 403, always: true})
		found := formatted(t, b, 0)
		var got struct {
			TaskID   string `json:"task_id"`
			Complete *bool
			Missing  map[string]string
			Scope    export.Scope
			Options  export.Options
			Outcome  []export.TypeOutcome
			Files    []export.FileSummary
		}
		if err := json.Unmarshal(found[export.Report], &got); err != nil {
			t.Fatal(err)
		}
		if got.TaskID != taskID || got.Scope != (export.Scope{Asked: wideScope + " offline_access", Granted: wideScope}) ||
			len(got.Options.Formats) != 4 {
			t.Errorf("got %+v", got)
		}
		if diff := cmp.Diff(b.task().Outcome, got.Outcome); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got.Complete == nil || *got.Complete || got.Missing["Observation"] != "refused" {
			t.Errorf("complete %v, missing %v", got.Complete, got.Missing)
		}
		if diff := cmp.Diff(b.task().Summaries()[:3], got.Files); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if strings.Contains(string(found[export.Report]), "http") && strings.Contains(string(found[export.Report]), "://") {
			t.Errorf("an address in %s", found[export.Report])
		}
	})
}

func TestDownloadLinksIncludeFormatAndFHIRVersion(t *testing.T) {
	t.Parallel()
	for version, suffix := range map[string]string{
		"4.0.1": "", "": "", "3.0.2": "; fhirVersion=3.0",
		"1.0.2": "; fhirVersion=1.0",
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.version = version
				formatted(t, b, 0)
				links, err := b.worker.Links.List(b.task())
				if err != nil {
					t.Fatal(err)
				}
				got := make([]string, 0, len(links))
				for _, link := range links {
					got = append(got, link.ExportType+" "+link.ContentType)
				}
				want := []string{
					"jsonl application/fhir+ndjson" + suffix, "jsonl_gz application/gzip",
					"fhir_bundle application/fhir+json" + suffix,
					"outcome application/json",
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("links (-want +got):\n%s", diff)
				}
			})
		})
	}
}
