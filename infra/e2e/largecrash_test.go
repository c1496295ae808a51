package e2e_test

import (
	"crypto/sha256"
	"math"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// slowPortal makes every FHIR request take its time, so that a large record needs saves in between and several runs.
func (s *stack) slowPortal() {
	s.outside = func(r *http.Request) *http.Response {
		if isFHIR(r) {
			select {
			case <-time.After(45 * time.Second):
			case <-r.Context().Done():
			}
		}
		return nil
	}
}

// exportLarge exports the large persona over several runs and returns the digest of the file.
func (s *stack) exportLarge(t *testing.T) [sha256.Size]byte {
	t.Helper()
	connectionID := s.connect(bigPersona, "approve").Get("org_connection_id")
	s.slowPortal()
	s.requestUntilAccepted(t, connectionID)
	s.settleAll(300)
	s.checkOneResult(t)
	answer, _ := s.browser().open(s.exportEvent().DownloadLinks[0].URL, "", "")
	if answer == nil || answer.status != http.StatusOK {
		t.Fatalf("the download answered %+v", answer)
	}
	return sha256.Sum256(answer.body)
}

// TestALargeExportSurvivesACrashAnywhere: the engine ends after any call to AWS or the portal that it makes for a record of
// 2,000 resources, which takes it several runs; the bytes are always the same. A soak of ten minutes takes every call, a
// shorter one as many as it has time for.
func TestALargeExportSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	var whole [sha256.Size]byte
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		whole = s.exportLarge(t)
		tasks := s.list("test-WorkTable", s.tenant()+"#TASK")
		if got := s.get("test-WorkTable", tasks[0], "META").number("generation"); got < 4 {
			t.Errorf("%d generations: the sweep would not meet the saves", got)
		}
	})
	step := 61 // prime to what the engine does in turns
	if budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK")); err == nil {
		step = max(1, int(400*time.Second/budget))
	}
	sweepEvery(t, "ExportWorkerFunction", step, math.MaxInt, func(t *testing.T, s *stack) {
		t.Helper()
		if got := s.exportLarge(t); got != whole {
			t.Errorf("other bytes: %x, want %x", got, whole)
		}
		s.checkNothingPending(t)
	})
}
