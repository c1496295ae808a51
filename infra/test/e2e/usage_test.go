package e2e_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/platform/lambdarun"
)

func (s *stack) countUsage() {
	s.t.Helper()
	payload, err := json.Marshal(lambdarun.Tick{ID: "tick", Time: time.Now()})
	expect.NoError(s.t, err)
	if _, err = s.Invoke(s.t.Context(), "UsageCounterFunction", payload); err != nil {
		s.t.Errorf("usagecounter: %v", err)
	}
}

// runUsage checks that an organisation's usage is counted at the end of each day. Once usage is counted, the
// institution that the organisation uses must come first in its patients' search results.
func runUsage(s *stack) {
	s.t.Helper()
	s.catalog.goLive("test", s.catalog.institutions(3))
	s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
	s.clock.advance(2)
	<-time.After(26 * time.Hour)
	s.countUsage()
	began := time.Now().Add(-26 * time.Hour).UTC()
	days, err := store.UsageDays{DB: store.NewClient(s.cloud.Config("reader")), Table: "test-WorkTable"}.Usage(
		s.t.Context(), s.owner(), began.Format("2006-01-02"), began.Format("2006-01-02"))
	expect.NoError(s.t, err)
	want := map[string]usage.Counts{began.Format("2006-01-02"): {Connections: 1, ExportsSucceeded: 1, Deliveries: 2}}
	if diff := cmp.Diff(want, days); diff != "" {
		s.t.Errorf("counted (-want +got):\n%s", diff)
	}
	hits := s.catalog.search(map[string]any{"query": "", "suggest": true}).Hits.Hits
	if len(hits) < 3 || hits[0].ID != s.seeded.Sandbox.BrandID || !hits[0].Source.MostUsed || hits[1].Source.MostUsed {
		s.t.Errorf("suggested %+v", hits)
	}
}

func TestUsageIsCountedAtEndOfDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { runUsage(newStack(t, options{})) })
}
