package dashboardwebhooks_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func TestChangeWebhookRejectsOutdatedVersion(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"rate":    `{"rate":%d}`,
		"URL":     `{"url":"https://hooks.example/%d"}`,
		"headers": `{"headers":{"X-Own":"secret-%d"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := managed.New(t)
			sub := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
			saved := membertest.CheckVersions(t, "webhook", oneRoute, listPath+"/"+sub.ID, handler(s), func(n int) string {
				return fmt.Sprintf(body, n)
			})
			if got := s.Audited(t, membertest.OrgA); len(got) != 1+saved {
				t.Errorf("%d edits were saved, but audited %q", saved, got)
			}
		})
	}
}

func TestWebhookVersionIgnoresDeliveriesAndSecrets(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	tenant := managed.Tenant(membertest.OrgA, org.Test)
	sub := made(t, s, tenant)
	h := handler(s)
	send := ask(t, h, sub.ID)
	tag := func() string { return send(membertest.Developer, "GET", "", "").Header().Get("ETag") }
	loaded := tag()
	hooks := store.Hooks(s.Control())
	if _, err := hooks.CountFailure(t.Context(), tenant, sub.ID, keyedtest.Moment()); err != nil {
		t.Fatal(err)
	}
	if shown := data[struct{ Health struct{ Failures int } }](t,
		send(membertest.Developer, "GET", "", "")); shown.Health.Failures != 1 || tag() != loaded {
		t.Errorf("after %d failures, the ETag is %s, want %s", shown.Health.Failures, tag(), loaded)
	}
	if err := hooks.DisableSubscription(t.Context(), tenant, sub.ID, webhook.ReasonFailing,
		keyedtest.Moment()); err != nil || tag() != loaded {
		t.Errorf("after the webhook was disabled (%v), the ETag is %s, want %s", err, tag(), loaded)
	}
	for _, w := range []*httptest.ResponseRecorder{
		send(membertest.Developer, "POST", "/enable", `{}`),
		send(membertest.Developer, "POST", "/secret/rotate", `{}`),
		send(membertest.Developer, "POST", "/signing-key", ""),
		membertest.Exchange{
			Method: "PATCH", Path: listPath + "/" + sub.ID, As: membertest.Developer, IfMatch: loaded, Body: `{"rate":9}`,
		}.Send(t, oneRoute, h),
	} {
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

func TestWebhookVersionChangesOnlyWithHeaderValues(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	send := ask(t, handler(s), made(t, s, managed.Tenant(membertest.OrgA, org.Test)).ID)
	tag := func(value string) string {
		return send(membertest.Developer, "PATCH", "", `{"headers":{"X-Own":"`+value+`"}}`).Header().Get("ETag")
	}
	if first, same, other := tag("a"), tag("a"), tag("b"); first == "" || first != same || first == other {
		t.Errorf("the ETags are %s, %s with the same value and %s with another one", first, same, other)
	}
}
