package worker_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// strict is a server that refuses requests above its rate limit and records requests sent during a demanded pause.
type strict struct {
	smart.Doer

	most   int           // maximum number of requests in one window
	window time.Duration // length of a window, which starts with its first request

	mu       sync.Mutex
	count    int
	opened   time.Time
	closedTo time.Time // end of the demanded pause
	early    []string  // requests sent before the pause ended
	refused  int
}

func (s *strict) Do(r *http.Request) (*http.Response, error) {
	if wait := s.enter(r); wait > 0 {
		seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
		return &http.Response{
			StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {seconds}}, Body: http.NoBody, Request: r,
		}, nil
	}
	return s.Doer.Do(r)
}

func (s *strict) enter(r *http.Request) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.closedTo) {
		s.early = append(s.early, fmt.Sprintf("%v before the time: %s", s.closedTo.Sub(now), r.URL.Path))
	}
	if now.Sub(s.opened) >= s.window {
		s.opened, s.count = now, 0
	}
	if s.count++; s.count <= s.most {
		return 0
	}
	s.refused++
	wait = s.opened.Add(s.window).Sub(now)
	// Requests sent until the refusal arrives are not premature, so the pause begins one nanosecond later.
	time.AfterFunc(time.Nanosecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closedTo = now.Add(wait)
	})
	return wait
}

func TestWorkerRespectsRateLimitOfStrictServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most   int
		window time.Duration
		runs   time.Duration // time until a run's deadline; 0 if there is no deadline
	}{
		"waits within a run":          {10, 20 * time.Second, 0},
		"waits across hand-overs":     {3, 20 * time.Second, margin + 30*time.Second},
		"waits in the queue":          {10, 5 * time.Minute, 0},
		"two requests in two minutes": {2, 2 * time.Minute, 0},
		"waits longer than a message": {12, time.Hour, 0},
		"long waits and short runs":   {12, time.Hour, margin + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				file, whole, _ := uninterrupted(t)
				b := newBench(t)
				b.server.latency = 100 * time.Millisecond
				server := &strict{Doer: b.server, most: c.most, window: c.window}
				b.worker.Source.Portals = smart.NewPortal(server, nil, nil, time.Now)
				for b.task().Status == export.Pending {
					b.work(t, c.runs)
					if until := b.task().LeaseUntil; !until.IsZero() {
						<-time.After(time.Until(until) + afterWait)
					}
				}
				if server.refused == 0 || len(server.early) > 0 {
					t.Errorf("refused %d requests; early were %v", server.refused, server.early)
				}
				wantSameExport(t, b, file, whole)
			})
		})
	}
}

// TestWorkerRespectsRetryAfterWhenMessagesArriveEarly checks that the worker keeps waiting even if duplicate messages
// or messages from the sweeper arrive every 30 seconds.
func TestWorkerRespectsRetryAfterWhenMessagesArriveEarly(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{
		time.Minute, 14 * time.Minute, 15 * time.Minute, time.Hour,
		5*time.Hour - time.Minute,
	} {
		t.Run(wait.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				file, whole, _ := uninterrupted(t)
				b := newBench(t)
				b.server.script(findObservations, answer{status: 429, retryAfter: int(wait.Seconds())})
				b.work(t, 0)
				until := time.Now().Add(wait)
				if got := b.task(); !got.Deferred || !got.LeaseUntil.Equal(until) {
					t.Fatalf("put off: %t until %v, want %v", got.Deferred, got.LeaseUntil, until)
				}
				sent, look := []time.Duration{wait + afterWait}, until.Add(lease)
				if sent[0] > due.LongestDelay { // longer than the maximum message delay
					sent, look = nil, until
				}
				if diff := cmp.Diff(sent, b.enqueued.tasks); diff != "" || !b.store.SweepTime(tenant, taskID).Equal(look) {
					t.Errorf("the sweeper looks at %v, want %v; enqueued (-want +got):\n%s",
						b.store.SweepTime(tenant, taskID), look, diff)
				}
				asked := len(b.server.asked)
				for ; time.Now().Before(until); <-time.After(30 * time.Second) {
					if b.work(t, 0); len(b.server.asked) != asked {
						t.Fatalf("%v before the time the server was asked for %v", time.Until(until), b.server.asked[asked:])
					}
				}
				b.finish(t)
				wantSameExport(t, b, file, whole)
			})
		})
	}
}

func TestWorkerRespectsRetryAfterFromTokenEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		limited := fault.New(fault.Limited, fault.CodeRateLimited, "busy").After(20 * time.Minute)
		for name, of := range map[string]*error{"the first token": &b.tokens.current, "a further token": &b.tokens.renew} {
			*of = fmt.Errorf("refresh: %w", limited)
			b.server.script(readPatient, answer{status: 401}, answer{status: 401})
			b.work(t, 0)
			if got := time.Until(b.task().LeaseUntil); got != 20*time.Minute {
				t.Errorf("%s: waits %v, want 20 minutes", name, got)
			}
			*of = nil
			b.server.unscript()
			<-time.After(20*time.Minute + afterWait)
		}
		b.finish(t)
		if got := b.task(); got.Status != export.Success {
			t.Errorf("%s, reason %s", got.Status, got.FailureReason)
		}
	})
}

func TestWorkerFailsTaskImmediatelyWhenRetryAfterExceedsBudget(t *testing.T) {
	t.Parallel()
	tooLong := answer{status: 429, retryAfter: int((export.Budget + time.Second).Seconds()), always: true}
	for name, given := range map[string]func(b *bench){
		"of the Patient":   func(b *bench) { b.server.script(readPatient, tooLong) },
		"of the statement": func(b *bench) { b.server.script("metadata", tooLong) },
		"of the searches": func(b *bench) {
			for _, first := range []string{"Observation", "Condition", "Goal", "MedicationRequest", "DocumentReference"} {
				b.server.script(first+"?*", tooLong)
			}
		},
		"of the token endpoint": func(b *bench) {
			b.tokens.current = fault.Spot{Step: fault.StepToken}.Failed(
				fault.New(fault.Limited, fault.CodeRateLimited, "busy").After(7 * time.Hour))
		},
		"of an hour, at the end": func(b *bench) {
			b.change(func(task *export.Task) { task.CreatedAt = time.Now().Add(-export.Budget + 59*time.Minute) })
			b.server.script(readPatient, answer{status: 503, retryAfter: 3600})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				given(b)
				line := b.workLogged(t)
				if got := b.task(); got.Status != export.Failed || got.FailureReason != export.SuppressedPleaseContact {
					t.Errorf("%s, reason %s; %s", got.Status, got.FailureReason, line)
				}
				for _, want := range []string{`"result":"failed"`, `"reason":"suppressed_please_contact"`, `"class":"over_time"`} {
					if !strings.Contains(line, want) {
						t.Errorf("the line lacks %s: %s", want, line)
					}
				}
			})
		})
	}
}

// TestWorkerDeliversPartialRecordWhenRetryAfterIsTooLong checks that previously deferred requests also count as
// missing.
func TestWorkerDeliversPartialRecordWhenRetryAfterIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) { task.CreatedAt = time.Now().Add(-4 * time.Hour) })
		b.server.script(findObservations, answer{status: 502, always: true})
		// Other responses arrive at whole seconds, so the requests that are in flight when the server demands the pause
		// were sent before the demand.
		b.server.latency = time.Second
		b.server.script("Binary/b1", answer{status: 429, retryAfter: 2 * 3600, takes: time.Second / 2, always: true})
		b.work(t, 0)
		if got := b.task(); got.Status != export.Success || got.Shortfall().Complete == nil {
			t.Fatalf("%s, reason %s", got.Status, got.FailureReason)
		}
		for _, missing := range []string{"Observation", "Binary"} {
			if got := outcomeOf(t, b.task(), missing); got.Reason != export.LossUnavailable || got.Status != 429 {
				t.Errorf("%s: %+v", missing, got)
			}
		}
		if got := b.server.times("Binary/b1"); got != 1 {
			t.Errorf("asked %d times after the demand", got-1)
		}
		if len(b.server.late) > 0 {
			t.Errorf("asked for %v after the demand", b.server.late)
		}
		if got := names(t, b.file(t)); slices.Contains(got, "Binary/b1") || !slices.Contains(got, "Patient/p1") {
			t.Errorf("the file has %v", got)
		}
	})
}

func TestWorkerLogsSkippedMessageWhenTaskCannotBeClaimed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(task *export.Task){
		"leased":  func(task *export.Task) { task.LeaseUntil = time.Now().Add(time.Second) },
		"put off": func(task *export.Task) { task.LeaseUntil, task.Deferred = time.Now().Add(time.Hour), true },
		"in line": func(task *export.Task) { task.WaitingSince = time.Now() },
		"ended":   func(task *export.Task) { task.Status = export.Success },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.change(change)
				if line := b.workLogged(t); !strings.Contains(line, `"result":"skipped"`) || len(b.server.asked) > 0 {
					t.Errorf("asked for %v: %s", b.server.asked, line)
				}
			})
		})
	}
}

// workLogged runs the worker once and returns the log line.
func (b *bench) workLogged(t *testing.T) string {
	t.Helper()
	ctx, line := logx.Begin(t.Context())
	err := b.worker.Work(ctx, tenant, taskID, time.Time{})
	var out bytes.Buffer
	line.Emit(ctx, logx.New(&out), "exportworker.message")
	if err != nil && !errors.Is(err, errTrouble) {
		t.Fatalf("Work: %v", err)
	}
	return out.String()
}
