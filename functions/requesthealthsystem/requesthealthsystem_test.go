package requesthealthsystem_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/requesthealthsystem"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/inquiry"
	"recordbridge/shared/org"
)

const publicID = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"

var tenant = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}

type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if id != publicID {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return org.Caller{Tenant: tenant, AllowedOrigins: []string{"https://app.example"}}, nil
}

// recorder remembers what was asked, and answers err.
type recorder struct {
	from  []inquiry.From
	asked []inquiry.HealthSystem
	err   error
}

func (r *recorder) AskHealthSystem(_ context.Context, from inquiry.From, asked inquiry.HealthSystem) error {
	r.from, r.asked = append(r.from, from), append(r.asked, asked)
	return r.err
}

func (r *recorder) post(method, query, body string) *httptest.ResponseRecorder {
	handler := requesthealthsystem.New(requesthealthsystem.Deps{
		API:  httpapi.New(httpapi.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, IDs: func() string { return "r" }}),
		Auth: httpapi.PublicAuth{Public: directory{}}, Inquiries: r,
	})
	request := httptest.NewRequest(method, requesthealthsystem.Route+query, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}

func TestWhatAPatientAsksIsTakenDown(t *testing.T) {
	t.Parallel()
	var r recorder
	w := r.post(http.MethodPost, "?public_id="+publicID, `{"email":"ada@example.com","name":"Alder","website":"w","street_address":"s","email_token":"token-1","request_key":"page-1","Tenant":"other"}`)
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != `{"success":true}` || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("got %d %s %v", w.Code, got, w.Header())
	}
	if len(r.asked) != 1 || r.asked[0] != (inquiry.HealthSystem{Name: "Alder", Website: "w", StreetAddress: "s"}) {
		t.Fatalf("asked for %+v", r.asked)
	}
	if from := r.from[0]; from.Tenant != tenant || from.Email != "ada@example.com" || from.Token.Reveal() != "token-1" || from.RequestKey != "page-1" {
		t.Errorf("asked by %+v", from)
	}
}

func TestWhatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	const good = `{"email":"ada@example.com","name":"x"}`
	for name, c := range map[string]struct {
		method, query, body string
		err                 error
		status              int
		code                string
	}{
		"what cannot be taken": {http.MethodPost, "?public_id=" + publicID, good, fault.BadRequest("name is required.").About("name"), 400, "svc_invalid_request"},
		"our own failure":      {http.MethodPost, "?public_id=" + publicID, good, errors.New("trouble"), 500, "svc_server_error"},
		"no public id":         {http.MethodPost, "", good, nil, 400, "svc_invalid_request"},
		"an unknown public id": {http.MethodPost, "?public_id=x", good, nil, 401, "svc_unauthorized_client"},
		"no address":           {http.MethodPost, "?public_id=" + publicID, `{"name":"x"}`, nil, 400, "svc_invalid_request"},
		"a member of lists":    {http.MethodPost, "?public_id=" + publicID, `{"email":"ada@example.com","name":["x"]}`, nil, 400, "svc_invalid_request"},
		"no body":              {http.MethodPost, "?public_id=" + publicID, "", nil, 400, "svc_invalid_request"},
		"GET":                  {http.MethodGet, "?public_id=" + publicID, "", nil, 405, "svc_method_not_allowed"},
	} {
		r := recorder{err: c.err}
		w := r.post(c.method, c.query, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), `"error":"`+c.code+`"`) || strings.Contains(w.Body.String(), "trouble") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		if c.err == nil && len(r.asked) != 0 {
			t.Errorf("%s: it was taken down", name)
		}
	}
}
