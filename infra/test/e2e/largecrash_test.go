package e2e_test

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// slowPortal delays every FHIR response so that a large export takes several worker runs, each of which resumes from
// saved state.
func slowPortal(s *stack) {
	s.intercept = func(r *http.Request) *http.Response {
		if isFHIR(r) {
			select {
			case <-time.After(59 * time.Second):
			case <-r.Context().Done():
			}
		}
		return nil
	}
}

func exportLarge(t *testing.T, s *stack, who string) [sha256.Size]byte {
	t.Helper()
	connectionID := s.patient.connect(who, "approve").Get("org_connection_id")
	slowPortal(s)
	s.requestUntilAccepted(t, connectionID)
	s.clock.finish(300)
	s.check.oneResult(t)
	answer, _ := s.patient.browser().open(s.webhooks.exportEvent().DownloadLinks[0].URL, "", "")
	if answer == nil || answer.status != http.StatusOK {
		t.Fatalf("the download answered %+v", answer)
	}
	return sha256.Sum256(answer.body)
}

// TestLargeExportSurvivesCrashAnywhere checks that the exported file is byte-identical regardless of the call after
// which the export worker crashes. A long soak test exports a record of 2,000 resources in several runs and covers
// every call. A short soak test covers one call in 31. Any other run uses a record of 900 resources and covers one call
// in 97.
func TestLargeExportSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	who, step := "hazel-fern", 97 // 97 and 31 are coprime to the period of the engine's repeating sequence of calls
	switch {
	case isLongSoak():
		who, step = "cedar-brook", 1
	case isSoak():
		who, step = "cedar-brook", 31
	}
	var whole [sha256.Size]byte
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		whole = exportLarge(t, s, who)
		tasks := s.state.list("test-WorkTable", s.tenant()+"#TASK")
		if got := s.state.get("test-WorkTable", tasks[0], "META").number("generation"); got < 4 {
			t.Errorf("%d generations: the sweep would not meet the saves", got)
		}
	})
	sweepEvery(t, "ExportWorkerFunction", step, math.MaxInt, func(t *testing.T, s *stack) {
		t.Helper()
		if got := exportLarge(t, s, who); got != whole {
			t.Errorf("other bytes: %x, want %x", got, whole)
		}
		s.check.nothingPending(t)
	})
}

func TestExportSendsOptInProgressEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.org.subscribe(webhook.ExportProgressed)
		connectionID := s.patient.connect("willow-ash", "approve").Get("org_connection_id")
		slowPortal(s)
		taskID := s.org.startExport(connectionID)
		s.clock.advance(3)
		path := "/bridge/fhir/ehi-export/" + taskID + "?include=progress"
		var told struct {
			Status   string
			Progress webhook.Progress
		}
		expect.NoError(t, json.Unmarshal(s.org.request(http.MethodGet, path, nil).Data, &told))
		if p := told.Progress; told.Status != "success" &&
			(p.QueriesDone == 0 || p.QueriesDone >= p.QueriesPlanned || p.Resources == 0 || p.Bytes == 0) {
			t.Errorf("after three minutes: %+v", told)
		}
		s.clock.finish(300)
		if got := len(s.webhooks.events("patient.ehi_export_progress")); got < 2 {
			t.Errorf("%d progress events", got)
		}
		expect.NoError(t, json.Unmarshal(s.org.request(http.MethodGet, path, nil).Data, &told))
		if p := told.Progress; told.Status != "success" || p.QueriesDone != p.QueriesPlanned || p.Resources < 300 {
			t.Errorf("at the end: %+v", told)
		}
	})
}
