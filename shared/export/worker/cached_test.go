package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// cache holds the chunks of a connection's records, keyed by batch and fixture. Reading a chunk takes one second.
type cache struct {
	chunks map[string][][]string
	fails  int // number of reads that fail before reads succeed
}

func (c *cache) Read(
	_ context.Context, of org.Tenant, connection string, held tokens.Records, fixture string, chunk int,
) (iter.Seq[[]byte], error) {
	<-time.After(time.Second)
	if c.fails > 0 {
		c.fails--
		return nil, errTrouble
	}
	if of != tenant || connection != connectionID {
		return nil, fmt.Errorf("the record of %s was asked for", connection)
	}
	return func(yield func([]byte) bool) {
		for _, one := range c.chunks[held.Batch+fixture][chunk] {
			if !yield([]byte(one)) {
				return
			}
		}
	}, nil
}

// newCachedBench returns a bench whose connection has a cached record, split into the given chunks, and no FHIR server.
func newCachedBench(t *testing.T, chunks ...[]string) (*bench, *cache) {
	t.Helper()
	b, c := newBench(t), &cache{chunks: map[string][][]string{"one": chunks}}
	b.tokens.set = tokens.Set{
		Scope:   "patient/*.read",
		Records: &tokens.Records{Generation: 1, Batch: "one", Chunks: len(chunks), Documents: 2},
	}
	b.worker.Cache = c
	return b, c
}

// cachedRecord returns the resources of a record converted from documents. The Patient's id may differ from the patient
// id in the tokens.
func cachedRecord() []string {
	all := []string{`{"resourceType":"Patient","id":"p","link":[{"other":{"reference":"Patient/other"},` +
		`"type":"seealso"}]}`}
	for n := range 20 {
		all = append(all,
			fmt.Sprintf(
				`{"resourceType":"Observation","id":"o%d","subject":{"reference":"Patient/p"},`+
					`"performer":[{"reference":"Practitioner/d1"}]}`, n))
	}
	return append(all, `{"resourceType":"Practitioner","id":"d1"}`,
		`{"resourceType":"DocumentReference","id":"r1","meta":{"lastUpdated":"2020-01-01T00:00:00Z"},`+
			`"content":[{"attachment":{"url":"https://elsewhere.example/x"}}]}`)
}

func lines(record []string) string { return strings.Join(record, "\n") + "\n" }

// TestCachedRecordIsExportedOnceWithoutRequests checks that the export does not read the record's references and that
// the record's source has no URL.
func TestCachedRecordIsExportedOnceWithoutRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := cachedRecord()
		b, _ := newCachedBench(t, record[:3], record[1:7], record[5:])
		b.change(func(task *export.Task) {
			task.Options.Formats = []export.Format{export.JSONLines, export.Gzipped, export.OneBundle, export.Report}
		})
		b.work(t, 0)
		if diff := cmp.Diff(lines(record), string(b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if len(b.server.asked) != 0 {
			t.Errorf("asked for %v", b.server.asked)
		}
		got := b.task()
		want := []export.TypeOutcome{
			{Type: "DocumentReference", Result: export.OutcomeOK, Count: 1},
			{Type: "Observation", Result: export.OutcomeOK, Count: 20},
			{Type: "Patient", Result: export.OutcomeOK, Count: 1},
			{Type: "Practitioner", Result: export.OutcomeOK, Count: 1},
		}
		if diff := cmp.Diff(want, got.Outcome); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got.Stats.TotalResources != len(record) || got.Scope.Granted != "patient/*.read" ||
			got.Shortfall().Complete != nil {
			t.Errorf("stats %+v, scope %+v, shortfall %+v", got.Stats, got.Scope, got.Shortfall())
		}
		if p := got.Progress; p.QueriesDone != 3 || p.QueriesPlanned != 3 {
			t.Errorf("progress %+v, want three chunks", p)
		}
		var collection struct {
			Entry []struct {
				FullURL string
			}
		}
		if err := json.Unmarshal(b.object(t, got.Files[2].Key), &collection); err != nil ||
			len(collection.Entry) != len(record) || collection.Entry[0].FullURL != "" {
			t.Errorf("the Bundle has %d entries, %v", len(collection.Entry), err)
		}
		if report := string(b.object(t, got.Files[3].Key)); !strings.Contains(report, `"fhir_version":"4.0.1"`) {
			t.Errorf("outcome %s", report)
		}
	})
}

// TestCachedRecordFileIsIndependentOfChunksAndHandovers checks that the file does not depend on chunk boundaries,
// handovers between runs, or temporary read failures.
func TestCachedRecordFileIsIndependentOfChunksAndHandovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record, random := cachedRecord(), rand.New(rand.NewPCG(21, 5))
		whole, _ := newCachedBench(t, record)
		whole.work(t, 0)
		for range 40 {
			var chunks [][]string
			for at := 0; at < len(record); {
				next := min(len(record), at+1+random.IntN(6))
				// some chunks end with the first resource of the next chunk
				chunks, at = append(chunks, record[max(0, at-random.IntN(2)):next]), next
			}
			b, c := newCachedBench(t, chunks...)
			step := time.Duration(1+random.IntN(4)) * time.Second
			for runs := 0; b.task().Status == export.Pending; runs++ {
				if c.fails = random.IntN(2); c.fails > 0 {
					if err := b.worker.Work(t.Context(), tenant, taskID, time.Now().Add(time.Hour)); err == nil ||
						b.task().Status != export.Pending {
						t.Fatalf("a chunk that cannot be read ended in %v, status %s", err, b.task().Status)
					}
					<-time.After(lease + time.Second)
				}
				b.work(t, margin+step-time.Millisecond)
				if runs > len(chunks) {
					t.Fatal("the task never ends")
				}
			}
			wantSameExport(t, b, b.file(t), whole.task())
			if diff := cmp.Diff(lines(record), string(b.file(t))); diff != "" {
				t.Fatalf("chunks %d, step %v (-want +got):\n%s", len(chunks), step, diff)
			}
		}
	})
}

func TestCachedRecordExportAppliesOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := cachedRecord()
		// the Patient is included even if it has not changed
		record[0] = `{"resourceType":"Patient","id":"p","meta":{"lastUpdated":"2020-01-01T00:00:00Z"}}`
		b, _ := newCachedBench(t, record)
		b.change(func(task *export.Task) {
			task.Options.Types = []string{"DocumentReference", "Goal", "Practitioner"}
			task.Options.Since = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
		})
		b.work(t, 0)
		if diff := cmp.Diff([]string{"Patient/p", "Practitioner/d1"}, names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		want := []export.TypeOutcome{
			{Type: "DocumentReference", Result: export.OutcomeEmpty},
			{Type: "Goal", Result: export.OutcomeEmpty},
			{Type: "Practitioner", Result: export.OutcomeOK, Count: 1},
			{Type: "Patient", Result: export.OutcomeOK, Count: 1},
		}
		if diff := cmp.Diff(want, b.task().Outcome); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}

// TestCachedRecordReportsLostDocuments checks that an export reports lost documents even if it requests only some
// types. A lost document may have contained resources of any type.
func TestCachedRecordReportsLostDocuments(t *testing.T) {
	t.Parallel()
	for name, types := range map[string][]string{"the whole record": nil, "some types": {"Observation"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				record := cachedRecord()
				b, _ := newCachedBench(t, record[:10], record[10:])
				b.tokens.set.Records.Lost = map[string]int{"unavailable": 2, "not_found": 1}
				b.change(func(task *export.Task) { task.Options.Types = types })
				b.work(t, margin+time.Second-time.Millisecond) // losses must be counted only once across the handover
				if p := b.task().Progress; p.QueriesDone != 1 || p.QueriesPlanned != 2 {
					t.Errorf("progress %+v, want one of two chunks", p)
				}
				b.finish(t)
				got := outcomeOf(t, b.task(), "DocumentReference")
				if got.Result == export.OutcomeOK || got.Missing != 3 || got.Reason != export.LossUnavailable {
					t.Errorf("outcome %+v", got)
				}
				if body := string(b.results()[0].Body); !strings.Contains(body,
					`"complete":false,"missing":{"DocumentReference":"unavailable"}`) {
					t.Errorf("told %s", body)
				}
			})
		})
	}
}

func TestCachedExportFailsWithReasonWhenNoResourcesExist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost map[string]int
		want export.Reason
	}{
		"no documents":             {nil, export.TEFCANoDocumentsFound},
		"documents that are gone":  {map[string]int{"not_found": 1}, export.SuppressedPleaseContact},
		"documents without answer": {map[string]int{"unavailable": 1}, export.SuppressedPleaseContact},
		"documents that are none":  {map[string]int{"invalid_content": 1, "not_found": 1}, export.ResourceInvalidContent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, _ := newCachedBench(t)
				b.tokens.set.Records.Lost = c.lost
				b.work(t, 0)
				if got := b.task(); got.Status != export.Failed || got.FailureReason != c.want || len(b.tokens.dues) != 0 {
					t.Errorf("status %s because of %s, want %s", got.Status, got.FailureReason, c.want)
				}
			})
		})
	}
}

func TestFixtureReplacesPatientRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, c := newCachedBench(t)
		b.tokens.set.Records.Lost = map[string]int{"unavailable": 2}
		b.tokens.set.Records.Fixtures = map[string]int{"alder.xml": 1}
		c.chunks["onealder.xml"] = [][]string{cachedRecord()}
		b.change(func(task *export.Task) { task.Options.Fixture = "alder.xml" })
		b.work(t, 0)
		if diff := cmp.Diff(lines(cachedRecord()), string(b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if b.task().Shortfall().Complete != nil {
			t.Errorf("outcome %+v", b.task().Outcome)
		}
	})
}

// TestExportFailsWhenFixtureIsNotCached checks that, if the requested fixture is not cached, the export neither
// delivers a different record nor queries a server.
func TestExportFailsWhenFixtureIsNotCached(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]*tokens.Records{"beside others": {
		Batch: "one", Chunks: 1,
		Fixtures: map[string]int{"alder.xml": 1},
	}, "of a server's record": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if b.tokens.set.Records = record; record != nil {
					b.tokens.set.FHIRBase = ""
				}
				b.change(func(task *export.Task) { task.Options.Fixture = "birch.xml" })
				b.work(t, 0)
				if got := b.task(); got.Status != export.Failed || got.FailureReason != export.SuppressedPleaseContact ||
					len(b.server.asked) != 0 {
					t.Errorf("status %s because of %q, asked for %v", got.Status, got.FailureReason, b.server.asked)
				}
			})
		})
	}
}

// TestExportRestartsWhenRecordIsCachedAgain checks that each resource is written only once if the patient reauthorizes
// during the export.
func TestExportRestartsWhenRecordIsCachedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := cachedRecord()
		b, c := newCachedBench(t, record[:10], record[10:])
		b.tokens.set.Records.Lost = map[string]int{"unavailable": 2}
		b.work(t, margin+time.Second-time.Millisecond)
		newer := append(slices.Clone(record), `{"resourceType":"Goal","id":"g1"}`)
		c.chunks = map[string][][]string{"two": {newer[len(newer)-1:], newer}}
		b.tokens.set.Records = &tokens.Records{Generation: 2, Batch: "two", Chunks: 2}
		b.finish(t)
		want := append(slices.Clone(record[:10]), newer[len(newer)-1])
		if diff := cmp.Diff(lines(append(want, record[10:]...)), string(b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if b.task().Shortfall().Complete != nil {
			t.Errorf("outcome %+v", b.task().Outcome)
		}
	})
}

// TestExpiredCachedRecordMakesTokensDue covers a cached record whose one-day lifetime has ended. An expired record
// can't be renewed.
func TestExpiredCachedRecordMakesTokensDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newCachedBench(t, cachedRecord())
		b.tokens.current = &tokens.UnrenewableError{Version: 1, ExpiresAt: time.Now()}
		b.work(t, 0)
		if got := b.task(); got.FailureReason != export.TokenRefreshFailure ||
			!slices.Equal(b.tokens.dues, []string{connectionID}) {
			t.Errorf("status %s because of %q, due are %v", got.Status, got.FailureReason, b.tokens.dues)
		}
	})
}

func TestCachedRecordRequiresPatientInScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newCachedBench(t, cachedRecord())
		b.tokens.set.Scope, b.tokens.set.AccessToken = "openid", secret.New("x")
		b.work(t, 0)
		if got := b.task(); got.FailureReason != export.ScopePatientMissing {
			t.Errorf("status %s because of %q", got.Status, got.FailureReason)
		}
	})
}
