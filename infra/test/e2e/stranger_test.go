package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// stranger is another organisation, with a redirect URI and a webhook of its own.
type stranger struct {
	*stack

	publicID, key, redirect, inbox string
}

func (s *stack) newStranger() stranger {
	s.t.Helper()
	shown := s.call(http.MethodGet, "/bridge/org?public_id="+s.seeded.Organisations[2].PublicID, "", "", nil)
	var other struct {
		ID string `json:"id"`
	}
	must(s.t, json.Unmarshal(shown.Data, &other))
	if other.ID == "" || other.ID == s.orgID {
		s.t.Fatalf("the other organisation is %q", other.ID)
	}
	tenant := org.Tenant{Mode: org.Test, OrgID: other.ID}
	of := stranger{stack: s, redirect: host + "/_local/return/stranger", inbox: "/_local/inbox/stranger"}
	made, key, err := s.operator.Credentials.Create(s.t.Context(), tenant, []string{of.redirect}, nil)
	must(s.t, err)
	of.publicID, of.key = made.PublicID(), key.Reveal()
	_, _, err = s.operator.Webhooks.Create(s.t.Context(), webhook.Draft{Tenant: tenant, URL: host + of.inbox, Optional: []webhook.Type{
		webhook.ConnectionSucceeded, webhook.ConnectionFailed, webhook.AuthorizationEnded, webhook.AuthorizationEnding,
	}})
	must(s.t, err)
	return of
}

func (o stranger) connectURL() string {
	return baseURL + "/bridge/connect?" + url.Values{
		"public_id": {o.publicID}, "endpoint_id": {o.seeded.Sandbox.EndpointID}, "redirect_uri": {o.redirect}, "external_state": {"theirs"},
	}.Encode()
}

func (o stranger) reconnectURL(id string) string {
	return baseURL + "/bridge/reconnect?" + url.Values{
		"public_id": {o.publicID}, "redirect_uri": {o.redirect}, "reconnect_org_connection_id": {id}, "external_state": {"theirs"},
	}.Encode()
}

// checkHeardOnly: each of the stranger's webhooks was told of one connection, once; of none when id is empty.
func (o stranger) checkHeardOnly(t *testing.T, id string) {
	t.Helper()
	heard := map[string]int{}
	for _, d := range o.stack.inbox.List() {
		if d.Path != o.inbox && d.Path != "/_local/inbox/birch" {
			continue
		}
		heard[d.Path]++
		if id == "" || !strings.Contains(d.Body, id) || heard[d.Path] > 1 {
			t.Errorf("the stranger was told %s", d.Body)
		}
	}
	if id != "" && len(heard) != 2 {
		t.Errorf("the stranger's webhooks heard %v", heard)
	}
}
