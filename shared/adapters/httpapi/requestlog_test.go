package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// rows is a request log whose writes take a while and then fail with err.
type rows struct {
	requestlog.Writer

	takes    time.Duration
	err      error
	requests []requestlog.Request
}

func (r *rows) PutRequest(ctx context.Context, row requestlog.Request) error {
	r.requests = append(r.requests, row)
	select {
	case <-time.After(r.takes):
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func hashing(t *testing.T) secret.Keyring {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func logging(t *testing.T, to *rows) edge {
	t.Helper()
	var log bytes.Buffer
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return edge{log: &log, API: httpapi.New(httpapi.Options{
		Logger: logx.New(&log), IDs: func() string { return requestID },
		Now: func() time.Time { at = at.Add(3 * time.Millisecond); return at },
		Log: requestlog.Recorder{Rows: to, Hashing: hashing(t)},
	})}
}

type aboutPatient struct {
	ExternalID string `query:"external_id"`
}

// logged returns a handler that names a connection and an export, and fails with err if it is not nil.
func logged(api edge, err error) http.Handler {
	f := func(ctx context.Context, _ org.Caller, _ aboutPatient) (echo, error) {
		logx.Add(ctx, slog.String("connection_id", "connection-1"), slog.String("task_id", "task-1"))
		return echo{Text: "hello"}, err
	}
	return api.Serve("/things/{id}", httpapi.Methods{
		http.MethodGet:  httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}}, f),
		http.MethodPost: httpapi.Browser(httpapi.PublicAuth{Public: directory{}}, f).Polled(),
	})
}

func TestAuthenticatedRequestIsLogged(t *testing.T) {
	t.Parallel()
	to := &rows{}
	tenant := org.Tenant{Mode: org.Test, OrgID: "org-1"}
	do(logged(logging(t, to), nil), withKey(newRequest("GET", "/things/1?external_id=patient-7", "")))
	want := requestlog.Request{
		Tenant: tenant, ID: requestID, At: time.Date(2026, 11, 21, 9, 0, 0, 3e6, time.UTC), Method: "GET",
		Route: "/things/{id}", Status: 200, CredentialID: "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a",
		Latency: 3 * time.Millisecond, ConnectionID: "connection-1", TaskID: "task-1",
		External: hashing(t).Sign(connection.ExternalText(tenant, "patient-7")),
	}
	if diff := cmp.Diff([]requestlog.Request{want}, to.requests); diff != "" {
		t.Error(diff)
	}
}

func TestFailedRequestIsLoggedWithErrorCode(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*http.Request{
		"keyed":  withKey(newRequest("GET", "/things/1", "")),
		"polled": newRequest("POST", "/things/1?public_id="+publicID, ""),
	} {
		to := &rows{}
		do(logged(logging(t, to), fault.Missing("Thing not found.")), r)
		if len(to.requests) != 1 || to.requests[0].Status != 404 || to.requests[0].Error != "svc_not_found" ||
			to.requests[0].External.Sum != nil {
			t.Errorf("%s: logged %+v", name, to.requests)
		}
	}
}

func TestRequestLogOmitsPollsAndUnauthenticatedRequests(t *testing.T) {
	t.Parallel()
	wrong := newRequest("GET", "/things/1", "")
	wrong.SetBasicAuth(publicID, "private_test_wrong")
	for name, r := range map[string]*http.Request{
		"poll":              newRequest("POST", "/things/1?public_id="+publicID, ""),
		"no key":            newRequest("GET", "/things/1", ""),
		"wrong key":         wrong,
		"unknown public ID": newRequest("POST", "/things/1?public_id=public_test_x", ""),
		"preflight":         newRequest("OPTIONS", "/things/1?public_id="+publicID, ""),
		"other method":      withKey(newRequest("PUT", "/things/1", "")),
	} {
		to := &rows{}
		do(logged(logging(t, to), nil), r)
		if len(to.requests) != 0 {
			t.Errorf("%s: logged %+v", name, to.requests)
		}
	}
}

func TestLimitedRequestIsLogged(t *testing.T) {
	t.Parallel()
	to := &rows{}
	auth := httpapi.KeyAuth{Keys: directory{}, Limiter: tooMany()}
	f := func(context.Context, org.Caller, nothing) (echo, error) { return echo{}, nil }
	do(logging(t, to).Serve("/things", httpapi.Methods{"GET": httpapi.Keyed(auth, f)}),
		withKey(newRequest("GET", "/things", "")))
	if len(to.requests) != 1 || to.requests[0].Status != 429 || to.requests[0].Error != "svc_rate_limited" {
		t.Errorf("logged %+v", to.requests)
	}
}

// TestRequestLogFailureDoesNotAffectResponse also checks that a slow write delays the response by at most 200 ms.
func TestRequestLogFailureDoesNotAffectResponse(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]*rows{"failed": {err: errors.New("store down")}, "slow": {takes: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api, began := logging(t, to), time.Now()
				wantBody(t, do(logged(api, nil), withKey(newRequest("GET", "/things/1", ""))), 200,
					`{"success":true,"data":{"text":"hello"}}`)
				if took := time.Since(began); took > 200*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				for _, part := range []string{`"unlogged":`, `"Unlogged":1`} {
					if !strings.Contains(api.log.String(), part) {
						t.Errorf("the log line has no %s: %s", part, api.log)
					}
				}
			})
		})
	}
}
