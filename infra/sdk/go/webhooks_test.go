package recordbridge_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	recordbridge "recordbridge/infra/sdk/go"
	"recordbridge/infra/sdk/go/api"
)

// secretOf returns a signing secret.
func secretOf(letter string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

// bodyOf returns an event's body.
func bodyOf(kind api.EventType) []byte {
	return []byte(`{"api_mode":"test","id":"` + id + `","date":"2026-01-01T00:00:00Z","type":"` + string(kind) +
		`","data":{"task_id":"t","org_connection_id":"` + id + `","org_id":"` + id + `"}}`)
}

// headersOf signs a body.
func headersOf(t *testing.T, secret string, body []byte, at time.Time) http.Header {
	t.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := webhook.Sign(id, at, body)
	if err != nil {
		t.Fatal(err)
	}
	headers := http.Header{}
	headers.Set("Webhook-Id", id)
	headers.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	headers.Set("Webhook-Signature", signature)
	return headers
}

func TestVerifyWebhookReturnsTypedEvent(t *testing.T) {
	t.Parallel()
	body := bodyOf(api.EventTypePatientEhiExportFailed)
	event, err := recordbridge.VerifyWebhook(body, headersOf(t, secretOf("a"), body, time.Now()), secretOf("a"))
	if err != nil {
		t.Fatal(err)
	}
	if failed, ok := event.Value.(api.ExportFailureEvent); !ok || failed.Data.TaskId != "t" || event.ID != id {
		t.Errorf("event %#v", event)
	}
}

func TestVerifyWebhookReturnsRawEventWhenTypeIsUnknown(t *testing.T) {
	t.Parallel()
	body := bodyOf("patient.later")
	event, err := recordbridge.VerifyWebhook(body, headersOf(t, secretOf("a"), body, time.Now()), secretOf("a"))
	if err != nil || event.Value != nil || event.Type != "patient.later" || string(event.Raw) != string(body) {
		t.Errorf("event %#v, error %v", event, err)
	}
}

func TestVerifyWebhookRejectsUnverifiedRequest(t *testing.T) {
	t.Parallel()
	body := bodyOf(api.EventTypePatientEhiExportFailed)
	headers := headersOf(t, secretOf("a"), body, time.Now())
	for name, one := range map[string]struct {
		body    []byte
		headers http.Header
		secret  string
	}{
		"changed body":         {append([]byte(" "), body...), headers, secretOf("a")},
		"another secret":       {body, headers, secretOf("b")},
		"old request":          {body, headersOf(t, secretOf("a"), body, time.Now().Add(-10*time.Minute)), secretOf("a")},
		"no headers":           {body, http.Header{}, secretOf("a")},
		"empty secret":         {body, headersOf(t, "", body, time.Now()), ""},
		"secret without a key": {body, headersOf(t, "whsec_", body, time.Now()), "whsec_"},
	} {
		if event, err := recordbridge.VerifyWebhook(one.body, one.headers, one.secret); err == nil || event.Value != nil {
			t.Errorf("%s: event %v, error %v", name, event, err)
		}
	}
}

func TestEventsAreTyped(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		events := []json.RawMessage{bodyOf(api.EventTypePatientEhiExportFailed)}
		respond(w, http.StatusOK, success(map[string]any{"events": events, "after": "cursor", "has_more": false}))
	})
	client, _ := clientOf(t, base)
	count := 0
	for event, err := range client.Events(t.Context(), "") {
		count++
		if _, ok := event.Value.(api.ExportFailureEvent); err != nil || !ok {
			t.Errorf("event %#v, error %v", event, err)
		}
	}
	if count != 1 {
		t.Errorf("%d events, want 1", count)
	}
}
