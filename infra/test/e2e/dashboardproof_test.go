package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// proofCase is a request that requires a recent proof of identity. If the path contains a mode, the mode is live.
type proofCase struct {
	name, method, path string
	body               any
}

// TestRecordAccessActionsRequireRecentProof sends every request that gives access to records or weakens their
// protection, first with a proof of identity that is too old. Each of these requests must be rejected without changing
// data. With a recent proof of identity, each request must succeed.
func TestRecordAccessActionsRequireRecentProof(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		own := "/dashboard/organisations/" + c.own
		live := own + "/" + string(org.Live)
		made := c.at(http.MethodPost, live+"/credentials",
			map[string]any{"redirect_uris": []string{"https://app.example/return"}})
		hook := text(c.at(http.MethodPost, live+"/webhooks", map[string]any{"url": "https://hooks.example/a"}), "webhook",
			"webhook_id")
		colleague := c.signedIn(c.own, account.Viewer, false)
		connection := c.patient.connect(crashPersona, "approve").Get("org_connection_id")
		stale := c.stale(c.owner)
		for _, p := range []proofCase{
			{
				"live credential", http.MethodPost, live + "/credentials",
				map[string]any{"redirect_uris": []string{"https://app.example/return"}},
			},
			{
				"live key", http.MethodPost, live + "/credentials/" + text(made, "credential", "public_id") + "/keys",
				map[string]any{},
			},
			{"live secret", http.MethodPost, live + "/webhooks/" + hook + "/secret/rotate", map[string]any{}},
			{"live secret shown", http.MethodPost, live + "/webhooks/" + hook + "/secret/reveal", nil},
			{"live webhook", http.MethodPost, live + "/webhooks", map[string]any{"url": "https://hooks.example/b"}},
			{
				"live webhook's URL", http.MethodPatch, live + "/webhooks/" + hook,
				map[string]any{"url": "https://elsewhere.example/a"},
			},
			{"role owner", http.MethodPatch, own + "/members/" + colleague.account, map[string]any{"role": "owner"}},
			{"role admin", http.MethodPatch, own + "/members/" + colleague.account, map[string]any{"role": "admin"}},
			{
				"invited owner", http.MethodPost, own + "/invitations",
				map[string]any{"email": "ada@alder.example", "role": "owner"},
			},
			{
				"invited admin", http.MethodPost, own + "/invitations",
				map[string]any{"email": "bob@alder.example", "role": "admin"},
			},
			{"erasing", http.MethodPost, own + "/test/connections/" + connection + "/erase", nil},
			{"authenticator app", http.MethodPost, "/dashboard/account/totp", nil},
		} {
			before := c.stored(t)
			if got := c.request(stale, p); got.status != http.StatusForbidden || got.Error != "svc_proof_required" {
				t.Errorf("%s with a stale proof: %d %s, want 403 svc_proof_required", p.name, got.status, got.raw)
			}
			if c.stored(t) != before {
				t.Errorf("%s with a stale proof changed a row", p.name)
			}
			if got := c.request(c.owner, p); got.status != http.StatusOK {
				t.Errorf("%s with a fresh proof: %d %s", p.name, got.status, got.raw)
			}
		}
	})
}

func (c *console) request(by who, p proofCase) answer {
	c.t.Helper()
	return c.send(p.method, p.path, http.Header{
		"Sec-Fetch-Site": {"same-origin"}, "X-Csrf-Token": {account.CSRFToken(by.token)}, "Cookie": {cookieOf(by)},
	}, p.body)
}

// stored returns the organisation's webhooks, credentials, members and audit log, which a rejected request must not
// change.
func (c *console) stored(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	own := "/dashboard/organisations/" + c.own
	for _, path := range []string{
		own + "/live/credentials", own + "/live/webhooks", own + "/members",
		own + "/invitations", own + "/audit",
	} {
		shown, err := json.Marshal(c.at(http.MethodGet, path, nil))
		expect.NoError(t, err)
		all.Write(shown)
	}
	return all.String()
}

// TestWebhookHeadersAreDeletedWhenOriginChanges changes the URL of a webhook with custom headers. The webhook must
// continue to send its custom headers to the same origin, but not to a different host.
func TestWebhookHeadersAreDeletedWhenOriginChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		got := map[string]string{} // header value received, by path
		c.intercept = func(in *http.Request) *http.Response {
			if !strings.HasPrefix(in.URL.Path, "/_local/inbox/hazel") {
				return nil
			}
			got[in.URL.Path] = in.Header.Get("X-Receiver-Key")
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: in}
		}
		first := customer + "/_local/inbox/hazel-"
		other := strings.Replace(first, "127.0.0.1", "localhost", 1)
		made := c.do(http.MethodPost, "/webhooks",
			map[string]any{"url": first + "a", "headers": map[string]string{"X-Receiver-Key": "hush"}})
		hook := "/webhooks/" + text(made, "webhook", "webhook_id")
		for _, move := range []struct {
			change map[string]any
			want   string
		}{
			{map[string]any{"url": first + "b"}, "hush"},
			{map[string]any{"url": other + "c"}, ""},
			{map[string]any{"url": first + "d"}, ""}, // the headers are deleted, not merely omitted from requests
			{map[string]any{"url": other + "e", "headers": map[string]string{"X-Receiver-Key": "anew"}}, "anew"},
		} {
			c.do(http.MethodPatch, hook, move.change)
			c.do(http.MethodPost, hook+"/simulate", map[string]any{"type": "webhook.test"})
			c.queues.pump()
			path := "/_local/inbox/hazel-" + text(move.change, "url")[len(first):]
			if sent, isSent := got[path]; !isSent || sent != move.want {
				t.Errorf("%v: sent %v with %q, want %q", move.change, isSent, sent, move.want)
			}
		}
	})
}
