package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	memberRoute = "/dashboard/organisations/{orgId}/{mode}/things"
	memberPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/things"
	orgRoute    = "/dashboard/organisations/{orgId}"
)

// arrival is a response that describes the endpoint's visitor.
type arrival struct {
	Account string `json:"account"`
	Org     string `json:"org"`
	Role    string `json:"role"`
	Tenant  string `json:"tenant"`
	Fresh   bool   `json:"fresh"`
}

func tell(_ context.Context, v httpapi.Visitor, _ nothing) (arrival, error) {
	return arrival{
		Account: v.Account, Org: v.Org, Role: string(v.Role), Tenant: v.Tenant.Key(),
		Fresh: v.Prove(account.Erase) == nil,
	}, nil
}

func members(route string, needed account.Permission) func() http.Handler {
	return func() http.Handler {
		endpoint := httpapi.Member(membertest.Auth(), needed, tell)
		return keyedtest.NewAPI().Serve(route, httpapi.Methods{http.MethodGet: endpoint, http.MethodPost: endpoint})
	}
}

func TestMemberEnforcesEveryPermissionForEveryRole(t *testing.T) {
	t.Parallel()
	for _, needed := range account.Permissions() {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(string(needed)+" "+method, func(t *testing.T) {
				t.Parallel()
				membertest.CheckMember(t, memberRoute, membertest.Exchange{Method: method, Path: memberPath}, needed,
					members(memberRoute, needed))
			})
			t.Run(string(needed)+" without a mode "+method, func(t *testing.T) {
				t.Parallel()
				e := membertest.Exchange{Method: method, Path: "/dashboard/organisations/" + membertest.OrgA}
				membertest.CheckMember(t, orgRoute, e, needed, members(orgRoute, needed))
			})
		}
	}
}

func TestSessionEndpointReceivesVisitor(t *testing.T) {
	t.Parallel()
	body := func(who, role, mode, fresh string) string {
		return `{"success":true,"data":{"account":"` + membertest.AccountOf(who) + `","org":"` + membertest.OrgA +
			`","role":"` + role +
			`","tenant":"` + mode + `#` + membertest.OrgA + `","fresh":` + fresh + `}}`
	}
	live := "/dashboard/organisations/" + membertest.OrgA + "/live/things"
	for name, e := range map[string]membertest.Exchange{
		"an owner":        {Path: memberPath, As: membertest.Owner, Want: body(membertest.Owner, "owner", "test", "true")},
		"in live mode":    {Path: live, As: membertest.Viewer, Want: body(membertest.Viewer, "viewer", "live", "true")},
		"proven long ago": {Path: memberPath, As: membertest.Stale, Want: body(membertest.Stale, "owner", "test", "false")},
		"no browser": {
			Path: memberPath, As: membertest.Owner, Site: "-",
			Want: body(membertest.Owner, "owner", "test", "true"),
		},
		"a typed address": {
			Path: memberPath, As: membertest.Owner, Site: "none",
			Want: body(membertest.Owner, "owner", "test", "true"),
		},
		"a POST": {
			Method: http.MethodPost, Path: memberPath, As: membertest.Owner,
			Want: body(membertest.Owner, "owner", "test", "true"),
		},
		"a POST of no page": {
			Method: http.MethodPost, Path: memberPath, As: membertest.Owner, Site: "none", Status: 403,
			Want: membertest.OtherSite,
		},
		"an org in upper case": {
			Path: "/dashboard/organisations/A0000000-0000-4000-8000-000000000001/test/things", As: membertest.Owner,
			Want: body(membertest.Owner, "owner", "test", "true"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e.Status == 0 {
				e.Status = http.StatusOK
			}
			e.Check(t, memberRoute, members(memberRoute, account.View)())
		})
	}
}

// noRows is an empty audit chain.
type noRows struct{ audit.Rows }

func (noRows) Head(context.Context, string) (audit.Head, error) { return audit.Head{}, nil }

// TestSessionEndpointsRecordTruncatedNetwork checks the source of audit rows of every kind of dashboard endpoint. A
// forged X-Forwarded-For header has no effect.
func TestSessionEndpointsRecordTruncatedNetwork(t *testing.T) {
	t.Parallel()
	type source struct {
		From string `json:"from"`
	}
	tell := func(ctx context.Context, _ httpapi.Visitor, _ nothing) (source, error) {
		_, row, err := audit.Log{Rows: noRows{}}.Next(ctx, audit.Row{ID: "1"})
		return source{From: row.From}, err
	}
	for name, endpoint := range map[string]httpapi.Endpoint{
		"member": httpapi.Member(membertest.Auth(), account.View, tell), "account": httpapi.Account(membertest.Auth(), tell),
		"pending": httpapi.Pending(membertest.Auth(), tell), "anyone": httpapi.Anyone(httpapi.Limiter{}, tell),
	} {
		handler := keyedtest.NewAPI().Serve(orgRoute, httpapi.Methods{http.MethodGet: endpoint})
		for remote, want := range map[string]string{
			"203.0.113.77:0": "203.0.113.0/24", "[2001:db8:1:2:3::4]:0": "2001:db8:1::/48",
			"[::ffff:203.0.113.77]:0": "203.0.113.0/24", ":0": "", "unknown": "",
		} {
			e := membertest.Exchange{Path: "/dashboard/organisations/" + membertest.OrgA, As: membertest.Owner}
			w := e.Send(t, orgRoute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RemoteAddr = remote
				r.Header.Set("X-Forwarded-For", "198.51.100.1")
				handler.ServeHTTP(w, r)
			}))
			if body := `{"success":true,"data":{"from":"` + want + `"}}`; strings.TrimSpace(w.Body.String()) != body {
				t.Errorf("%s from %s: %s, want %s", name, remote, w.Body, body)
			}
		}
	}
}

// TestProvingRequiresRecentAuthenticationForAction checks every action against account.Action.NeedsProof, in each mode,
// for an organisation without a mode, and for an account without an organisation.
func TestProvingRequiresRecentAuthenticationForAction(t *testing.T) {
	t.Parallel()
	for _, action := range account.Actions() {
		member := httpapi.Member(membertest.Auth(), account.View, tell).Proving(action)
		own := httpapi.Account(membertest.Auth(), tell).Proving(action)
		for _, c := range []struct {
			route, path string
			endpoint    httpapi.Endpoint
			needsProof  bool
		}{
			{memberRoute, memberPath, member, action.NeedsProof(org.Test)},
			{memberRoute, "/dashboard/organisations/" + membertest.OrgA + "/live/things", member, action.NeedsProof(org.Live)},
			{orgRoute, "/dashboard/organisations/" + membertest.OrgA, member, action.NeedsProof("")},
			{"/dashboard/account", "/dashboard/account", own, action.NeedsProof("")},
		} {
			handler := keyedtest.NewAPI().Serve(c.route, httpapi.Methods{http.MethodPost: c.endpoint})
			e := membertest.Exchange{Method: http.MethodPost, Path: c.path, As: membertest.Owner}
			if w := e.Send(t, c.route, handler); w.Code != http.StatusOK {
				t.Errorf("%s at %s with a fresh proof: %d %s", action, c.path, w.Code, w.Body)
			}
			e.As = membertest.Stale
			if c.needsProof {
				e.Status, e.Want = http.StatusForbidden, membertest.ProofRequired
				e.Check(t, c.route, handler)
			} else if w := e.Send(t, c.route, handler); w.Code != http.StatusOK {
				t.Errorf("%s at %s with a stale proof: %d %s", action, c.path, w.Code, w.Body)
			}
		}
	}
}

func TestSessionRequiresExactlyOneCookieAndToken(t *testing.T) {
	t.Parallel()
	right := account.CSRFToken(membertest.Token(membertest.Owner))
	for name, c := range map[string]struct {
		cookies []string
		tokens  []string
		status  int
	}{
		"one of each":            {[]string{"owner"}, []string{right}, 200},
		"two cookies":            {[]string{"owner", "viewer"}, []string{right}, 401},
		"the same cookie twice":  {[]string{"owner", "owner"}, []string{right}, 401},
		"an empty cookie":        {[]string{""}, []string{right}, 401},
		"two tokens":             {[]string{"owner"}, []string{right, right}, 403},
		"another session's":      {[]string{"viewer"}, []string{right}, 403},
		"the session's own":      {[]string{"owner"}, []string{"owner"}, 403},
		"an empty token":         {[]string{"owner"}, []string{""}, 403},
		"the token cut short":    {[]string{"owner"}, []string{right[:42]}, 403},
		"a token and no session": {nil, []string{right}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(http.MethodPost, memberPath, "")
			for _, value := range c.cookies {
				r.AddCookie(&http.Cookie{Name: httpapi.Cookies{}.Name(httpapi.SessionCookie), Value: value})
			}
			r.Header["X-Csrf-Token"] = c.tokens
			mux := http.NewServeMux()
			mux.Handle(memberRoute, members(memberRoute, account.View)())
			if w := do(mux, r); w.Code != c.status {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestSessionIsLimitedToPendingEndpointsBeforeSecondFactor(t *testing.T) {
	t.Parallel()
	auth := membertest.Auth()
	handler := keyedtest.NewAPI().Serve("/dashboard/session", httpapi.Methods{
		http.MethodGet: httpapi.Pending(auth, tell), http.MethodPut: httpapi.Account(auth, tell),
	})
	for method, status := range map[string]int{http.MethodGet: 200, http.MethodPut: 403} {
		e := membertest.Exchange{Method: method, Path: "/dashboard/session", As: membertest.Pending}
		if w := e.Send(t, "/dashboard/session", handler); w.Code != status {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
		e.As = membertest.Viewer
		if w := e.Send(t, "/dashboard/session", handler); w.Code != http.StatusOK {
			t.Errorf("%s with everything proven: %d %s", method, w.Code, w.Body)
		}
	}
}

func TestAnyoneRejectsRequestsFromOtherSites(t *testing.T) {
	t.Parallel()
	type form struct {
		Text string `json:"text"`
	}
	echoForm := func(_ context.Context, v httpapi.Visitor, in form) (httpapi.WithCookies, error) {
		cookie := httpapi.Cookies{}.Strict(httpapi.SessionCookie, secret.New("fresh"), time.Hour)
		return httpapi.WithCookies{
			Data:    form{in.Text + v.Cookie(httpapi.Cookies{}.Name(httpapi.SessionCookie))},
			Cookies: []*http.Cookie{cookie},
		}, nil
	}
	handler := keyedtest.NewAPI().Serve("/x",
		httpapi.Methods{http.MethodPost: httpapi.Anyone(httpapi.Limiter{}, echoForm)})
	set := "__Host-recordbridge-session=fresh; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=Strict"
	for name, e := range map[string]membertest.Exchange{
		"our page": {
			Status: 200, Want: `{"success":true,"data":{"text":"a"}}`,
			Header: map[string]string{"Set-Cookie": set},
		},
		"with a cookie": {
			As: "any", NoToken: true, Status: 200, Want: `{"success":true,"data":{"text":"aany"}}`,
			Header: map[string]string{"Set-Cookie": set},
		},
		"another site": {Site: "cross-site", Status: 403, Want: membertest.OtherSite},
		"a form": {
			Media: "text/plain", Status: 415,
			Want: keyedtest.FailureBody("svc_unsupported_media_type",
				"The request body must be uncompressed UTF-8 and have the content type application/json."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method, e.Path, e.Body = http.MethodPost, "/x", `{"text":"a"}`
			e.Check(t, "/x", handler)
		})
	}
}

// TestSessionAcceptsOnlyCookieOfItsBaseURL checks that an https service ignores a session cookie that an http page
// could set.
func TestSessionAcceptsOnlyCookieOfItsBaseURL(t *testing.T) {
	t.Parallel()
	for baseURL, want := range map[string]map[string]int{
		"https://api.example/v1":   {"recordbridge-session": 401, "__Host-recordbridge-session": 200},
		"http://127.0.0.1:4566/v1": {"recordbridge-session": 200, "__Host-recordbridge-session": 401},
	} {
		for name, status := range want {
			auth := membertest.Auth()
			auth.Cookies = httpapi.CookiesAt(baseURL)
			r := newRequest(http.MethodGet, "/dashboard/session", "")
			r.AddCookie(&http.Cookie{Name: name, Value: membertest.Owner})
			w := do(keyedtest.NewAPI().Serve("/dashboard/session",
				httpapi.Methods{http.MethodGet: httpapi.Account(auth, tell)}), r)
			if w.Code != status {
				t.Errorf("%s, %s: got %d %s, want %d", baseURL, name, w.Code, w.Body, status)
			}
		}
	}
}
