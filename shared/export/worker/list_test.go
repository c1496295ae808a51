package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

const (
	listedDoctors = 9
	aDoctor       = "Practitioner/*"
	aDoctorList   = "Practitioner?*"
)

// withDoctors returns a bench with a Condition that refers to nine Practitioners and to another patient's Observation.
// One Practitioner does not exist, and another refers to two Organizations. The lists argument sets fakeFHIR.lists.
func withDoctors(t *testing.T, lists string) *bench {
	t.Helper()
	b := newBench(t)
	b.server.lists = lists
	b.server.types = []string{
		"Patient:_id", "Condition:patient", "Practitioner:name", "Observation:code",
		"Organization:name",
	}
	references := make([]string, 0, listedDoctors)
	for i := range listedDoctors {
		references = append(references, fmt.Sprintf(`{"reference":"Practitioner/e%d"}`, i))
		if i > 0 {
			b.server.add(t, fmt.Sprintf(`{"resourceType":"Practitioner","id":"e%d"}`, i))
		}
	}
	b.server.add(t,
		`{"resourceType":"Practitioner","id":"e8","qualification":[{"issuer":{"reference":"Organization/g1"}},`+
			`{"issuer":{"reference":"Organization/g2"}}]}`,
		`{"resourceType":"Patient","id":"p1"}`,
		`{"resourceType":"Observation","id":"x1","subject":{"reference":"Patient/p2"}}`,
		`{"resourceType":"Observation","id":"x2","subject":{"reference":"Patient/p1"}}`,
		`{"resourceType":"Condition","id":"c1","subject":{"reference":"Patient/p1"},`+
			`"evidence":[{"reference":"Observation/x1"},{"reference":"Observation/x2"}],"x":[`+
			strings.Join(references, ",")+`]}`)
	b.server.pages = map[string][]string{"Condition": {"c1"}}
	return b
}

func TestReferencesAreReadIndividuallyWhenListSearchFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lists  string
		change func(*bench)
		search int // expected number of searches for Practitioners by ids
		read   int // expected number of Practitioner reads
	}{
		// a resource that is missing from the response is then read individually
		"by one search": {lists: "all", search: 1, read: 1},
		"not offered":   {read: listedDoctors},
		"offered by the profile alone": {
			change: func(b *bench) { b.tokens.profile.ByID = []string{"Practitioner"} },
			search: 1, read: listedDoctors,
		},
		"some are left out":   {lists: "half", search: 1, read: 6},
		"one page of a few":   {lists: "one", search: 1, read: 8},
		"the ids are ignored": {lists: "ignored", search: 1, read: listedDoctors},
		"the search is refused": {
			lists: "all", change: refuse(answer{status: 400, always: true}), search: 1,
			read: listedDoctors,
		},
		"the search is not granted": {
			lists:  "all",
			change: func(b *bench) { b.tokens.set.Scope = "patient/*.r patient/Condition.rs" }, read: listedDoctors,
		},
		"the search is broken": {
			lists:  "all",
			change: refuse(answer{status: 200, body: "<html>", always: true}), search: 2, read: listedDoctors,
		},
		"the search brings too much": {
			lists:  "all",
			change: refuse(answer{status: 200, body: large(`{"resourceType":"Practitioner","id":"e1"}`), always: true}),
			search: 1, read: listedDoctors,
		},
		"the search brings something else": {
			lists:  "all",
			change: refuse(answer{status: 200, body: bundleOf(`{"resourceType":"Practitioner","id":"d1"}`)}), search: 1,
			read: listedDoctors,
		},
		"the search brings one twice": {
			lists: "all",
			change: refuse(answer{status: 200, body: bundleOf(`{"resourceType":"Practitioner","id":"e1"}`,
				`{"resourceType":"Practitioner","id":"e1","active":false}`)}), search: 1, read: listedDoctors,
		},
		"the server is down for a moment": {lists: "all", change: refuse(answer{status: 503}), search: 2, read: 1},
		"the search fails as long as it lasted": {
			lists: "all", change: refuse(answer{status: 503, always: true}), search: 5,
			read: listedDoctors,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plain := withDoctors(t, "")
				plain.work(t, 0)
				b := withDoctors(t, c.lists)
				if c.change != nil {
					c.change(b)
				}
				b.finish(t)
				if got, want := string(b.file(t)), string(plain.file(t)); got != want {
					t.Errorf("the file is\n%s\nwant\n%s", got, want)
				}
				if search, read := b.server.times(aDoctorList), b.server.times(aDoctor); search != c.search || read != c.read {
					t.Errorf("%d searches and %d reads, want %d and %d: %v", search, read, c.search, c.read, b.server.asked)
				}
				if got := b.server.times("Organization?*"); c.lists == "ignored" && got > 0 {
					t.Errorf("%d lists of another type, after the server has ignored the ids of one", got)
				}
				want := export.TypeOutcome{
					Type: "Practitioner", Result: export.OutcomeTruncated, Count: 8, Missing: 1,
					Reason: export.LossNotFound, Status: 404,
				}
				if got := outcomeOf(t, b.task(), "Practitioner"); got != want {
					t.Errorf("outcome %+v, want %+v", got, want)
				}
				if got := outcomeOf(t, b.task(), "Observation"); got.LeftOut != 1 || got.Count != 1 {
					t.Errorf("outcome %+v, want another patient's Observation left out", got)
				}
			})
		})
	}
}

// refuse returns a function that scripts the response to the Practitioner search by ids.
func refuse(one answer) func(*bench) {
	return func(b *bench) { b.server.script(aDoctorList, one) }
}

func bundleOf(resources ...string) string {
	return `{"resourceType":"Bundle","entry":[{"resource":` + strings.Join(resources, `},{"resource":`) + `}]}`
}

// large returns a Bundle that contains the resource and exceeds the size limit of a search by ids.
func large(resource string) string {
	return strings.Replace(bundleOf(resource), `{"resourceType":"Bundle"`,
		`{"resourceType":"Bundle","language":"`+strings.Repeat("x", 600<<10)+`"`, 1)
}

func TestListSearchURLsStayBelowLengthLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.lists = "all"
		b.server.types = []string{"Patient:_id", "Condition:patient", "Practitioner:name"}
		references := make([]string, 0, 150)
		for i := range cap(references) {
			id := fmt.Sprintf("e%d", i)
			if i < 60 {
				id += strings.Repeat("-", 60-len(id))
			}
			b.server.add(t, fmt.Sprintf(`{"resourceType":"Practitioner","id":%q}`, id))
			references = append(references, fmt.Sprintf(`{"reference":"Practitioner/%s"}`, id))
		}
		b.server.add(t, `{"resourceType":"Patient","id":"p1"}`,
			`{"resourceType":"Condition","id":"c1","x":[`+strings.Join(references, ",")+`]}`)
		b.server.pages = map[string][]string{"Condition": {"c1"}}
		b.work(t, 0)
		if got := b.task().Stats.TotalByResourceType["Practitioner"]; got != 150 {
			t.Errorf("%d Practitioners, want 150", got)
		}
		for _, asked := range b.server.asked {
			if ids := strings.Count(asked, "%2C") + 1; len(asked) > 1700 || ids > 50 {
				t.Errorf("an address of %d bytes with %d ids", len(asked), ids)
			}
		}
		if search, read := b.server.times(aDoctorList), b.server.times(aDoctor); search != 5 || read != 0 {
			t.Errorf("%d searches and %d reads, want 5 and 0", search, read)
		}
	})
}

func TestHandoverBetweenListSearchesPreservesFile(t *testing.T) {
	t.Parallel()
	for _, lists := range []string{"ignored", "half", "all"} {
		t.Run(lists, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				whole := withDoctors(t, "")
				whole.work(t, 0)
				b := withDoctors(t, lists)
				b.server.latency = time.Second // other requests complete before the refusal pauses all requests
				if lists == "all" {
					b.server.script(aDoctorList, answer{status: 400})
				}
				b.server.script("Practitioner/e6", answer{status: 503, retryAfter: 120})
				b.finish(t)
				if got, want := string(b.file(t)), string(whole.file(t)); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if len(b.enqueued.tasks) != 1 || b.enqueued.tasks[0] != 2*time.Minute+afterWait {
					t.Errorf("enqueued %v, want one after two minutes", b.enqueued.tasks)
				}
				if got := b.server.times(aDoctorList); got != 1 {
					t.Errorf("asked for %d lists, want none after the first", got)
				}
			})
		})
	}
}
