package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// console is the test-mode dashboard of an organisation's owner.
type console struct {
	people

	own   string
	owner who
}

// do sends a request to a path below the organisation's test mode and decodes the response.
func (c *console) do(method, path string, body any) map[string]any {
	c.t.Helper()
	return c.at(method, "/dashboard/organisations/"+c.own+"/test"+path, body)
}

func (c *console) at(method, path string, body any) map[string]any {
	c.t.Helper()
	got := c.send(method, path, c.header(), body)
	if got.status != http.StatusOK {
		c.t.Errorf("%s %s: %d %s", method, path, got.status, got.raw)
	}
	data := map[string]any{}
	if len(got.Data) > 0 {
		expect.NoError(c.t, json.Unmarshal(got.Data, &data))
	}
	return data
}

func (c *console) want(method, path string, body any, status int, code string) {
	c.t.Helper()
	got := c.send(method, "/dashboard/organisations/"+c.own+"/test"+path, c.header(), body)
	if got.status != status || got.Error != code {
		c.t.Errorf("%s %s: %d %s, want %d %s", method, path, got.status, got.raw, status, code)
	}
}

// edit changes an object with If-Match, and checks that a second edit of the same version conflicts.
func (c *console) edit(path string, body any) {
	c.t.Helper()
	header := c.header()
	header.Set("If-Match", `"`+text(c.do(http.MethodGet, path, nil), "version")+`"`)
	for _, status := range []int{http.StatusOK, http.StatusConflict} {
		got := c.send(http.MethodPatch, "/dashboard/organisations/"+c.own+"/test"+path, header, body)
		if got.status != status {
			c.t.Errorf("edit of %s with If-Match: %d %s, want %d", path, got.status, got.raw, status)
		}
	}
}

func (c *console) header() http.Header {
	return http.Header{
		"Sec-Fetch-Site": {"same-origin"}, "X-Csrf-Token": {account.CSRFToken(c.owner.token)}, "Cookie": {cookieOf(c.owner)},
	}
}

func newConsole(s *stack) *console {
	s.t.Helper()
	p := newPeopleOf(s)
	c := &console{people: p, own: p.ownerOf(s.t.Context(), s.seeded.Organisations[0].PublicID)}
	c.signInAgain()
	return c
}

// signInAgain starts a new session, because the previous one or its proof of identity may have expired.
func (c *console) signInAgain() {
	c.t.Helper()
	c.owner = c.signedIn(c.own, account.Owner, false)
}

// text returns the string at the given path of keys.
func text(data map[string]any, names ...string) string {
	for _, name := range names[:len(names)-1] {
		data, _ = data[name].(map[string]any)
	}
	value, _ := data[names[len(names)-1]].(string)
	return value
}

// runDashboard performs each dashboard action on credentials, webhooks, deliveries, connections, exports and the
// organisation once.
func runDashboard(s *stack) {
	s.t.Helper()
	c := newConsole(s)
	c.useLogs()
	c.useCredentials()
	c.useWebhooks()
	c.useConnections()
	c.useInbox()
	for _, list := range []string{"/credentials", "/webhooks", "/deliveries", "/connections", "/exports"} {
		<-time.After(6 * time.Minute) // a session's last use is stored at most every five minutes
		c.do(http.MethodGet, list, nil)
	}
	<-time.After(6 * time.Minute)
	org := "/dashboard/organisations/" + c.own
	c.at(http.MethodGet, org, nil)
	c.at(http.MethodPatch, org, map[string]any{"accent": "#1a5fb4"})
	c.do(http.MethodGet, "/overview", nil)
	c.do(http.MethodGet, "/usage", nil)
	c.at(http.MethodGet, org+"/audit", nil)
	c.at(http.MethodGet, org+"/live-access", nil)
	if file := text(c.at(http.MethodGet, org+"/audit/export", nil), "ndjson"); !strings.Contains(file,
		account.Actor(c.owner.account)) {
		s.t.Errorf("the audit log does not tell who has done it: %s", file)
	}
	// the first organisation has already claimed the founder's email domain
	for _, name := range []string{"Cedar Practice", "Dogwood Practice"} {
		c.at(http.MethodPost, "/dashboard/organisations", map[string]any{"name": name})
	}
}

// verifyAddress makes email the only recipient of the organisation's notices and verifies it.
func (c *console) verifyAddress(email string) {
	c.t.Helper()
	<-time.After(time.Minute) // a code may have been sent to the email address less than a minute ago
	org := "/dashboard/organisations/" + c.own
	if got := c.at(http.MethodPatch, org,
		map[string]any{"emails": []string{email}}); fmt.Sprint(got["verified_emails"]) != "[]" {
		c.t.Errorf("without a code %v are verified", got["verified_emails"])
	}
	sent := c.at(http.MethodPost, org+"/emails", map[string]any{"email": email})
	proof := map[string]any{
		"email":           email,
		"verification_id": text(sent, "verification_id"),
		"code":            c.staff.mailedCode(email),
	}
	if got := c.at(http.MethodPut, org+"/emails", proof); fmt.Sprint(got["verified_emails"]) != "["+email+"]" {
		c.t.Errorf("with its code %v are verified", got["verified_emails"])
	}
}

func (c *console) useCredentials() {
	c.t.Helper()
	made := c.do(http.MethodPost, "/credentials", map[string]any{"redirect_uris": []string{"https://app.example/return"}})
	path := "/credentials/" + text(made, "credential", "public_id")
	c.edit(path, map[string]any{"note": "web"})
	second := c.do(http.MethodPost, path+"/keys", nil)
	if got := c.call(http.MethodGet, "/bridge/events", text(made, "credential", "public_id"), text(second, "private_key"),
		nil); got.status != http.StatusOK {
		c.t.Errorf("the second key is not taken: %d", got.status)
	}
	c.queues.pump()
	synctest.Wait() // the key's last use is recorded in the background
	keys, _ := c.do(http.MethodGet, path, nil)["keys"].([]any)
	isUsed := func(key any) bool { known, _ := key.(map[string]any); return known["last_used_at"] != nil }
	if !slices.ContainsFunc(keys, isUsed) {
		c.t.Errorf("that the second key was used shows nowhere: %v", keys)
	}
	for _, id := range []string{text(made, "key_id"), text(second, "key_id")} {
		c.do(http.MethodDelete, path+"/keys/"+id, nil)
	}
	c.do(http.MethodGet, "/credentials", nil)
	c.do(http.MethodDelete, path, nil)
}

func (c *console) useWebhooks() {
	c.t.Helper()
	made := c.do(http.MethodPost, "/webhooks", map[string]any{"url": customer + "/_local/inbox/dashboard"})
	path := "/webhooks/" + text(made, "webhook", "webhook_id")
	c.edit(path, map[string]any{"headers": map[string]string{"X-Own": "1"}})
	c.do(http.MethodPatch, path, map[string]any{"url": customer + "/_local/inbox/moved"})
	c.do(http.MethodPost, path+"/secret/rotate", map[string]any{})
	c.do(http.MethodPost, path+"/secret/reveal", nil)
	c.do(http.MethodPost, path+"/signing-key", nil)
	c.do(http.MethodDelete, path+"/signing-key", nil)
	c.intercept = func(r *http.Request) *http.Response { // only responses with a body are stored
		if !strings.HasSuffix(r.URL.Path, "/_local/inbox/moved") {
			return nil
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader("noted")), Request: r,
		}
	}
	told := c.do(http.MethodPost, path+"/simulate", map[string]any{"type": "webhook.test"})
	c.clock.advance(1)
	delivery := "/deliveries/" + text(told, "delivery_id")
	if got := c.do(http.MethodGet, delivery, nil); text(got, "status") != "delivered" ||
		!strings.Contains(fmt.Sprint(got), "noted") {
		c.t.Errorf("the simulated delivery is %v", got)
	}
	for filter, want := range map[string]int{
		"type=webhook.test": 1, "webhook_id=" + text(made, "webhook", "webhook_id"): 1, "subject=" + c.own: 0,
	} {
		if found, _ := c.do(http.MethodGet, "/deliveries?"+filter, nil)["deliveries"].([]any); len(found) != want {
			c.t.Errorf("%s finds %v, want %d", filter, found, want)
		}
	}
	c.do(http.MethodPost, delivery+"/replay", nil)
	c.clock.advance(1)
	c.do(http.MethodPost, path+"/disable", nil)
	// the webhook is disabled, so the test event is stored but not sent
	_, err := c.operator.Deliveries.SendTest(c.t.Context(), org.Tenant{Mode: org.Test, OrgID: c.own})
	expect.NoError(c.t, err)
	c.clock.advance(1)
	if on := c.do(http.MethodPost, path+"/enable", map[string]any{"replay_missed": true}); on["replayed"] != 1.0 {
		c.t.Errorf("enabled: %v, want one replayed", on)
	}
	c.clock.advance(1)
	c.do(http.MethodPost, path+"/replay", map[string]any{"since": time.Now().Add(-time.Hour)})
	c.do(http.MethodPost, path+"/disable", nil)
	c.do(http.MethodDelete, path, nil)
}

func (c *console) useConnections() {
	c.t.Helper()
	id := c.patient.connect(crashPersona, "approve").Get("org_connection_id")
	done := c.org.startExport(id)
	c.clock.advance(1)
	c.do(http.MethodGet, "/connections", nil)
	c.do(http.MethodGet, "/connections?external_id=patient-7", nil)
	for _, filter := range []string{"status=authorized", "cause=declined", "brand_id=b", "portal_id=p"} {
		c.do(http.MethodGet, "/connections?"+filter, nil)
	}
	shown := c.do(http.MethodGet, "/connections/"+id, nil)
	c.do(http.MethodGet, "/connections?endpoint_id="+text(shown, "endpoint_id"), nil)
	c.do(http.MethodGet, "/exports", nil)
	c.do(http.MethodGet, "/exports?connection_id="+id, nil)
	if got := c.do(http.MethodGet, "/exports/"+done, nil); text(got, "status") != "success" ||
		len(got["deliveries"].([]any)) == 0 {
		c.t.Errorf("the export is %v", got)
	}
	again := c.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true})
	if again.status != http.StatusOK {
		c.t.Errorf("a new export answered %d", again.status)
	}
	if got := c.do(http.MethodPost, "/connections/"+id+"/disconnect", nil); text(got, "status") != "revoked" ||
		text(got, "cause") != "disconnected" {
		c.t.Errorf("the connection is %v", got)
	}
	c.clock.advance(1)
	c.do(http.MethodPost, "/connections/"+id+"/erase", nil)
	if got := c.do(http.MethodGet, "/connections/"+id+"/erasure", nil); text(got, "stage") == "" {
		c.t.Errorf("the erasure is %v", got)
	}
}
