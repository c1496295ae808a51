package exporttest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export/known"
)

// catalogued is the ID of the endpoint in the test catalogue.
const catalogued = "e0000000-0000-4000-8000-000000000001"

func TestExportIsCompleteWithAnyBatchSupport(t *testing.T) {
	t.Parallel()
	wide := wideRecord(t)
	people, err := persona.LoadDir("testdata")
	expect.NoError(t, err)
	handler, err := newSandbox(append(people, wide))
	expect.NoError(t, err)
	for _, c := range []struct {
		switches string
		works    bool
		posts    []int // expected number of batch requests in the first and second exports
	}{
		{switches: "batch:whole", works: true, posts: []int{3, 5}},
		{switches: "batch:refused", posts: []int{3, 0}},
		{switches: "batch:empty", posts: []int{3, 0}},
		{switches: "batch:half", works: true, posts: []int{3, 5}},
		{switches: "batch:whole,broken-json:Condition+Procedure", works: true, posts: []int{3, 5}},
	} {
		t.Run(c.switches, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				remembered := newLearned(t)
				// The second person's record has different resource types, some of which have more resources than fit
				// on a page.
				for nth, person := range []persona.Persona{people[0], wide} {
					server := &limitedServer{handler: handler, late: 100 * time.Millisecond}
					r := scenario{
						handler: server, person: person, switches: "all-types," + c.switches, known: remembered,
						label: fmt.Sprintf("batch-%s-%d", strings.NewReplacer(":", "-", ",", "-", "+", "-").Replace(c.switches), nth),
					}.run(t)
					if strings.Contains(c.switches, "broken") {
						checkHonest(t, r)
					} else {
						checkWhole(t, r)
					}
					if server.posts > c.posts[nth] || server.posts == 0 && c.posts[nth] > 0 {
						t.Errorf("export %d: %d batches, want at most %d, and some", nth, server.posts, c.posts[nth])
					}
				}
				got, err := remembered.Known(t.Context(), catalogued)
				expect.NoError(t, err)
				if got.Batch.Works != c.works || got.Batch.At.IsZero() {
					t.Errorf("learned of batches: %+v", got.Batch)
				}
			})
		})
	}
}

func TestExportStaysBelowRejectedConcurrency(t *testing.T) {
	t.Parallel()
	wide := wideRecord(t)
	handler, err := newSandbox([]persona.Persona{wide})
	expect.NoError(t, err)
	for _, bears := range []int{2, 3, 6} {
		t.Run(fmt.Sprintf("%d at once", bears), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				remembered := newLearned(t)
				for nth := range 3 {
					server := &limitedServer{handler: handler, late: 100 * time.Millisecond, bears: bears}
					r := scenario{
						handler: server, person: wide, switches: "all-types,batch:whole",
						label: fmt.Sprintf("bears-%d-%d", bears, nth), known: remembered,
					}.run(t)
					checkWhole(t, r)
					if nth == 0 && server.after > bears {
						t.Errorf("%d at once after it had refused more than %d", server.after, bears)
					}
					if nth > 0 && server.most != bears {
						t.Errorf("export %d: %d at once, want the %d that it bears", nth, server.most, bears)
					}
				}
				got, err := remembered.Known(t.Context(), catalogued)
				expect.NoError(t, err)
				if got.Load.Limit != bears {
					t.Errorf("limit %d, want %d", got.Load.Limit, bears)
				}
			})
		})
	}
}

func TestExportLowersStoredConcurrencyAfterRateLimit(t *testing.T) {
	t.Parallel()
	wide := wideRecord(t)
	handler, err := newSandbox([]persona.Persona{wide})
	expect.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		load := func(switches, label string) known.Load {
			server := &limitedServer{handler: handler, late: 100 * time.Millisecond}
			checkWhole(t, scenario{handler: server, person: wide, switches: switches, label: label, known: remembered}.run(t))
			got, err := remembered.Known(t.Context(), catalogued)
			expect.NoError(t, err)
			return got.Load
		}
		if got := load("all-types", "calm-1"); got.Handled < 5 {
			t.Errorf("after a calm export: %+v", got)
		}
		if got := load("all-types,limit-seconds:4", "busy"); got.Handled > 3 {
			t.Errorf("after a limit of the rate: %+v", got)
		}
		<-time.After(25 * time.Hour)
		if got := load("all-types", "calm-2"); got.Handled < 5 {
			t.Errorf("after another calm export: %+v", got)
		}
	})
}

func TestExportStoresServerPropertiesOncePerDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		for nth := range 3 {
			checkWhole(t, scenario{person: named(t, paged[0]), label: fmt.Sprintf("daily-%d", nth), known: remembered}.run(t))
		}
		if remembered.saved > 2 { // the second export may reach a higher concurrency and store it
			t.Errorf("saved %d times in three exports", remembered.saved)
		}
	})
}
