package worker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// failureCase describes a failing export and its expected number of runs and failure reason.
type failureCase struct {
	given func(b *bench)
	runs  int
	want  export.Reason
}

func always(request string, a answer) func(*bench) {
	a.always = true
	return func(b *bench) { b.server.script(request, a) }
}

func failureCases() map[string]failureCase {
	return map[string]failureCase{
		"Patient: 401": {always(readPatient, answer{status: 401}), 1, export.ResourcePatientFailure},
		"Patient: 403": {always(readPatient, answer{status: 403}), 1, export.ResourcePatientFailure},
		"Patient: 404": {always(readPatient, answer{status: 404}), 1, export.ResourcePatientFailure},
		"Patient: 410": {always(readPatient, answer{status: 410}), 1, export.ResourcePatientFailure},
		"Patient: 400": {always(readPatient, answer{status: 400}), 1, export.ResourcePatientFailure},
		"Patient: 500": {always(readPatient, answer{status: 500}), 5, export.ResourcePatientFailure},
		"Patient: 503": {always(readPatient, answer{status: 503}), 5, export.ResourcePatientFailure},
		"Patient: 429": {
			always(readPatient, answer{status: 429, retryAfter: 2}), 5,
			export.ResourcePatientFailure,
		},
		"Patient: 429 for long": {
			always(readPatient, answer{status: 429, retryAfter: 120}), 9,
			export.ResourcePatientFailure,
		},
		"Patient: no connection": {always(readPatient, answer{}), 5, export.ResourcePatientFailure},
		"Patient: HTML": {
			always(readPatient, answer{status: 200, body: "<html>"}), 1,
			export.ResourceInvalidContent,
		},
		"Patient: broken JSON": {
			always(readPatient, answer{status: 200, body: `{"resourceType":"Patient"`}), 1,
			export.ResourceInvalidContent,
		},
		"Patient: another patient": {
			always(readPatient, answer{status: 200, body: `{"resourceType":"Patient","id":"p2"}`}),
			1, export.ResourceInvalidContent,
		},
		"Patient: something else": {
			always(readPatient, answer{status: 200, body: `{"resourceType":"Person","id":"p1"}`}),
			1, export.ResourceInvalidContent,
		},
		"no patient in the token": {
			func(b *bench) { b.tokens.set.PatientID = secret.Text{} }, 1,
			export.ResourcePatientFailure,
		},
		"scope without Patient": {
			func(b *bench) { b.tokens.set.Scope = "openid patient/Condition.read" }, 1,
			export.ScopePatientMissing,
		},
		"scope 2 without Patient": {
			func(b *bench) { b.tokens.set.Scope = "patient/Patient.s patient/Condition.rs" }, 1,
			export.ScopePatientMissing,
		},
		"another server since": {
			func(b *bench) { b.tokens.catalogued = "https://other.example/r4" }, 1,
			export.TokenRefreshFailure,
		},
		"no FHIR address": {
			func(b *bench) { b.tokens.set.FHIRBase = "ftp://ehr.example" }, 1,
			export.SuppressedPleaseContact,
		},
		"refresh refused": {
			func(b *bench) { b.tokens.current = tokens.ErrRefused }, 1,
			export.TokenRefreshFailure,
		},
		"no tokens": {
			func(b *bench) { b.tokens.current = fault.Missing("none") }, 1,
			export.TokenRefreshFailure,
		},
		"refresh does not get on":    {func(b *bench) { b.tokens.current = errTrouble }, 5, export.TokenRefreshFailure},
		"refresh by another worker":  {func(b *bench) { b.tokens.current = fault.Stale() }, 5, export.TokenRefreshFailure},
		"refresh refused on the way": {refusedOnTheWay(tokens.ErrRefused), 1, export.TokenRefreshFailure},
		"expired, cannot be renewed": {
			func(b *bench) { b.tokens.current = tokens.ErrNothingToRenew }, 1,
			export.TokenRefreshFailure,
		},
		"ended, cannot be renewed": {func(b *bench) {
			refusedOnTheWay(tokens.ErrNothingToRenew)(b)
			b.server.script(readPatient, answer{status: 200, body: b.server.resources[readPatient]},
				answer{status: 401, always: true})
		}, 1, export.TokenRefreshFailure},
		"unknown whether it ended": {func(b *bench) {
			refusedOnTheWay(tokens.ErrNothingToRenew)(b)
			patient, down := answer{status: 200, body: b.server.resources[readPatient]}, answer{status: 503}
			run := []answer{patient, down, down, down, down, down} // the search is attempted five times
			b.server.script(readPatient, slices.Repeat(run, 5)...)
		}, 5, export.TokenRefreshFailure},
		"refresh fails on the way": {refusedOnTheWay(errTrouble), 5, export.TokenRefreshFailure},
		"older than its budget": {func(b *bench) {
			b.change(func(task *export.Task) { task.CreatedAt = time.Now().Add(-6*time.Hour - time.Second) })
		}, 1, export.SuppressedPleaseContact},
	}
}

func refusedOnTheWay(err error) func(*bench) {
	return func(b *bench) {
		b.server.script(findObservations, answer{status: 401, always: true})
		b.server.script(readPatient, answer{normal: true}, answer{status: 401, always: true})
		b.tokens.renew = fmt.Errorf("refresh: %w", err)
	}
}

func TestExportFailsWithSpecifiedReason(t *testing.T) {
	t.Parallel()
	for name, c := range failureCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.given(b)
				if runs := b.finish(t); runs != c.runs {
					t.Errorf("%d runs, want %d", runs, c.runs)
				}
				if got := b.task(); got.Status != export.Failed || got.FailureReason != c.want ||
					!got.FinishedAt.Equal(time.Now()) {
					t.Errorf("got %s %s at %v, want failed %s now", got.Status, got.FailureReason, got.FinishedAt, c.want)
				}
				wantFailureEvent(t, b, c.want)
			})
		})
	}
}

func wantFailureEvent(t *testing.T, b *bench, reason export.Reason) {
	t.Helper()
	if len(b.results()) != 1 {
		t.Fatalf("%d events, want 1", len(b.results()))
	}
	var got map[string]any
	if err := json.Unmarshal(b.results()[0].Body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"api_mode": "test", "id": b.results()[0].ID, "type": "patient.ehi_export_failed",
		"date": time.Now().UTC().Format(time.RFC3339Nano),
		"data": map[string]any{
			"failure_reason": string(reason), "org_connection_id": connectionID, "task_id": taskID, "org_id": tenant.OrgID,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{b.results()[0].ID}, b.enqueued.events); diff != "" {
		t.Errorf("enqueued events (-want +got):\n%s", diff)
	}
	if len(b.task().Files) > 0 {
		t.Errorf("a failed export has the files %v", b.task().Files)
	}
}

func TestExportRecoversFromFourFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.current = errTrouble
		for run := range 4 {
			b.work(t, 0)
			wait := time.Duration(run+1) * 15 * time.Second
			if got := b.enqueued.tasks[run]; got != wait+afterWait {
				t.Errorf("enqueued after %v, want %v", got, wait)
			}
			if got := time.Until(b.store.SweepTime(tenant, taskID)); got != wait+lease {
				t.Errorf("the sweeper looks after %v, want %v", got, wait+lease)
			}
			<-time.After(wait + afterWait)
		}
		b.tokens.current = nil
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestHandoverResetsFailureCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) { task.Failures = 4 })
		b.server.latency = time.Second
		b.work(t, margin+3*time.Second)
		if b.task().Status != export.Pending || b.task().Checkpoint == "" || b.task().Failures != 0 {
			t.Errorf("got %+v", b.task())
		}
	})
}

func TestInternalFailureLeavesTaskPending(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(b *bench){
		"the segment": func(b *bench) { b.files.refuse = "segment" },
		"the result":  func(b *bench) { b.store.finish = func() error { return errTrouble } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				given(b)
				if err := b.worker.Work(t.Context(), tenant, taskID, time.Time{}); !errors.Is(err, errTrouble) {
					t.Errorf("got %v, want the trouble", err)
				}
				if b.task().Status != export.Pending || len(b.results()) != 0 {
					t.Errorf("status %s, %d events", b.task().Status, len(b.results()))
				}
				b.files.refuse, b.store.finish = "", nil
				<-time.After(lease + time.Second)
				b.work(t, 0)
				if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
					t.Errorf("file after the second run (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFunctionTimeoutStopsRunAndLeavesTaskPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 10 * time.Second
		ctx, cancel := contextUntil(t, 45*time.Second)
		defer cancel()
		if err := b.worker.Work(ctx, tenant, taskID, time.Time{}); err == nil {
			t.Error("no error from a run that was cut off")
		}
		if b.task().Status != export.Pending || len(b.files.Keys()) != 0 || len(b.enqueued.tasks) != 0 {
			t.Errorf("status %s, objects %v, enqueued %v", b.task().Status, b.files.Keys(), b.enqueued.tasks)
		}
	})
}

func TestWorkerRetriesCapabilityStatementAfterTransientFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script("metadata", slices.Repeat([]answer{{status: 503}}, 5)...)
		b.work(t, 0)
		if got := b.task(); got.Status != export.Pending || got.Failures != 1 {
			t.Errorf("after one run: %+v", got)
		}
		b.finish(t)
		if got := outcomeOf(t, b.task(), "Claim").Result; got != export.OutcomeUnsupported {
			t.Errorf("a type that the statement does not list: %s", got)
		}
	})
}

// errOutage is the error of a token that can't be decrypted because KMS fails.
var errOutage = fault.Spot{
	Dependency: "KMS", Key: "TokensKey", Operation: "Decrypt", Class: "KMSInternalException",
}.Failed(errors.New("KMS: status 500"))

func TestExportWaitsWithoutCountingFailuresWhenAWSFails(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(b *bench, err error){
		"before the first request": func(b *bench, err error) { b.tokens.current = err },
		"while data is stored":     func(b *bench, err error) { b.files.failing = err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.change(func(task *export.Task) { task.Failures = 3 })
				fails(b, errOutage)
				for range 10 {
					line := b.workLogged(t)
					for _, field := range []string{
						`"result":"put_off"`, `"dependency":"KMS"`, `"key":"TokensKey"`, `"operation":"Decrypt"`,
						`"class":"KMSInternalException"`, `"next_at":`,
					} {
						if !strings.Contains(line, field) {
							t.Errorf("the line lacks %s: %s", field, line)
						}
					}
					<-time.After(time.Minute + afterWait)
				}
				if got := b.task(); got.Status != export.Pending || got.Failures != 3 {
					t.Errorf("it is %s after %d failures", got.Status, got.Failures)
				}
				fails(b, nil)
				b.work(t, 0)
				if got := b.task().Status; got != export.Success {
					t.Errorf("after the outage, it is %s", got)
				}
			})
		})
	}
}

func TestExportFailsAtEndOfItsTimeWhenAWSKeepsFailing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.current = errOutage
		b.change(func(task *export.Task) { task.CreatedAt = time.Now().Add(20*time.Minute - export.Budget) })
		runs := b.finish(t)
		if got := b.task(); got.FailureReason != export.SuppressedPleaseContact || runs < 15 {
			t.Errorf("it failed with %s after %d runs", got.FailureReason, runs)
		}
	})
}
