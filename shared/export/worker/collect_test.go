package worker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

func TestResourcesAreWrittenOnceInStableOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		got := b.task()
		if got.Stats.TotalResources != len(wholeRecord()) || got.Stats.TotalByResourceType["Observation"] != 4 {
			t.Errorf("stats: %+v", got.Stats)
		}
		want := []export.TypeOutcome{
			{Type: "Patient", Result: export.OutcomeOK, Count: 1},
			{Type: "Goal", Result: export.OutcomeEmpty},
			{Type: "Condition", Result: export.OutcomeOK, Count: 3, LeftOut: 1},
			{Type: "MedicationRequest", Result: export.OutcomeOK, Count: 1},
			{Type: "Observation", Result: export.OutcomeOK, Count: 4},
			{Type: "DocumentReference", Result: export.OutcomeOK, Count: 1},
			// One observation's performer is on another server.
			{Type: "Practitioner", Result: export.OutcomeTruncated, Count: 2, Missing: 1, Reason: export.LossElsewhere},
			// One of the note's attachments is on another server.
			{Type: "Binary", Result: export.OutcomeTruncated, Count: 1, Missing: 1, Reason: export.LossElsewhere},
			{Type: "Organization", Result: export.OutcomeOK, Count: 3},
			{Type: "Specimen", Result: export.OutcomeOK, Count: 1},
			{Type: "Medication", Result: export.OutcomeOK, Count: 1},
		}
		if diff := cmp.Diff(want, asked(got)); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		sum := sha256.Sum256(b.file(t))
		wantFiles := []export.File{{
			Format: export.JSONLines, ContentType: "application/fhir+ndjson", Name: taskID + ".jsonl",
			Key:   "test/" + tenant.OrgID + "/" + taskID + "/segment-1.ndjson",
			Bytes: int64(len(b.file(t))), SHA256: hex.EncodeToString(sum[:]),
		}}
		if diff := cmp.Diff(wantFiles, got.Files); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if !got.FilesUntil.Equal(time.Now().Add(8*24*time.Hour)) || !got.SentAt.Equal(time.Now()) ||
			!got.FinishedAt.Equal(time.Now()) {
			t.Errorf("times: until %v, sent %v, finished %v", got.FilesUntil, got.SentAt, got.FinishedAt)
		}
	})
}

func TestResourcesAreWrittenUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.resources["Condition/c3"] = "{\n \"id\" : \"c3\",\r\n \"resourceType\":\"Condition\", " +
			"\"onsetAge\":{\"value\":1.50},\"note\":[{\"text\":\"a\\nb ü\"}]}"
		b.work(t, 0)
		want := `{"id":"c3","resourceType":"Condition","meta":{"source":"` + base +
			`/Condition/c3"},"onsetAge":{"value":1.50},"note":[{"text":"a\nb ü"}]}`
		if lines := strings.Split(string(b.file(t)), "\n"); !slices.Contains(lines, want) {
			t.Errorf("no line %s in %q", want, lines)
		}
	})
}

func TestMetaSourceIsOmittedWhenDisabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.worker.AddMetaSource = false
		b.work(t, 0)
		if file := string(b.file(t)); strings.Contains(file, `"source"`) ||
			!strings.Contains(file, `{"resourceType":"Specimen","id":"s1"}`+"\n") {
			t.Errorf("file %s", file)
		}
	})
}

func TestWorkerSendsOnlyNecessaryRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.work(t, 0)
		want := []string{
			"Patient/p1", "metadata", findConditions, "Condition?_count=100&page=1&patient=p1", findObservations, observations2,
			"Observation?_count=100&page=2&patient=p1", findNotes, "Goal?_count=100&patient=p1",
			"MedicationRequest?_count=100&patient=p1",
			"Practitioner/d1", "Organization/g1", "Practitioner/d2", "Binary/b1", "Organization/g2", "Organization/g3",
			"Specimen/s1",
		}
		slices.Sort(want)
		slices.Sort(b.server.asked)
		if diff := cmp.Diff(want, b.server.asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]bool{"Bearer first": true, "": true}, b.server.bearers); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
	})
}

func TestSuccessEventContainsSpecifiedFields(t *testing.T) {
	t.Parallel()
	for name, deprecated := range map[string]bool{"with the deprecated link": true, "without it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.worker.SendDownloadLink = deprecated
				b.server.types = []string{"Condition:patient"}
				b.work(t, 0)
				if len(b.results()) != 1 || !slices.Equal(b.enqueued.events, []string{b.results()[0].ID}) {
					t.Fatalf("events %v, enqueued %v", b.results(), b.enqueued.events)
				}
				event := b.results()[0]
				links, err := b.worker.Links.List(b.task())
				if err != nil {
					t.Fatal(err)
				}
				signed, err := b.worker.Links.Manifest(b.task())
				if err != nil {
					t.Fatal(err)
				}
				link := map[string]any{"url": links[0].URL, "export_type": "jsonl", "content_type": "application/fhir+ndjson"}
				data := map[string]any{
					"download_links": []any{link}, "org_connection_id": connectionID, "task_id": taskID, "org_id": tenant.OrgID,
					"stats": map[string]any{"total_resources": 7.0, "total_by_resource_type": map[string]any{
						"Patient": 1.0, "Condition": 3.0, "Practitioner": 2.0, "Organization": 1.0,
					}},
					"manifest": map[string]any{"url": signed.URL, "signature": b.task().Manifest.Signature},
				}
				if deprecated {
					data["download_link"] = link
				}
				want := map[string]any{
					"api_mode": "test", "date": "2000-01-01T00:00:00Z", "id": event.ID, "type": "patient.ehi_export_success",
					"data": data,
				}
				sent, err := event.Wire(b.worker.Links)
				if err != nil {
					t.Fatal(err)
				}
				var got map[string]any
				if err := json.Unmarshal(sent, &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestExportExcludesOtherPatientsAndOperationOutcomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.add(t, `{"resourceType":"OperationOutcome","id":"w1"}`)
		b.server.pages["Condition"] = []string{"Patient/p2 c1 OperationOutcome/w1"}
		b.work(t, 0)
		want := without(wholeRecord(), "Condition/c2", "Condition/c3", "Practitioner/d2")
		if diff := cmp.Diff(want, names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestResourcesWithoutIDAreDistinguishedByContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		one, other := `{"resourceType":"Condition","code":{"text":"a"}}`, `{"resourceType":"Condition","code":{"text":"b"}}`
		page := `{"resourceType":"Bundle","entry":[{"resource":` + one + `},{"resource":` + other +
			`},{"resource":` + one + `}]}`
		b.server.script(findConditions, answer{status: 200, body: page})
		b.work(t, 0)
		if got := b.task().Stats.TotalByResourceType["Condition"]; got != 2 {
			t.Errorf("wrote %d, want 2", got)
		}
	})
}

func TestSearchStopsAtPageLimitWhenPagesNeverEnd(t *testing.T) {
	t.Parallel()
	page := func(id, next string) answer {
		return answer{status: 200, always: true, body: `{"resourceType":"Bundle","link":[{"relation":"next","url":"` + next +
			`"}],"entry":[{"resource":{"resourceType":"Condition","id":"` + id + `"}}]}`}
	}
	for name, c := range map[string]struct {
		pages    map[string]answer
		requests int
	}{
		"a page that follows itself": {map[string]answer{
			findConditions: page("c1", "Condition?at=b"), "Condition?at=b": page("c2", base+"/Condition?at=b"),
		}, 3},
		"two pages in turn": {map[string]answer{
			findConditions:   page("c1", base+"/Condition?at=b"),
			"Condition?at=b": page("c2", base+"/Condition?at=c"), "Condition?at=c": page("c3", base+"/Condition?at=b"),
		}, 3},
		"back to the beginning": {map[string]answer{
			findConditions: page("c1", base+"/Condition?at=b"), "Condition?at=b": page("c2", base+"/"+findConditions),
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				for request, scripted := range c.pages {
					b.server.script(request, scripted)
				}
				b.work(t, 0)
				got := 0
				for _, asked := range b.server.asked {
					if strings.HasPrefix(asked, "Condition?") {
						got++
					}
				}
				if got > c.requests+1 { // one page may have been read ahead
					t.Errorf("%d requests for a loop, want at most %d", got, c.requests+1)
				}
				if o := outcomeOf(t, b.task(), "Condition"); o.Result != export.OutcomeTruncated {
					t.Errorf("outcome %+v, want truncated", o)
				}
				if o := outcomeOf(t, b.task(), "Observation"); o.Result != export.OutcomeOK {
					t.Errorf("the next type: %+v, want ok", o)
				}
			})
		})
	}
}

func TestExportContinuesAfterFailedReference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer answer
		want   export.TypeOutcome
	}{
		"gone": {
			answer{status: 410},
			export.TypeOutcome{
				Type: "Binary", Result: export.OutcomeUnsupported, Missing: 2, Status: 410,
				Reason: export.LossNotFound,
			},
		},
		"forbidden": {
			answer{status: 403},
			export.TypeOutcome{
				Type: "Binary", Result: export.OutcomeDenied, Missing: 2, Status: 403,
				Reason: export.LossRefused,
			},
		},
		"another resource": {
			answer{status: 200, body: `{"resourceType":"Binary","id":"b9"}`},
			export.TypeOutcome{
				Type: "Binary", Result: export.OutcomeFailed, Missing: 2, Status: 200,
				Reason: export.LossContent,
			},
		},
		"fails on their end": {
			answer{status: 500},
			export.TypeOutcome{
				Type: "Binary", Result: export.OutcomeFailed, Missing: 2, Status: 500,
				Reason: export.LossUnavailable,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.answer.always = true
				b.server.script("Binary/b1", c.answer)
				b.finish(t)
				if diff := cmp.Diff(without(wholeRecord(), "Binary"), names(t, b.file(t))); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				if got := outcomeOf(t, b.task(), "Binary"); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

func TestWorkerDoesNotFollowLinksToOtherServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		page := `{"resourceType":"Bundle","link":[{"relation":"next","url":"https://elsewhere.example/other?page=2"}],` +
			`"entry":[]}`
		b.server.script("Condition?*", answer{status: 200, body: page, always: true})
		b.work(t, 0)
		if got := b.server.times("elsewhere.example"); got != 0 {
			t.Errorf("another server was asked %d times", got)
		}
		if o := outcomeOf(t, b.task(), "Condition"); o.Result != export.OutcomeTruncated ||
			o.Reason != export.LossForeignLink {
			t.Errorf("outcome %+v, want truncated", o)
		}
		if got := b.server.times("Condition?*"); got != 2 {
			t.Errorf("%d searches, want one and a larger one", got)
		}
	})
}

func TestWorkerRequestsAllTypesWhenCapabilityStatementIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, unreadable := range map[string]answer{
		"404": {status: 404}, "HTML": {status: 200, body: "<html>"},
		"something else": {status: 200, body: `{"resourceType":"Bundle"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				unreadable.always = true
				b.server.script("metadata", unreadable)
				b.work(t, 0)
				for _, resourceType := range []string{"Condition", "Observation", "MedicationRequest"} {
					if o := outcomeOf(t, b.task(), resourceType); o.Result != export.OutcomeOK {
						t.Errorf("outcome %+v, want ok", o)
					}
				}
				if o := outcomeOf(t, b.task(), "Immunization"); o.Result != export.OutcomeUnsupported || o.Status != 404 {
					t.Errorf("outcome %+v, want unsupported", o)
				}
			})
		})
	}
}
