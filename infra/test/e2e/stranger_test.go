package e2e_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// stranger is another organisation with its own redirect URI and webhook.
type stranger struct {
	*outside

	publicID, key, redirect string
	inboxes                 []string // inboxes that receive events about this organisation's connections
}

func (o *outside) newStranger() stranger {
	o.t.Helper()
	other := o.seeded.Organisations[2]
	tenant := org.Tenant{Mode: org.Test, OrgID: other.ID}
	of := stranger{
		outside: o, redirect: other.RedirectURI + "/stranger",
		inboxes: []string{other.WebhookURL, o.seeded.InboxURL + "/stranger"},
	}
	made, key, err := o.operator.Credentials.Create(o.t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{of.redirect}})
	expect.NoError(o.t, err)
	of.publicID, of.key = made.PublicID(), key.Reveal()
	_, _, err = o.operator.Webhooks.Create(o.t.Context(),
		webhook.Draft{Tenant: tenant, URL: of.inboxes[1], Optional: []webhook.Type{
			webhook.ConnectionSucceeded, webhook.ConnectionFailed, webhook.AuthorizationEnded, webhook.AuthorizationEnding,
		}})
	expect.NoError(o.t, err)
	return of
}

func (o stranger) connectURL() string {
	return o.seeded.BaseURL + "/bridge/connect?" + url.Values{
		"public_id": {o.publicID}, "endpoint_id": {o.seeded.Sandbox.EndpointID}, "redirect_uri": {o.redirect},
		"external_state": {"theirs"},
	}.Encode()
}

func (o stranger) reconnectURL(id string) string {
	return o.seeded.BaseURL + "/bridge/reconnect?" + url.Values{
		"public_id": {o.publicID}, "redirect_uri": {o.redirect}, "reconnect_org_connection_id": {id},
		"external_state": {"theirs"},
	}.Encode()
}

func (o stranger) receivedByPath() map[string][]string {
	heard := map[string][]string{}
	for _, d := range o.received() {
		if slices.ContainsFunc(o.inboxes, func(address string) bool { return isAt(d, address) }) {
			heard[d.Path] = append(heard[d.Path], d.Body)
		}
	}
	return heard
}

// checkReceivedOnly checks that each of the organisation's webhooks received exactly one event, about the connection
// with the given ID. An empty id means that no webhook may have received an event.
func (o stranger) checkReceivedOnly(t *testing.T, id string) {
	t.Helper()
	if id != "" {
		o.await("responses to the stranger", func() bool { return len(o.receivedByPath()) == len(o.inboxes) })
	}
	for _, bodies := range o.receivedByPath() {
		if id == "" || len(bodies) > 1 || !strings.Contains(bodies[0], id) {
			t.Errorf("the stranger was told %s", bodies)
		}
	}
}
