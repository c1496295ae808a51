package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// outside is a stack to which tests have access only through the API, the portal, a webhook receiver and the operator's
// commands.
type outside struct {
	patient  browsing
	vault    verifying
	org      organisation
	webhooks webhooks

	t         testing.TB
	do        func(*http.Request) (*http.Response, error)
	received  func() []inbox.Delivery
	tick      func() // waits for one tick (see await)
	mostTicks int    // maximum number of ticks to wait for a condition
	operator  *wiring.Operator
	seeded    runfile.Run
	secrets   map[string]string // secrets of the webhooks that a test created, by inbox path
}

// fromOutside runs a journey that uses only the stack's public interfaces. The journey runs on a separate stack if the
// environment names one (elsewhere_test.go), and otherwise on a new in-process stack with virtual time. A test's name
// ends in FromOutside if and only if the test calls fromOutside.
func fromOutside(t *testing.T, journey func(t *testing.T, o *outside)) {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); !strings.HasSuffix(name, nameEnd) {
		t.Fatalf("%s is not found by make e2e: its name has to end in %s", name, nameEnd)
	}
	if usesRunningStack() {
		journey(t, newTenantOnRunningStack(t))
		return
	}
	synctest.Test(t, func(t *testing.T) { journey(t, newStack(t, options{}).outside) })
}

// await calls tick until isSo returns true. A tick is a minute of virtual time, or a short interval of real time.
func (o *outside) await(what string, isSo func() bool) {
	o.t.Helper()
	for range o.mostTicks {
		if isSo() {
			return
		}
		o.tick()
	}
	o.t.Fatalf("waited in vain for %s", what)
}

func (o webhooks) awaitEvents(eventType string, many int) {
	o.t.Helper()
	o.await(eventType, func() bool { return len(o.webhooks.events(eventType)) >= many })
}

// owner returns the test-mode tenant of the first organisation.
func (o *outside) owner() org.Tenant {
	return org.Tenant{Mode: org.Test, OrgID: o.seeded.Organisations[0].ID}
}

// subscribe adds a second webhook to the first organisation for the given extension event types.
func (o organisation) subscribe(types ...webhook.Type) {
	o.t.Helper()
	tenant := o.owner()
	address := o.seeded.InboxURL + "/" + ids.Random()
	_, signing, err := o.operator.Webhooks.Create(o.t.Context(),
		webhook.Draft{Tenant: tenant, URL: address, Optional: types})
	expect.NoError(o.t, err)
	o.secrets[address] = signing.Reveal()
}

// isAt reports whether a delivery was sent to a webhook's URL.
func isAt(d inbox.Delivery, address string) bool {
	return d.Path != "" && strings.HasSuffix(address, d.Path)
}

// secretOf returns the secret of the webhook that received a delivery, or "" if the webhook belongs to another
// organisation.
func (o webhooks) secretOf(d inbox.Delivery) string {
	own := o.seeded.Organisations[0]
	if isAt(d, own.WebhookURL) {
		return own.WebhookSecret
	}
	for address, secret := range o.secrets {
		if isAt(d, address) {
			return secret
		}
	}
	return ""
}
