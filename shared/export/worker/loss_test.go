package worker_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir/plan"
)

// Kinds of response to a search for a type in the loss tests.
const (
	full     = "full"
	empty    = "empty"
	cut      = "cut"
	html     = "html"
	down     = "down"
	refused  = "refused"
	rejected = "rejected"
	unknown  = "unknown"
	later    = "later" // valid first page, truncated second page
)

// lossBench returns a bench whose server has a Patient without references and one type for each of the given responses.
func lossBench(t *testing.T, ways ...string) *bench {
	t.Helper()
	all := strings.Fields("AllergyIntolerance Encounter Goal Immunization Procedure Condition Observation " +
		"ServiceRequest Coverage Device")
	b := newBench(t)
	b.server.types, b.server.pages = []string{"Patient:_id"}, map[string][]string{}
	b.server.add(t, `{"resourceType":"Patient","id":"p1"}`)
	for i, way := range ways {
		name := all[i]
		b.server.types = append(b.server.types, name+":patient")
		b.server.pages[name] = []string{""}
		b.server.add(t, `{"resourceType":"`+name+`","id":"one"}`, `{"resourceType":"`+name+`","id":"two"}`)
		spoiled, request := answer{always: true}, name+"?*"
		switch way {
		case full:
			b.server.pages[name] = []string{"one"}
			continue
		case empty:
			continue
		case later:
			b.server.pages[name] = []string{"one", "two"}
			request = name + "?_count=100&page=1*"
			fallthrough
		case cut:
			spoiled.status, spoiled.body = 200, `{"resourceType":"Bundle","entry":[{`
		case html:
			spoiled.status, spoiled.body = 200, "<html>"
		case down:
			spoiled.status = 503
		case refused:
			spoiled.status = 403
		case rejected:
			spoiled.status = 400
		case unknown:
			spoiled.status, spoiled.body = 400, outcomeBody("not-supported", "no such type")
		}
		b.server.script(request, spoiled)
	}
	return b
}

func TestExportFailsWithReasonWhenHalfOfTypesAreUnreadable(t *testing.T) {
	t.Parallel()
	const content, contact, scope = export.ResourceInvalidContent, export.SuppressedPleaseContact,
		export.ScopePatientMissing
	for ways, want := range map[string]export.Reason{
		"cut":                                    content,
		"cut full":                               content,
		"cut full full":                          "",
		"cut empty":                              content, // a type with no resources counts as read
		"cut empty empty":                        "",
		"cut cut empty full full":                "",
		"cut html empty full":                    content,
		"empty empty empty":                      "",
		"later later later":                      "", // part of each type was read
		"later cut cut":                          content,
		"down down full":                         contact,
		"down full full":                         "",
		"down down cut full":                     contact,
		"down cut full":                          content,
		"refused refused refused":                scope,
		"refused refused full":                   "", // the patient may have shared only some data
		"refused refused refused cut full full":  "",
		"refused refused refused cut cut full":   content,
		"refused rejected":                       scope,
		"rejected rejected":                      contact,
		"rejected full":                          "",
		"unknown unknown unknown":                "", // the portal has no other data
		"unknown unknown unknown cut full full":  "",
		"unknown unknown unknown cut":            content,
		"full full full full full full full cut": "",
	} {
		t.Run(ways, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := lossBench(t, strings.Fields(ways)...)
				b.finish(t)
				if want == "" {
					b.file(t)
					return
				}
				if got := b.task(); got.Status != export.Failed || got.FailureReason != want ||
					len(got.Outcome) <= len(strings.Fields(ways)) {
					t.Errorf("got %s %s with %d outcomes, want failed %s", got.Status, got.FailureReason, len(got.Outcome), want)
				}
				wantFailureEvent(t, b, want)
			})
		})
	}
}

func TestLossIgnoresUnrequestedTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		types []string
		want  export.Status
	}{
		"the broken one alone":    {[]string{"AllergyIntolerance"}, export.Failed},
		"it and one that is read": {[]string{"AllergyIntolerance", "Encounter"}, export.Failed},
		"it and two":              {[]string{"AllergyIntolerance", "Encounter", "Goal"}, export.Success},
		"others":                  {[]string{"Encounter"}, export.Success},
		"the Patient":             {[]string{"Patient"}, export.Success},
		"all":                     {nil, export.Success},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := lossBench(t, cut, full, full)
				b.change(func(task *export.Task) { task.Options.Types = c.types })
				b.finish(t)
				if got := b.task().Status; got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

func TestEverythingOperationCountsAsCompleteWhenSearchesFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := lossBench(t, cut, cut)
		b.tokens.profile = plan.Profile{Everything: true}
		b.server.script("Patient/p1/$everything?_count=100", answer{status: 200, body: `{"resourceType":"Bundle","entry":[` +
			`{"resource":{"resourceType":"Patient","id":"p1"}},{"resource":{"resourceType":"Goal","id":"one"}}]}`})
		b.finish(t)
		if got := names(t, b.file(t)); len(got) != 2 {
			t.Errorf("file %v", got)
		}
	})
}

// successData returns the data of the success event as sent to the webhook.
func successData(t *testing.T, b *bench) string {
	t.Helper()
	if len(b.results()) != 1 || b.task().Status != export.Success {
		t.Fatalf("status %s, %d events", b.task().Status, len(b.results()))
	}
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b.results()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.Data)
}

func TestSuccessEventContainsDocumentedFieldsWhenRecordIsComplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := lossBench(t, full, empty, unknown)
		b.finish(t)
		want, err := os.ReadFile("testdata/success-of-a-whole-record.json")
		if err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`"(url|signature)":"[^"]*"`).ReplaceAllString(successData(t, b), `"$1":"…"`)
		if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	})
}

func TestSuccessEventListsMissingTypesWhenRecordIsIncomplete(t *testing.T) {
	t.Parallel()
	given := map[string]func(b *bench){
		`"Encounter":"invalid_content"`: func(*bench) {},
		`"Encounter":"invalid_content","Practitioner":"not_found"`: func(b *bench) {
			b.server.resources["AllergyIntolerance/one"] = `{"resourceType":"AllergyIntolerance","id":"one",` +
				`"recorder":{"reference":"Practitioner/gone"}}`
		},
		`"Encounter":"invalid_content","Practitioner":"other_server"`: func(b *bench) {
			b.server.resources["AllergyIntolerance/one"] = `{"resourceType":"AllergyIntolerance","id":"one",` +
				`"recorder":{"reference":"https://elsewhere.example/Practitioner/1"}}`
		},
		`"Encounter":"unavailable"`: func(b *bench) {
			b.server.pages["Encounter"] = []string{"one", "two"}
			b.server.script("Encounter?*", answer{normal: true}, answer{status: 500, always: true})
		},
		`"Encounter":"foreign_link"`: func(b *bench) {
			b.server.script("Encounter?*", answer{
				status: 200, always: true,
				body: `{"resourceType":"Bundle","link":[{"relation":"next","url":"https://elsewhere.example/2"}]}`,
			})
		},
		`"Encounter":"refused"`: func(b *bench) {
			b.server.script("Encounter?*", answer{status: 403, always: true})
		},
		`"Encounter":"rejected"`: func(b *bench) {
			b.server.script("Encounter?*", answer{status: 404, always: true})
		},
	}
	for missing, change := range given {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := lossBench(t, full, cut, empty, full)
				change(b)
				b.finish(t)
				if got, want := successData(t, b), `},"complete":false,"missing":{`+missing+`}}`; !strings.HasSuffix(got, want) {
					t.Errorf("got %s, want it to end in %s", got, want)
				}
			})
		})
	}
}

func TestTypesNotGrantedByPatientAreNotReportedMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := lossBench(t, full, full, full)
		b.tokens.set.Scope = "patient/Patient.rs patient/AllergyIntolerance.rs"
		b.server.resources["AllergyIntolerance/one"] = `{"resourceType":"AllergyIntolerance","id":"one",` +
			`"encounter":{"reference":"Encounter/one"}}`
		b.server.script("Encounter/one", answer{status: 403, always: true})
		b.finish(t)
		if got := successData(t, b); strings.Contains(got, "complete") {
			t.Errorf("got %s", got)
		}
		want := export.TypeOutcome{
			Type: "Encounter", Result: export.OutcomeDenied, Missing: 1,
			Reason: export.LossNotGranted, Status: 403,
		}
		if diff := cmp.Diff(want, outcomeOf(t, b.task(), "Encounter")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}

func TestExportFailsWithInvalidContentWhenPatientIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]string{
		"the search is HTML":      "<html>",
		"the search breaks off":   `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient"`,
		"the entry has no type":   `{"resourceType":"Bundle","entry":[{"resource":{"id":"p1"}}]}`,
		"the search is no Bundle": `{"resourceType":"Patient","id":"p1"}`,
		"the entry has two types": `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient",` +
			`"resourceType":"Person","id":"p1"}}]}`,
		"the Bundle has entry twice": `{"resourceType":"Bundle","entry":[],"entry":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.script(readPatient, answer{status: 404, always: true})
				b.server.script("Patient?_id=p1", answer{status: 200, body: found, always: true})
				b.finish(t)
				wantFailureEvent(t, b, export.ResourceInvalidContent)
			})
		})
	}
}
