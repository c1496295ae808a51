// Package membertest tests dashboard endpoints. It provides sessions for every role. Exchange compares complete
// responses, and CheckMember calls an endpoint with every role and as every kind of caller without access. Only tests
// import this package.
package membertest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// Test organisations. Everyone except Stranger, who owns OrgB, is a member of OrgA.
const (
	OrgA = "a0000000-0000-4000-8000-000000000001"
	OrgB = "a0000000-0000-4000-8000-000000000002"
)

// People with a session: one for each role, and others who differ from the owner in a single respect. A person's name
// doubles as the session cookie's value.
const (
	Owner     = "owner"
	Admin     = "admin"
	Developer = "developer"
	Viewer    = "viewer"
	Stranger  = "stranger" // owns OrgB and has no role in OrgA
	Stale     = "stale"    // an owner who last authenticated an hour ago
	Pending   = "pending"  // an owner who has not completed the second factor
)

// Error bodies shared by several responses.
const (
	NoSession = `{"success":false,"error":"svc_session_required","error_description":"Sign in to continue.",` +
		`"request_id":"` + keyedtest.RequestID + `"}`
	NoSuchOrg = `{"success":false,"error":"svc_not_found","error_description":"Organisation not found.",` +
		`"request_id":"` + keyedtest.RequestID + `"}`
	NotAllowed = `{"success":false,"error":"svc_forbidden","error_description":"Your role doesn't allow this. Ask an ` +
		`owner of your organisation.","request_id":"` + keyedtest.RequestID + `"}`
	NoToken = `{"success":false,"error":"svc_forbidden","error_description":"Set the X-CSRF-Token header to the ` +
		`session's csrf_token.","request_id":"` + keyedtest.RequestID + `"}`
	OtherSite = `{"success":false,"error":"svc_forbidden","error_description":"This endpoint accepts requests only ` +
		`from the dashboard.","request_id":"` + keyedtest.RequestID + `"}`
	ProofRequired = `{"success":false,"error":"svc_proof_required","error_description":"Verify your identity again ` +
		`with a passkey, an authenticator app or an e-mailed code.","request_id":"` + keyedtest.RequestID + `"}`
)

// AccountOf returns a person's account ID.
func AccountOf(who string) string {
	return map[string]string{
		Owner: "ac000000-0000-4000-8000-000000000001", Admin: "ac000000-0000-4000-8000-000000000002",
		Developer: "ac000000-0000-4000-8000-000000000003", Viewer: "ac000000-0000-4000-8000-000000000004",
		Stranger: "ac000000-0000-4000-8000-000000000005", Stale: "ac000000-0000-4000-8000-000000000006",
		Pending: "ac000000-0000-4000-8000-000000000007",
	}[who]
}

// Token returns a person's session token.
func Token(who string) secret.Text { return secret.New(who) }

// Auth returns an authenticator for all test people, without rate limits.
func Auth() httpapi.SessionAuth { return httpapi.SessionAuth{Sessions: people{}, Members: people{}} }

type people struct{}

// Session implements httpapi.Sessions. Each session started a minute before keyedtest.Moment.
func (people) Session(_ context.Context, token secret.Text) (account.Session, error) {
	who := token.Reveal()
	if AccountOf(who) == "" {
		return account.Session{}, fault.New(fault.Unauthenticated, fault.CodeSessionRequired, "Sign in to continue.")
	}
	started := keyedtest.Moment().Add(-time.Minute)
	found := account.Session{
		Hash: account.Hash(token), AccountID: AccountOf(who), Pending: who == Pending, ProvenAt: started, StartedAt: started,
		SeenAt: started,
	}
	if who == Stale {
		found.ProvenAt = keyedtest.Moment().Add(-time.Hour)
	}
	return found, nil
}

// Role implements httpapi.Memberships.
func (people) Role(_ context.Context, accountID, orgID string) (account.Role, error) {
	for _, who := range []string{Owner, Admin, Developer, Viewer, Stale, Pending} {
		if accountID == AccountOf(who) && orgID == OrgA {
			role, ok := account.ParseRole(who)
			if !ok {
				role = account.Owner
			}
			return role, nil
		}
	}
	if accountID == AccountOf(Stranger) && orgID == OrgB {
		return account.Owner, nil
	}
	return "", fault.Missing("Record not found.")
}

// Exchange is a request with its complete expected response.
type Exchange struct {
	Method  string // HTTP method; GET if empty
	Path    string
	As      string // person whose session the request uses; no session if empty
	Body    string
	Media   string // body's media type; application/json if empty
	Site    string // Sec-Fetch-Site header; same-origin if empty, omitted if "-"
	NoToken bool   // omit X-CSRF-Token
	IfMatch string // If-Match header; omitted if empty
	Status  int
	Want    string            // expected body
	Header  map[string]string // additional headers; an empty value removes a header
}

// Send sends the request to a route's handler.
func (e Exchange) Send(tb testing.TB, route string, handler http.Handler) *httptest.ResponseRecorder {
	tb.Helper()
	mux := http.NewServeMux()
	mux.Handle(route, handler)
	r := httptest.NewRequestWithContext(tb.Context(), cmp.Or(e.Method, http.MethodGet), e.Path, strings.NewReader(e.Body))
	if e.Body != "" {
		r.Header.Set("Content-Type", cmp.Or(e.Media, "application/json"))
	}
	if e.Site != "-" {
		r.Header.Set("Sec-Fetch-Site", cmp.Or(e.Site, "same-origin"))
	}
	if e.IfMatch != "" {
		r.Header.Set("If-Match", e.IfMatch)
	}
	if e.As != "" {
		r.Header.Set("Cookie", httpapi.Cookies{}.Name(httpapi.SessionCookie)+"="+e.As)
		if !e.NoToken {
			r.Header.Set("X-CSRF-Token", account.CSRFToken(Token(e.As)))
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// Check sends the request and compares the complete response with the expected one.
func (e Exchange) Check(tb testing.TB, route string, handler http.Handler) {
	tb.Helper()
	w := e.Send(tb, route, handler)
	if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != e.Status || got != e.Want {
		tb.Errorf("got %d %s\nwant %d %s", w.Code, got, e.Status, e.Want)
	}
	want := map[string]string{
		"Cache-Control": "no-store", "X-Request-Id": keyedtest.RequestID, "Access-Control-Allow-Origin": "",
		"WWW-Authenticate": "", "Set-Cookie": "",
	}
	if e.Want != "" {
		want["Content-Type"] = "application/json"
	}
	maps.Copy(want, e.Header)
	for name, value := range want {
		if got := strings.Join(w.Header().Values(name), ", "); got != value {
			tb.Errorf("header %s: %q, want %q", name, got, value)
		}
	}
}
