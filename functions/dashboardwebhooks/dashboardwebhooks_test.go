package dashboardwebhooks_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"recordbridge/functions/dashboardwebhooks"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/webhooks"
	oneRoute  = listRoute + "/{webhookId}"
	listPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/webhooks"
	address   = "https://hooks.example/in?token=caller"
)

func handler(s *managed.Stack) http.Handler {
	return dashboardwebhooks.New(dashboardwebhooks.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Webhooks: s.Operator.Webhooks, Deliveries: s.Operator.Deliveries,
	})
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var answer struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer.Data
}

type shown struct {
	ID        string   `json:"webhook_id"`
	URL       string   `json:"url"`
	Note      string   `json:"note"`
	Types     []string `json:"types"`
	Headers   []string `json:"headers"`
	Rate      int      `json:"rate"`
	PublicKey string   `json:"public_key"`
	Disabled  *struct {
		Reason string `json:"reason"`
	} `json:"disabled"`
}

type created struct {
	Webhook shown  `json:"webhook"`
	Secret  string `json:"secret"`
}

func ask(t *testing.T, h http.Handler, id string) func(who, method, below, body string) *httptest.ResponseRecorder {
	t.Helper()
	return func(who, method, below, body string) *httptest.ResponseRecorder {
		t.Helper()
		return membertest.Exchange{Method: method, Path: listPath + "/" + id + below, As: who, Body: body}.Send(t,
			oneRoute+below, h)
	}
}

func made(t *testing.T, s *managed.Stack, tenant org.Tenant) webhook.Subscription {
	t.Helper()
	sub, _, err := s.Operator.Webhooks.Create(t.Context(), webhook.Draft{
		Tenant: tenant, URL: address, Optional: webhook.Default(), Headers: map[string]string{"X-Own": "hush"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestWebhookCanBeCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	body := `{"url":"` + address +
		`","types":["patient.connection_success"],"headers":{"authorization":"hush"},` +
		`"rate":7,"note":"main","signing_key":true}`
	first := data[created](t, membertest.Exchange{
		Method: "POST", Path: listPath, As: membertest.Developer,
		Body: body,
	}.Send(t, listRoute, h))
	w := first.Webhook
	if w.Rate != 7 || w.Note != "main" || w.PublicKey == "" || !slices.Equal(w.Headers, []string{"Authorization"}) ||
		!slices.Contains(w.Types, "patient.ehi_export_success") {
		t.Errorf("made %+v", w)
	}
	send := ask(t, h, w.ID)
	changed := data[shown](t, send(membertest.Developer, "PATCH", "", `{"rate":9,"headers":{},"note":"","types":[]}`))
	if changed.Rate != 9 || len(changed.Headers) != 0 || changed.Note != "" ||
		slices.Contains(changed.Types, "patient.connection_success") || changed.PublicKey != w.PublicKey {
		t.Errorf("changed to %+v", changed)
	}
	if moved := data[shown](t, send(membertest.Developer, "PATCH", "",
		`{"url":"https://other.example/"}`)); moved.URL != "https://other.example/" || moved.Rate != 9 {
		t.Errorf("moved to %+v", moved)
	}
	if signed := data[shown](t, send(membertest.Developer, "POST", "/signing-key", "")); signed.PublicKey == w.PublicKey ||
		signed.PublicKey == "" {
		t.Errorf("signed anew with %q", signed.PublicKey)
	}
	if unsigned := data[shown](t, send(membertest.Developer, "DELETE", "/signing-key", "")); unsigned.PublicKey != "" {
		t.Errorf("still signed with %q", unsigned.PublicKey)
	}
	second := data[created](t, send(membertest.Developer, "POST", "/secret/rotate", `{}`))
	type secrets struct {
		Secrets []struct{ Secret, ExpiresAt string }
	}
	if got := data[secrets](t, send(membertest.Developer, "POST", "/secret/reveal", "")); len(got.Secrets) != 2 ||
		got.Secrets[0].Secret != second.Secret || got.Secrets[1].Secret != first.Secret {
		t.Errorf("revealed %d secrets, want the new one and the old", len(got.Secrets))
	}
	told := data[struct {
		EventID    string `json:"event_id"`
		DeliveryID string `json:"delivery_id"`
	}](t, send(membertest.Developer, "POST", "/simulate", `{"type":"webhook.test"}`))
	tenant := managed.Tenant(membertest.OrgA, org.Test)
	if d, err := s.Operator.Log.Show(t.Context(), tenant, told.DeliveryID); err != nil || d.EventID != told.EventID ||
		d.SubscriptionID != w.ID {
		t.Errorf("the simulated delivery is %+v: %v", d, err)
	}
	if got := send(membertest.Developer, "DELETE", "", ""); got.Code != http.StatusConflict {
		t.Errorf("one that works was removed: %d", got.Code)
	}
	if off := data[shown](t, send(membertest.Developer, "POST", "/disable", "")); off.Disabled == nil ||
		off.Disabled.Reason != "by_hand" {
		t.Errorf("disabled: %+v", off.Disabled)
	}
	if on := data[struct {
		Webhook     shown
		MissedSince string `json:"missed_since"`
	}](t, send(membertest.Developer, "POST", "/enable", `{"replay_missed":true}`)); on.Webhook.Disabled != nil ||
		on.MissedSince == "" {
		t.Errorf("enabled: %+v", on)
	}
	if got := send(membertest.Developer, "POST", "/replay",
		`{"from":"2026-03-01T00:00:00Z","to":"2026-03-05T00:00:00Z"}`); got.Code != http.StatusOK {
		t.Errorf("replay: %d %s", got.Code, got.Body)
	}
	for _, got := range []*httptest.ResponseRecorder{
		send(membertest.Developer, "POST", "/disable", ""),
		send(membertest.Developer, "DELETE", "", ""),
	} {
		if got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	by := account.Actor(membertest.AccountOf(membertest.Developer))
	for _, row := range s.Audited(t, membertest.OrgA) {
		if !strings.HasPrefix(row, by+" webhook.") {
			t.Errorf("audited %q", row)
		}
	}
	if got := len(s.Audited(t, membertest.OrgA)); got != 14 {
		t.Errorf("%d changes were audited, want 14: %q", got, s.Audited(t, membertest.OrgA))
	}
}

func TestRevealSecretRequiresRecentProof(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	sub := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	membertest.Exchange{
		Method: "POST", Path: listPath + "/" + sub.ID + "/secret/reveal", As: membertest.Stale, Status: 403,
		Want: membertest.ProofRequired,
	}.Check(t, oneRoute+"/secret/reveal", handler(s))
	if got := s.Audited(t, membertest.OrgA); len(got) != 1 {
		t.Errorf("audited %q, want the making alone", got)
	}
}

func TestWebhookResponsesHideSecretsAndHeaderValues(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	sub := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	for route, path := range map[string]string{listRoute: listPath, oneRoute: listPath + "/" + sub.ID} {
		got := membertest.Exchange{Path: path, As: membertest.Owner}.Send(t, route, handler(s)).Body.String()
		if !strings.Contains(got, sub.ID) || strings.Contains(got, "whsec_") || strings.Contains(got, "hush") {
			t.Errorf("%s answers %s", route, got)
		}
	}
}

func TestCreateWebhookRejectsInvalidSettings(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	send := ask(t, h, made(t, s, managed.Tenant(membertest.OrgA, org.Test)).ID)
	for _, body := range []string{
		`{"url":"http://hooks.example/"}`, `{"url":"https://10.0.0.1/"}`, `{"url":""}`, `{"rate":1001}`, `{"rate":-1}`,
		`{"types":["unknown"]}`, `{"note":"a\tb"}`,
		`{"headers":{"Host":"x"}}`, `{"headers":{"webhook-id":"x"}}`, `{"headers":{"x":"a\nb"}}`,
	} {
		if got := send(membertest.Owner, "PATCH", "", body); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
	for _, body := range []string{
		`{}`, `{"since":"yesterday"}`, `{"since":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z"}`,
		`{"from":"2026-03-02T00:00:00Z","to":"2026-03-01T00:00:00Z"}`,
		`{"to":"2026-03-01T00:00:00Z"}`,
		`{"from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z","preview":true}`,
	} {
		if got := send(membertest.Owner, "POST", "/replay", body); got.Code != http.StatusBadRequest {
			t.Errorf("replay %s: %d %s", body, got.Code, got.Body)
		}
	}
}

func requests() []struct {
	method, below, body string
	needed              account.Permission
} {
	return []struct {
		method, below, body string
		needed              account.Permission
	}{
		{"GET", "", "", account.View},
		{"PATCH", "", `{"note":"x"}`, account.Develop},
		{"DELETE", "", "", account.Develop},
		{"POST", "/signing-key", "", account.Develop},
		{"DELETE", "/signing-key", "", account.Develop},
		{"POST", "/secret/reveal", "", account.Develop},
		{"POST", "/secret/rotate", `{}`, account.Develop},
		{"POST", "/disable", "", account.Develop},
		{"POST", "/enable", `{}`, account.Develop},
		{"POST", "/simulate", `{"type":"webhook.test"}`, account.Develop},
		{"POST", "/replay", `{"since":"2026-03-01T00:00:00Z"}`, account.Develop},
	}
}

func TestWebhooksAreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	const missing = `"error_description":"Webhook not found."`
	for name, tenant := range map[string]org.Tenant{
		"another organisation": managed.Tenant(membertest.OrgB, org.Test),
		"the other mode":       managed.Tenant(membertest.OrgA, org.Live),
	} {
		send := ask(t, handler(s), made(t, s, tenant).ID)
		for _, e := range requests() {
			if got := send(membertest.Owner, e.method, e.below, e.body); got.Code != http.StatusNotFound ||
				!strings.Contains(got.Body.String(), missing) {
				t.Errorf("%s: %s %s: %d %s", name, e.method, e.below, got.Code, got.Body)
			}
		}
	}
}

func TestWebhooksRequirePermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	id := made(t, s, managed.Tenant(membertest.OrgA, org.Test)).ID
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range requests() {
		t.Run(e.method+e.below, func(t *testing.T) {
			t.Parallel()
			asked := membertest.Exchange{
				Method: e.method, Path: listPath + "/" + id + e.below, As: membertest.Owner,
				Body: e.body,
			}
			membertest.CheckMember(t, oneRoute+e.below, asked, e.needed, newHandler)
		})
	}
	for method, needed := range map[string]account.Permission{"GET": account.View, "POST": account.Develop} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			body := map[string]string{"POST": `{"url":"https://10.0.0.1/"}`}[method]
			membertest.CheckMember(t, listRoute, membertest.Exchange{
				Method: method, Path: listPath, As: membertest.Owner,
				Body: body,
			}, needed, newHandler)
		})
	}
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		asked := membertest.Exchange{Path: strings.Replace(listPath, "webhooks", "webhook-types", 1), As: membertest.Owner}
		membertest.CheckMember(t, "/dashboard/organisations/{orgId}/{mode}/webhook-types", asked, account.View, newHandler)
	})
}
