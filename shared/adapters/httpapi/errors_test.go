package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/words/fault"
)

func errorBody(code, description string) string {
	return `{"success":false,"error":"` + code + `","error_description":"` + description + `","request_id":"` +
		requestID + `"}`
}

const generic = "Something went wrong on our side. Please try again."

func TestErrorKindsMapToStatusAndBody(t *testing.T) {
	t.Parallel()
	cases := []struct {
		kind   fault.Kind
		code   fault.Code
		status int
	}{
		{fault.Invalid, fault.CodeInvalidRequest, 400},
		{fault.Unauthenticated, fault.CodeUnauthorizedClient, 401},
		{fault.Forbidden, "svc_forbidden_mode", 403},
		{fault.NotFound, fault.CodeNotFound, 404},
		{fault.MethodNotAllowed, fault.CodeMethodNotAllowed, 405},
		{fault.Conflict, fault.CodeConnectionNotExportable, 409},
		{fault.Gone, fault.CodeExportExpired, 410},
		{fault.TooLarge, fault.CodePayloadTooLarge, 413},
		{fault.UnsupportedMedia, fault.CodeUnsupportedMediaType, 415},
		{fault.Limited, fault.CodeRateLimited, 429},
		{fault.Upstream, fault.CodeTokenExchange, 503},
		{fault.Unavailable, fault.CodeUnavailable, 503},
		{fault.Conflict, fault.CodeUnavailable, 503}, // fault.Stale
	}
	for _, c := range cases {
		t.Run(string(c.kind)+" "+string(c.code), func(t *testing.T) {
			t.Parallel()
			err := fmt.Errorf("wrapped: %w", fault.New(c.kind, c.code, "One sentence.").Because(errors.New("SENTINEL cause")))
			w := do(keyed(newEdge(), err), withKey(newRequest("GET", "/things/1", "")))
			wantBody(t, w, c.status, errorBody(string(c.code), "One sentence."))
			wantHeader(t, w, "Content-Type", "application/json")
			wantHeader(t, w, "Cache-Control", "no-store")
			wantHeader(t, w, "X-Content-Type-Options", "nosniff")
			wantHeader(t, w, "X-Request-Id", requestID)
			challenge := ""
			if c.status == 401 {
				challenge = `Basic realm="recordbridge", charset="UTF-8"`
			}
			wantHeader(t, w, "WWW-Authenticate", challenge)
			wantHeader(t, w, "Access-Control-Allow-Origin", "")
		})
	}
}

func TestInternalErrorHidesDetails(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"unknown error":        errors.New("SENTINEL dial tcp 10.0.0.1"),
		"internal with a text": fault.New(fault.Internal, "svc_special", "SENTINEL text."),
		"kind alone":           fmt.Errorf("SENTINEL: %w", fault.Internal),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newEdge()
			w := do(keyed(api, err), withKey(newRequest("GET", "/things/1", "")))
			wantBody(t, w, 500, errorBody("svc_server_error", generic))
			if !strings.Contains(api.log.String(), "SENTINEL") {
				t.Errorf("the log lacks the cause: %s", api.log)
			}
		})
	}
}

func TestErrorLogContainsOnlyInternalCauses(t *testing.T) {
	t.Parallel()
	api := newEdge()
	err := fault.BadRequest("Not so.").Because(errors.New("SENTINEL patient text"))
	do(keyed(api, err), withKey(newRequest("GET", "/things/1?token=SENTINEL", "")))
	if got := api.log.String(); strings.Contains(got, "SENTINEL") ||
		!strings.Contains(got, `"error":"svc_invalid_request"`) {
		t.Errorf("log line: %s", got)
	}
}

func TestErrorDescriptionIsOneLineOfASCII(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ public, want string }{
		"header smuggling": {"bad\r\nSet-Cookie: a=b\r\n\r\n<script>", "bad Set-Cookie: a=b <script>"},
		"not ASCII":        {"Übermut\u2028und\x00Null", "bermutundNull"},
		"too long":         {strings.Repeat("a", 500), strings.Repeat("a", 200)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := do(keyed(newEdge(), fault.BadRequest(c.public)), withKey(newRequest("GET", "/things/1", "")))
			var body struct {
				Description string `json:"error_description"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Description != c.want {
				t.Errorf("got %q (%v), want %q", body.Description, err, c.want)
			}
		})
	}
}

func TestRetryAfterIsRoundedUpToSeconds(t *testing.T) {
	t.Parallel()
	err := fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy.").After(1100 * time.Millisecond)
	w := do(keyed(newEdge(), err), withKey(newRequest("GET", "/things/1", "")))
	wantHeader(t, w, "Retry-After", "2")
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d", w.Code)
	}
}
