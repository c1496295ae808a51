package e2e_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/export"
)

// fhirTimes forwards requests to a FHIR server and records the time of each request.
type fhirTimes struct {
	mu  sync.Mutex
	all []time.Time
}

func (f *fhirTimes) note(r *http.Request) *http.Response {
	f.mu.Lock()
	defer f.mu.Unlock()
	if isFHIR(r) {
		f.all = append(f.all, time.Now())
	}
	return nil
}

// between returns the number of requests that arrived after from and before to.
func (f *fhirTimes) between(from, to time.Time) (count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range f.all {
		if at.After(from) && at.Before(to) {
			count++
		}
	}
	return count
}

// remind sends a duplicate message for a task, as a queue with at-least-once delivery may.
func remind(s *stack, taskID string) {
	s.t.Helper()
	outputs := s.template.Outputs
	client := sqs.NewFromConfig(s.cloud.Config("test"))
	sent := queue.NewWork(client, outputs["ExportQueueUrl"], outputs["DeliveryQueueUrl"])
	expect.NoError(s.t, sent.EnqueueTask(s.t.Context(), s.owner(), taskID, 0))
}

// TestExportHonoursRetryAfterFromServer checks that neither the sweeper nor duplicate messages cause a request before
// the Retry-After time, and that the export continues soon afterwards.
func TestExportHonoursRetryAfterFromServer(t *testing.T) {
	t.Parallel()
	for with, demanded := range map[string]time.Duration{
		"leave-alone:90s": 90 * time.Second, "leave-alone:1h": time.Hour, "leave-alone:3h": 3 * time.Hour,
	} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, asked := newStack(t, options{}), &fhirTimes{}
				id := s.ehr.connectTo(quirk{with: with}).Get("org_connection_id")
				s.intercept = asked.note
				taskID := s.org.startExport(id)
				s.queues.pump()
				refused := time.Now()
				if got := s.state.task(taskID); got.text("status") != "pending" || got.text("lease_until") == "" {
					t.Fatalf("the export is %s and put off until %q", got.text("status"), got.text("lease_until"))
				}
				for time.Since(refused) < demanded+3*time.Minute {
					remind(s, taskID)
					s.clock.advance(1)
				}
				if got := asked.between(refused, refused.Add(demanded)); got != 0 {
					t.Errorf("%d requests came before the end of the wait", got)
				}
				if got := s.state.task(taskID); got.text("status") != "success" {
					t.Fatalf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
				}
				s.org.checkDownload(crashPersona)
				if got := strings.Count(strings.Join(s.lines(), ""), `"result":"skipped"`); got == 0 {
					t.Error("no log line has the result skipped")
				}
			})
		})
	}
}

// TestExportHonoursRetryAfterFromTokenEndpoint covers an export whose access token has expired and whose first refresh
// response has a Retry-After header.
func TestExportHonoursRetryAfterFromTokenEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		<-time.After(2 * time.Hour)
		var asked []time.Time
		s.intercept = func(r *http.Request) *http.Response {
			if !strings.HasSuffix(r.URL.Path, "/oauth/token") {
				return nil
			}
			if asked = append(asked, time.Now()); len(asked) > 1 {
				return nil
			}
			return &http.Response{
				StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"2400"}}, Body: http.NoBody, Request: r,
			}
		}
		taskID := s.org.startExport(id)
		for range 43 {
			s.clock.advance(1)
			remind(s, taskID)
		}
		if got := s.state.task(taskID); got.text("status") != "success" {
			t.Errorf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
		}
		if len(asked) != 2 || asked[1].Sub(asked[0]) < 40*time.Minute {
			t.Errorf("asked at %v", asked)
		}
	})
}

// TestExportFailsImmediatelyWhenRetryAfterExceedsDeadline checks that a Retry-After beyond the deadline fails the
// export immediately, without further requests to the server.
func TestExportFailsImmediatelyWhenRetryAfterExceedsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, asked := newStack(t, options{}), &fhirTimes{}
		id := s.ehr.connectTo(quirk{with: "leave-alone:7h"}).Get("org_connection_id")
		s.intercept = asked.note
		taskID := s.org.startExport(id)
		s.queues.pump()
		refused := time.Now()
		got := s.state.task(taskID)
		if got.text("status") != "failed" || got.text("failure_reason") != string(export.SuppressedPleaseContact) {
			t.Errorf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
		}
		s.clock.advance(10)
		if count := asked.between(refused, time.Now()); count != 0 {
			t.Errorf("%d requests came after that", count)
		}
	})
}
