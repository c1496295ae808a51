package worker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

type listed struct {
	Name      string
	Bytes     int
	SHA256    string
	Resources int
}

type signedManifest struct {
	Server   map[string]string
	Files    []listed
	Counts   map[string]int
	Complete *bool
	Missing  map[string]string
	Options  map[string]any
	Software map[string]string
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
}

// manifest returns the finished export's manifest, after verifying its signature.
func (b *bench) manifest(t *testing.T) signedManifest {
	t.Helper()
	body := b.object(t, b.task().Manifest.Key)
	signed, err := jose.ParseDetached(b.task().Manifest.Signature, body, []jose.SignatureAlgorithm{jose.ES384})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = signed.Verify(b.vault.Keys["ec1"].Public()); err != nil {
		t.Errorf("the signature does not verify: %v", err)
	}
	if got := signed.Signatures[0].Protected.ExtraHeaders["typ"]; got != "recordbridge-manifest+jws" {
		t.Errorf("the signature's typ is %v", got)
	}
	var read signedManifest
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return read
}

func TestManifestListsEveryFileOfExport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) {
			task.Options.Formats = []export.Format{export.JSONLines, export.Gzipped, export.OneBundle, export.Report}
			task.Options.Since = time.Date(1990, 2, 3, 0, 0, 0, 0, time.UTC)
		})
		b.finish(t)
		got, resources := b.manifest(t), len(names(t, b.file(t)))
		want := make([]listed, 0, len(b.task().Files))
		for _, f := range b.task().Files {
			body := b.object(t, f.Key)
			sum := sha256.Sum256(body)
			one := listed{Name: f.Name, Bytes: len(body), SHA256: hex.EncodeToString(sum[:]), Resources: resources}
			if f.Format == export.Report {
				one.Resources = 0
			}
			want = append(want, one)
		}
		if diff := cmp.Diff(want, got.Files); diff != "" || len(want) != 4 {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		counts := map[string]int{}
		for _, name := range names(t, b.file(t)) {
			resourceType, _, _ := strings.Cut(name, "/")
			counts[resourceType]++
		}
		if diff := cmp.Diff(counts, got.Counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		options := map[string]any{
			"since": "1990-02-03T00:00:00Z", "formats": []any{"jsonl", "jsonl_gz", "fhir_bundle", "outcome"},
		}
		software := map[string]string{"name": "recordbridge", "release": "0.1.0-1a2b3c4d5e6f"}
		if diff := cmp.Diff([]any{options, software}, []any{got.Options, got.Software}); diff != "" {
			t.Errorf("options and software (-want +got):\n%s", diff)
		}
		if task := b.task(); !got.Started.Equal(task.Began()) || got.Finished.After(task.FinishedAt) ||
			got.Finished.Before(got.Started) {
			t.Errorf("the collection took from %v to %v, the task from %v to %v", got.Started, got.Finished, task.Began(),
				task.FinishedAt)
		}
	})
}

func TestManifestOfIncompleteRecordStatesReasons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := lossBench(t, refused, full)
		b.finish(t)
		got, want := b.manifest(t), b.task().Shortfall().Missing
		if diff := cmp.Diff(want, got.Missing); diff != "" || len(want) == 0 || got.Complete == nil || *got.Complete {
			t.Errorf("complete %v, missing (-want +got):\n%s", got.Complete, diff)
		}
		whole := lossBench(t, full, empty)
		whole.finish(t)
		if got := whole.manifest(t); got.Complete == nil || !*got.Complete || got.Missing != nil {
			t.Errorf("a complete record: complete %v, missing %v", got.Complete, got.Missing)
		}
	})
}

// A hostile server chooses the texts of its CapabilityStatement.
func TestManifestBoundsServerTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ software, want string }{
		"a plain name":       {`"Example \u00c9HR"`, "Example ÉHR"},
		"markup":             {`"<script>alert(1)</script>"`, "<script>alert(1)</script>"},
		"control characters": {`"A\u0000\r\n\u001b[31mB\u202eC"`, "A[31mBC"},
		"10 MB":              {`"` + strings.Repeat("é", 5<<20) + `"`, ""},
		"a long name":        {`"` + strings.Repeat("é", 120) + `"`, strings.Repeat("é", 100)},
		"no string":          {`7`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.script("metadata", answer{
					status: 200, always: true, body: `{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1\u0007",` +
						`"software":{"name":` + c.software + `}}`,
				})
				b.finish(t)
				got := b.manifest(t)
				want := map[string]string{"fhir_base": base, "fhir_version": "4.0.1", "software": c.want}
				if c.want == "" {
					delete(want, "software")
				}
				if diff := cmp.Diff(want, got.Server); diff != "" {
					t.Errorf("server (-want +got):\n%s", diff)
				}
				if body := b.object(t, b.task().Manifest.Key); strings.Contains(string(body), "<script") || len(body) > 8<<10 {
					t.Errorf("the manifest has %d bytes: %.300s", len(body), body)
				}
			})
		})
	}
}

func TestManifestContainsNoTokenOrPatientData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.finish(t)
		body := string(b.object(t, b.task().Manifest.Key))
		for _, secret := range []string{
			"first", "renewed", wideScope, "Patient/" + patientID, "?token", `"` + patientID + `"`,
		} {
			if strings.Contains(body, secret) {
				t.Errorf("the manifest contains %q: %s", secret, body)
			}
		}
	})
}

func TestExportWaitsWithoutNewRequestsWhenManifestKeyIsUnusable(t *testing.T) {
	t.Parallel()
	for name, isLoaded := range map[string]bool{"no public key": false, "no signature": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if isLoaded {
					if _, _, err := b.worker.Manifests.Signer(t.Context(), "ES384", ""); err != nil {
						t.Fatal(err)
					}
				}
				b.vault.Away = fault.Spot{Dependency: "KMS"}.Failed(errTrouble)
				waitForManifestKey(t, b)
				b.vault.Away = nil
				b.finish(t)
				if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				b.manifest(t)
				if diff := cmp.Diff(b.kept(), b.files.Keys()); diff != "" {
					t.Errorf("objects left (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// waitForManifestKey runs the worker ten times while the key is unusable. Only the first run may send requests.
func waitForManifestKey(t *testing.T, b *bench) {
	t.Helper()
	b.work(t, 0)
	asked := len(b.server.asked)
	for range 9 {
		if task := b.task(); task.Status != export.Pending || task.Failures != 0 ||
			time.Until(task.LeaseUntil) != time.Minute || len(b.results()) != 0 {
			t.Fatalf("status %s, %d failures, next at %v", task.Status, task.Failures, task.LeaseUntil)
		}
		<-time.After(time.Minute + afterWait)
		b.work(t, 0)
	}
	if got := len(b.server.asked); got != asked {
		t.Errorf("the server was asked %d times while the key was unusable", got-asked)
	}
}

// Signatures differ each time, so a run that repeats must not replace the manifest of an event's signature.
func TestManifestMatchesSignatureWhenRunRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.store.finish = func() error { return errTrouble }
		if err := b.worker.Work(t.Context(), tenant, taskID, time.Time{}); !errors.Is(err, errTrouble) {
			t.Fatal(err)
		}
		first := b.files.Keys()
		b.store.finish = nil
		b.finish(t)
		b.manifest(t)
		for _, key := range first {
			if key == b.task().Manifest.Key {
				t.Errorf("the second run replaced %s", key)
			}
		}
		if len(first) != 2 {
			t.Errorf("the first run left %v", first)
		}
	})
}
