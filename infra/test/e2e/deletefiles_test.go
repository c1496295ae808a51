package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (o organisation) deleteFiles(taskID string) answer {
	o.t.Helper()
	return o.org.request(http.MethodDelete, "/bridge/fhir/ehi-export/"+taskID+"/files", nil)
}

// runDeleteFiles downloads an export's file, then requests the file's deletion as the organisation.
func runDeleteFiles(s *stack) {
	s.t.Helper()
	taskID := s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
	s.clock.advance(2)
	s.org.checkDownload(crashPersona)
	for range 2 { // repeating the request has no further effect
		if got := s.org.deleteFiles(taskID); got.status != http.StatusOK ||
			string(got.Data) != `{"task_id":"`+taskID+`","status":"success"}` {
			s.t.Fatalf("DELETE answered %d %s", got.status, got.raw)
		}
		if left := s.state.objects(); len(left) != 0 {
			s.t.Errorf("the bucket still holds %v", left)
		}
	}
}

func TestDeletedFilesAreInaccessible(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		taskID := s.org.startExport(connectionID)
		if got := s.org.deleteFiles(taskID); got.status != http.StatusBadRequest || got.Error != "svc_invalid_request" {
			t.Errorf("while the export was running: %d %s", got.status, got.raw)
		}
		s.clock.advance(2)
		s.org.checkDownload(crashPersona)
		link, signed := s.webhooks.exportEvent().DownloadLinks[0].URL, s.webhooks.exportEvent().Manifest.URL
		byKey := "/bridge/fhir/ehi-export/" + taskID + "/download/" + taskID + ".jsonl"

		dashed := strings.Join([]string{taskID[:8], taskID[8:12], taskID[12:16], taskID[16:20], taskID[20:]}, "-")
		if got := s.org.deleteFiles(dashed); got.status != http.StatusOK ||
			string(got.Data) != `{"task_id":"`+taskID+`","status":"success"}` {
			t.Fatalf("DELETE answered %d %s", got.status, got.raw)
		}
		if left := s.state.objects(); len(left) != 0 {
			t.Errorf("the bucket still holds %v", left)
		}
		checkGone(t, s.outside, link, byKey)
		checkGone(t, s.outside, signed, "/bridge/fhir/ehi-export/"+taskID+"/download/manifest.json")
		if got := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID, nil); got.status != http.StatusOK ||
			!strings.Contains(string(got.Data), `"success"`) {
			t.Errorf("the export itself answers %d %s", got.status, got.raw)
		}

		next := s.org.startExport(connectionID)
		if next == taskID {
			t.Fatal("a request for an export got the one whose files are gone")
		}
		s.clock.advance(2)
		if got := len(s.webhooks.events("patient.ehi_export_success")); got != 2 {
			t.Errorf("%d exports have succeeded, want 2", got)
		}
		if left := s.state.objects(); len(left) != 2 || !strings.Contains(left[0], next) ||
			!strings.Contains(left[1], next) {
			t.Errorf("the bucket holds %v, want the new file and its manifest", left)
		}
		s.clock.advance(25)
		checkForgottenFiles(t, s, taskID)
	})
}

// TestPresignedURLStopsWorkingWhenFileIsDeleted checks that deleting a file immediately invalidates its presigned URL,
// even though the URL's signature remains valid for ten minutes.
func TestPresignedURLStopsWorkingWhenFileIsDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		taskID := s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
		s.clock.advance(2)
		address := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"/download/"+taskID+".jsonl",
			nil).header.Get("Location")
		if got, _ := s.patient.browser().open(address, "", ""); got == nil || got.status != http.StatusOK {
			t.Fatalf("before, the address answers %v", got)
		}
		s.org.deleteFiles(taskID)
		s.expectDenials = true // S3 returns 403 instead of 404 to callers without permission to list the bucket
		if got, _ := s.patient.browser().open(address, "", ""); got == nil || got.status != http.StatusForbidden {
			t.Errorf("afterwards, the address answers %v", got)
		}
	})
}

// checkGone checks that clients can no longer download the file, either through its link or with a key.
func checkGone(t *testing.T, o *outside, link, byKey string) {
	t.Helper()
	if got, _ := o.patient.browser().open(link, "", ""); got == nil || got.status != http.StatusGone {
		t.Errorf("the link answers %v", got)
	}
	got := o.org.request(http.MethodGet, byKey, nil)
	if got.status != http.StatusGone || got.Error != "svc_export_expired" {
		t.Errorf("the key gets %d %s", got.status, got.Error)
	}
}

// checkForgottenFiles checks that the task has no pending work.
func checkForgottenFiles(t *testing.T, s *stack, taskID string) {
	t.Helper()
	task := s.state.get("test-WorkTable", s.tenant()+"#TASK#"+taskID, "META")
	if task == nil || task.text("due_at") != "" {
		t.Errorf("the task is still due at %q", task.text("due_at"))
	}
}

// TestFileDeletionSurvivesCrashAnywhere checks that a deleted file can't be downloaded, even after a crash at any
// point. If DeleteExportFilesFunction crashes, the sweeper deletes the remaining files, whether or not the organisation
// retries.
func TestFileDeletionSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	const function = "DeleteExportFilesFunction"
	sweepCrashes(t, function, func(t *testing.T, s *stack) {
		t.Helper()
		taskID := s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
		s.clock.advance(2)
		link := s.webhooks.exportEvent().DownloadLinks[0].URL
		path := "/bridge/fhir/ehi-export/" + taskID + "/download/" + taskID + ".jsonl"
		got := s.org.deleteFiles(taskID)
		if got.status != http.StatusOK {
			checkFailure(t, got)
		}
		if s.state.get("test-WorkTable", s.tenant()+"#TASK#"+taskID,
			"META").text("files_until") > time.Now().UTC().Format(time.RFC3339) {
			s.disarm(function)
			if got := s.org.deleteFiles(taskID); got.status != http.StatusOK {
				t.Fatalf("asked again: %d %s", got.status, got.raw)
			}
		}
		checkGone(t, s.outside, link, path)
		s.clock.advance(25)
		if left := s.state.objects(); len(left) != 0 {
			t.Errorf("the bucket still holds %v", left)
		}
		checkForgottenFiles(t, s, taskID)
	})
}
