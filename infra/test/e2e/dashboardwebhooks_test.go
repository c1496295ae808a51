package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// receiver simulates a webhook receiver at one of the inbox's paths. mu guards the fields because deliveries are
// concurrent.
type receiver struct {
	mu     sync.Mutex
	takes  time.Duration // response time
	status int
	got    int // number of requests received
}

func (r *receiver) at(s *stack, path string) {
	s.intercept = func(in *http.Request) *http.Response {
		if !strings.HasSuffix(in.URL.Path, path) {
			return nil
		}
		takes, status := r.next()
		<-time.After(takes) // virtual time, because the test runs inside testing/synctest
		return &http.Response{
			StatusCode: status, Header: http.Header{"X-Trace": {"hazel-7"}, "Webhook-Delivery": {"abort-message"}},
			Body: io.NopCloser(strings.NewReader("no database")), Request: in,
		}
	}
}

// next counts a request and returns the duration and status of its response.
func (r *receiver) next() (takes time.Duration, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got++
	return r.takes, r.status
}

// recover makes the receiver respond with 200 without delay.
func (r *receiver) recover() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.takes, r.status = 0, http.StatusOK
}

func (r *receiver) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// failing creates a webhook with a signing key and makes eleven deliveries to it fail because the receiver is slow. It
// returns the paths of the webhook and its deliveries.
func (c *console) failing(r *receiver) (hook string, deliveries []string) {
	c.t.Helper()
	const address = "/_local/inbox/hazel"
	r.at(c.stack, address)
	made := c.do(http.MethodPost, "/webhooks",
		map[string]any{"url": customer + address, "signing_key": true, "note": "Hazel"})
	hook = "/webhooks/" + text(made, "webhook", "webhook_id")
	for range 11 {
		told := c.do(http.MethodPost, hook+"/simulate", map[string]any{"type": "webhook.test"})
		deliveries = append(deliveries, "/deliveries/"+text(told, "delivery_id"))
		for range 5 { // the next delivery to a slow endpoint waits several seconds for a slot
			c.queues.pump()
			<-time.After(2 * time.Second)
		}
	}
	return hook, deliveries
}

// TestDashboardDiagnosesAndRepairsBrokenReceiver checks that members can find a failing webhook from the overview, with
// its deliveries and the receiver's responses. Members must be able to disable and change the webhook, and to replay
// missed deliveries.
func TestDashboardDiagnosesAndRepairsBrokenReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		r := &receiver{takes: 2 * time.Second, status: http.StatusServiceUnavailable}
		hook, deliveries := c.failing(r)
		seen := c.checkItFails(t, hook, deliveries)
		delivery := deliveries[0]
		c.want(http.MethodPost, delivery+"/replay", nil, http.StatusOK, "")
		c.queues.pump()
		since := map[string]any{"since": time.Now().Add(-time.Hour), "preview": true}
		if got := c.do(http.MethodPost, hook+"/replay", since)["replayed"]; got == 0.0 {
			t.Errorf("the preview counts %v deliveries, want more", got)
		}
		c.want(http.MethodDelete, hook, nil, http.StatusConflict, "svc_conflict")
		c.do(http.MethodPost, hook+"/disable", nil)
		for path, body := range map[string]any{
			"/disable": nil, "/simulate": map[string]any{"type": "webhook.test"},
			"/replay": since,
		} {
			c.want(http.MethodPost, hook+path, body, http.StatusConflict, "svc_conflict")
		}
		c.want(http.MethodPost, delivery+"/replay", nil, http.StatusConflict, "svc_conflict")
		c.changeDisabled(t, hook, text(seen, "public_key"))
		r.recover()
		on := c.do(http.MethodPost, hook+"/enable", map[string]any{"replay_missed": true})
		if webhook, _ := on["webhook"].(map[string]any); on["replayed"] == 0.0 || webhook["disabled"] != nil ||
			webhook["public_key"] == nil {
			t.Errorf("enabled: %v", on)
		}
		c.want(http.MethodPost, hook+"/enable", map[string]any{}, http.StatusConflict, "svc_conflict")
		c.clock.advance(2)
		if got := c.do(http.MethodGet, delivery, nil); text(got, "status") != "delivered" {
			t.Errorf("after that the delivery is %v", got)
		}
		before := r.requests()
		again := c.do(http.MethodPost, hook+"/replay",
			map[string]any{"from": time.Now().Add(-time.Hour), "to": time.Now().Add(time.Second)})
		c.clock.advance(2)
		if got := r.requests() - before; again["replayed"] != 11.0 || got != 11 {
			t.Errorf("replayed %v, %d requests arrived, want 11", again, got)
		}
		if failing, _ := c.do(http.MethodGet, "/overview", nil)["failing_webhooks"].([]any); len(failing) != 0 {
			t.Errorf("it still fails: %v", failing)
		}
	})
}

// checkItFails navigates in the dashboard from the overview through a failing webhook to a single attempt, and returns
// the data shown.
func (c *console) checkItFails(t *testing.T, hook string, deliveries []string) map[string]any {
	t.Helper()
	failing, _ := c.do(http.MethodGet, "/overview", nil)["failing_webhooks"].([]any)
	if len(failing) != 1 || "/webhooks/"+text(failing[0].(map[string]any), "webhook_id") != hook {
		t.Errorf("the overview tells of %v, want %s", failing, hook)
	}
	c.do(http.MethodGet, "/webhooks", nil)
	seen := c.do(http.MethodGet, hook, nil)
	health, _ := seen["health"].(map[string]any)
	if health["failures"] != 10.0 || health["answer_ms"] != 2000.0 || text(health, "paused_until") == "" ||
		text(health, "failing_since") == "" {
		t.Errorf("it fares as %v", health)
	}
	waiting, _ := c.do(http.MethodGet, "/deliveries?status=scheduled", nil)["deliveries"].([]any)
	if len(waiting) != 1 || text(waiting[0].(map[string]any), "next_at") == "" {
		t.Errorf("%v wait, want the eleventh", waiting)
	}
	ended, _ := c.do(http.MethodGet, "/deliveries?status=exhausted", nil)["deliveries"].([]any)
	if last := ended[0].(map[string]any); last["last_status"] != 503.0 || text(last, "last_failure") != "http_status" {
		t.Errorf("the list shows %v, want the last response", last)
	}
	c.do(http.MethodGet, deliveries[10], nil)
	shown := c.do(http.MethodGet, deliveries[0], nil)
	attempts, _ := shown["attempts"].([]any)
	if text(shown, "status") != "exhausted" || len(attempts) != 1 {
		t.Fatalf("the delivery is %v", shown)
	}
	said, _ := attempts[0].(map[string]any)
	if said["status"] != 503.0 || text(said, "failure") != "http_status" ||
		text(said, "response_headers", "X-Trace") != "hazel-7" || text(said, "response") != "no database" {
		t.Errorf("the receiver has said %v", said)
	}
	return seen
}

func (c *console) changeDisabled(t *testing.T, hook, publicKey string) {
	t.Helper()
	c.do(http.MethodGet, "/webhooks", nil)
	c.do(http.MethodPatch, hook, map[string]any{"note": "Hazel, mended"})
	c.do(http.MethodPost, hook+"/secret/rotate", map[string]any{"at_once": true})
	if without := c.do(http.MethodDelete, hook+"/signing-key", nil); text(without, "public_key") != "" {
		t.Errorf("the key is still there: %v", without)
	}
	for range 2 { // the second key replaces the first
		signing := c.do(http.MethodPost, hook+"/signing-key", nil)
		if text(signing, "public_key") == "" || text(signing, "public_key") == publicKey {
			t.Errorf("the key is %q, before it was %q", text(signing, "public_key"), publicKey)
		}
		publicKey = text(signing, "public_key")
	}
	if now := c.do(http.MethodGet, hook, nil); text(now, "note") != "Hazel, mended" ||
		text(now, "disabled", "reason") != "by_hand" {
		t.Errorf("it is %v", now)
	}
}

// TestWebhookFailuresAreResetWhenURLChanges checks that failed deliveries to a webhook's old URL do not count against
// its new URL.
func TestWebhookFailuresAreResetWhenURLChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		hook, _ := c.failing(&receiver{status: http.StatusServiceUnavailable})
		for _, shown := range []map[string]any{
			c.do(http.MethodPatch, hook, map[string]any{"url": customer + "/_local/inbox/elder"}),
			c.do(http.MethodGet, hook, nil),
		} {
			if health, _ := shown["health"].(map[string]any); health["failures"] != 0.0 || text(health, "paused_until") != "" {
				t.Errorf("at its new address it fares as %v", health)
			}
		}
	})
}

// TestDashboardLimitsWebhooksAndSecrets checks that the dashboard rejects a 26th webhook and a rotation that would
// leave eleven old secrets valid.
func TestDashboardLimitsWebhooksAndSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		all, _ := c.do(http.MethodGet, "/webhooks", nil)["webhooks"].([]any)
		var last map[string]any
		for range 25 - len(all) {
			last = c.do(http.MethodPost, "/webhooks", map[string]any{"url": customer + "/_local/inbox/one"})
		}
		c.want(http.MethodPost, "/webhooks", map[string]any{"url": customer + "/_local/inbox/one"}, http.StatusConflict,
			"svc_conflict")
		rotate := "/webhooks/" + text(last, "webhook", "webhook_id") + "/secret/rotate"
		for range 10 {
			c.do(http.MethodPost, rotate, map[string]any{})
		}
		c.want(http.MethodPost, rotate, map[string]any{}, http.StatusConflict, "svc_conflict")
		if now := c.do(http.MethodPost, rotate, map[string]any{"at_once": true}); text(now, "secret") == "" {
			t.Errorf("all ended at once: %v", now)
		}
	})
}

// TestKeyRotationKeepsBothKeysValid checks that a credential has at most two keys and that the dashboard shows when
// each was last used. A credential without keys can be deleted.
func TestKeyRotationKeepsBothKeysValid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		made := c.do(http.MethodPost, "/credentials", map[string]any{"redirect_uris": []string{"https://app.example/return"}})
		public := text(made, "credential", "public_id")
		path := "/credentials/" + public
		works := func(key string) bool {
			return c.call(http.MethodGet, "/bridge/events", public, key, nil).status == http.StatusOK
		}
		second := c.do(http.MethodPost, path+"/keys", nil)
		c.want(http.MethodPost, path+"/keys", nil, http.StatusConflict, "svc_conflict")
		if !works(text(made, "private_key")) || !works(text(second, "private_key")) {
			t.Error("both keys should work")
		}
		c.queues.pump() // key use is recorded in the background
		c.do(http.MethodDelete, path+"/keys/"+text(made, "key_id"), nil)
		<-time.After(31 * time.Second)
		if works(text(made, "private_key")) || !works(text(second, "private_key")) {
			t.Error("the first key works still, or the second not any more")
		}
		c.want(http.MethodDelete, path, nil, http.StatusConflict, "svc_conflict")
		for _, shown := range []map[string]any{
			c.do(http.MethodPatch, path, map[string]any{"note": "rotated"}),
			c.do(http.MethodGet, path, nil),
		} {
			keys, _ := shown["keys"].([]any)
			first, _ := keys[0].(map[string]any)
			if text(first, "revoked_at") == "" || text(first, "last_used_at") == "" || text(shown, "note") != "rotated" {
				t.Errorf("the credential is %v", shown)
			}
		}
		c.do(http.MethodDelete, path+"/keys/"+text(second, "key_id"), nil)
		c.do(http.MethodDelete, path, nil)
		c.want(http.MethodGet, path, nil, http.StatusNotFound, "svc_not_found")
	})
}
