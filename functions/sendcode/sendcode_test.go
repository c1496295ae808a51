package sendcode_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/sendcode"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/verification"
)

const publicID = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"

var tenant = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}

// directory has one organisation.
type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if id != publicID {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return org.Caller{Tenant: tenant, AllowedOrigins: []string{"https://app.example"}}, nil
}

func (directory) Organisation(context.Context, string) (org.Organisation, error) {
	return org.Organisation{Name: "Alder App"}, nil
}

// sender remembers what was asked for, and answers err or a code.
type sender struct {
	asked []verification.Request
	err   error
}

func (s *sender) Send(_ context.Context, r verification.Request) (verification.Sent, error) {
	s.asked = append(s.asked, r)
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	return verification.Sent{ID: "id-1", ExpiresAt: at.Add(5 * time.Minute), ResendAfter: at.Add(30 * time.Second)}, s.err
}

func (s *sender) post(method, query, body string) *httptest.ResponseRecorder {
	handler := sendcode.New(sendcode.Deps{
		API:  httpapi.New(httpapi.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, IDs: func() string { return "r" }}),
		Auth: httpapi.PublicAuth{Public: directory{}}, Organisations: directory{}, Codes: s,
	})
	r := httptest.NewRequest(method, sendcode.Route+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestACodeIsAskedForInTheOrganisationsName(t *testing.T) {
	t.Parallel()
	var s sender
	w := s.post(http.MethodPost, "?public_id="+publicID, `{"email":"ada@example.com","lang":"es","public_id":"other","Organisation":"Evil"}`)
	want := `{"success":true,"data":{"verification_id":"id-1","expires_at":"2026-03-04T05:11:07Z","resend_after":"2026-03-04T05:06:37Z"}}`
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("got %d %s %v\nwant %s", w.Code, got, w.Header(), want)
	}
	asked := verification.Request{Tenant: tenant, Organisation: "Alder App", Email: "ada@example.com", Language: "es"}
	if len(s.asked) != 1 || s.asked[0] != asked {
		t.Errorf("asked for %+v", s.asked)
	}
}

func TestWhatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	const good = `{"email":"ada@example.com"}`
	for name, c := range map[string]struct {
		method, query, body string
		err                 error
		status              int
		code                string
	}{
		"too many":             {http.MethodPost, "?public_id=" + publicID, good, fault.New(fault.Limited, fault.CodeRateLimited, "Wait.").After(time.Minute), 429, "svc_rate_limited"},
		"a mail that fails":    {http.MethodPost, "?public_id=" + publicID, good, fault.New(fault.Unavailable, fault.CodeUnavailable, "Off."), 503, "svc_unavailable"},
		"our own failure":      {http.MethodPost, "?public_id=" + publicID, good, errors.New("trouble"), 500, "svc_server_error"},
		"no public id":         {http.MethodPost, "", good, nil, 400, "svc_invalid_request"},
		"an unknown public id": {http.MethodPost, "?public_id=x", good, nil, 401, "svc_unauthorized_client"},
		"no address":           {http.MethodPost, "?public_id=" + publicID, `{"email":null}`, nil, 400, "svc_invalid_request"},
		"an address of lists":  {http.MethodPost, "?public_id=" + publicID, `{"email":["a@example.com"]}`, nil, 400, "svc_invalid_request"},
		"no body":              {http.MethodPost, "?public_id=" + publicID, "", nil, 400, "svc_invalid_request"},
		"GET":                  {http.MethodGet, "?public_id=" + publicID, "", nil, 405, "svc_method_not_allowed"},
	} {
		s := sender{err: c.err}
		w := s.post(c.method, c.query, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), `"error":"`+c.code+`"`) || strings.Contains(w.Body.String(), "trouble") || strings.Contains(w.Body.String(), "ada@") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		if c.err == nil && len(s.asked) != 0 {
			t.Errorf("%s: a code was sent", name)
		}
	}
}
