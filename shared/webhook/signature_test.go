package webhook_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func newSecret(t *testing.T) secret.Text {
	t.Helper()
	text, err := webhook.NewSecret(rand.Reader)
	expect.NoError(t, err)
	return text
}

// verify verifies a POST with the reference library, as a receiver does.
func verify(t *testing.T, p post, text secret.Text) error {
	t.Helper()
	verifier, header := reference(t, p, text)
	return verifier.Verify([]byte(p.body), header)
}

// verifyLater verifies an older POST, whose age the library would reject.
func verifyLater(t *testing.T, p post, text secret.Text) error {
	t.Helper()
	verifier, header := reference(t, p, text)
	return verifier.VerifyIgnoringTimestamp([]byte(p.body), header)
}

func reference(t *testing.T, p post, text secret.Text) (*standardwebhooks.Webhook, http.Header) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(text.Reveal())
	expect.NoError(t, err)
	header := http.Header{}
	for name, value := range p.header {
		header.Set(name, value)
	}
	return verifier, header
}

func TestReferenceLibraryVerifiesDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		text := newSecret(t)
		w.subscribe(t, "s1", signing{text: text})
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		got := w.posts[0]
		if err := verify(t, got, text); err != nil {
			t.Errorf("verify: %v", err)
		}
		if err := verify(t, got, newSecret(t)); err == nil {
			t.Error("another secret verifies")
		}
		got.body += " "
		if err := verify(t, got, text); err == nil {
			t.Error("a changed body verifies")
		}
	})
}

type tokenLinks struct{ token string }

func (l tokenLinks) SignLink(_ org.Tenant, address string) (string, error) {
	return address + "?token=" + l.token, nil
}

// TestDownloadLinksAreSentButNeverStored checks that only the event as sent grants access to files. A working link must
// not appear in the stored event or in the log of a receiver that echoes the event.
func TestDownloadLinksAreSentButNeverStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s, text, err := w.editor().Create(t.Context(),
			webhook.Draft{ID: "s1", Tenant: tenant, URL: "https://s1.example/hook"})
		expect.NoError(t, err)
		expect.NoError(t, w.store.CreateSubscription(t.Context(), s))
		event, err := webhook.NewEvent(tenant, webhook.ExportSucceeded, "task", 0, time.Now(), webhook.ExportSuccess{
			DownloadLinks: []webhook.DownloadLink{{URL: "https://api.example/v1/x.jsonl"}},
		})
		expect.NoError(t, err)
		expect.NoError(t, w.store.CreateEvent(t.Context(), event))
		w.answer = func(string, int) (webhook.Answer, error) {
			return webhook.Answer{
				Status: 200, Body: []byte(w.posts[0].body),
				Header: map[string]string{"X-Echo": w.posts[0].body},
			}, nil
		}
		var deliveries []webhook.Delivery
		var kept []webhook.Attempt
		worker := w.worker()
		worker.Store, worker.Links = recorded{Store: w.store, deliveries: &deliveries, attempts: &kept},
			tokenLinks{"secret-ticket-of-the-file"}
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, event.ID))
		if body := w.posts[0].body; !strings.Contains(body, "x.jsonl?token=secret-ticket-of-the-file") {
			t.Errorf("sent %s, want a link that opens its file", body)
		}
		if err = verify(t, w.posts[0], text); err != nil {
			t.Errorf("verify what was sent: %v", err)
		}
		body, err := s.OpenAnswer(t.Context(), w.sealer, deliveries[0].ID, kept[0].SealedBody)
		expect.NoError(t, err)
		for _, text := range []string{string(body), kept[0].ResponseHeader["X-Echo"]} {
			if !strings.Contains(text, "x.jsonl") || strings.Contains(text, "ticket") {
				t.Errorf("the log keeps %s", text)
			}
		}
	})
}

func TestDeliveryVerifiesWithBothSecretsDuringRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		fresh, old := newSecret(t), newSecret(t)
		expires := time.Now().Add(24 * time.Hour)
		w.subscribe(t, "s1", signing{text: fresh}, signing{text: old, expires: expires})
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 500}, nil }
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		w.followSchedule(t)

		for _, p := range w.posts {
			entries := strings.Fields(p.header["Webhook-Signature"])
			wantOld := p.at.Before(expires)
			if want := map[bool]int{true: 2, false: 1}[wantOld]; len(entries) != want {
				t.Errorf("%d signatures at %v, want %d", len(entries), p.at, want)
			}
			if err := verifyLater(t, p, fresh); err != nil {
				t.Errorf("the new secret at %v: %v", p.at, err)
			}
			if err := verifyLater(t, p, old); (err == nil) != wantOld {
				t.Errorf("the old secret at %v: %v, want it to verify: %v", p.at, err, wantOld)
			}
		}
	})
}

func TestDeliverEventFailsWithoutValidSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1", signing{text: newSecret(t), expires: time.Now()})
		if err := w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID); err == nil || len(w.posts) != 0 {
			t.Errorf("error %v after %d unsigned POSTs, want an error and none", err, len(w.posts))
		}
	})
}

func TestDeliverEventFailsWhenSecretIsDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"whsec_", "whsec_not base64", "whsec_" + strings.Repeat("A", 43)} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.subscribe(t, "s1", signing{text: secret.New(text)})
			if err := w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID); err == nil || len(w.posts) != 0 {
				t.Errorf("%q: error %v after %d POSTs, want an error and none", text, err, len(w.posts))
			}
		})
	}
}

func TestNewSecretReturns32BytesInStandardBase64(t *testing.T) {
	t.Parallel()
	text, err := webhook.NewSecret(bytes.NewReader(bytes.Repeat([]byte{0xff}, 32)))
	expect.NoError(t, err)
	if want := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 32)); text.Reveal() != want {
		t.Errorf("secret = %q, want %q", text.Reveal(), want)
	}
	if _, err := webhook.NewSecret(strings.NewReader("too short")); err == nil {
		t.Error("a secret was made of too few random bytes")
	}
}

func TestCreateRejectsForbiddenURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url        string
		test, live bool
	}{
		{"https://alder.example/hook", true, true},
		{"https://alder.example:8443/hook?a=b", true, true},
		{"HTTPS://alder.example", true, true},
		{"http://localhost:8080/hook", true, false},
		{"http://127.0.0.1:8080/hook", true, false},
		{"http://[::1]:8080/hook", true, false},
		{"http://alder.example/hook", false, false},
		{"http://localhost.alder.example/hook", false, false},
		{"http://127.0.0.1.alder.example/hook", false, false},
		{"http://127.0.0.2/hook", false, false},
		{"http://0.0.0.0/hook", false, false},
		{"https://user@alder.example/hook", false, false},
		{"https://user:password@alder.example/hook", false, false},
		{"https://alder.example/hook#part", false, false},
		{"https:///hook", false, false},
		{"https://:443/hook", false, false},
		{"https:alder.example", false, false},
		{"//alder.example/hook", false, false},
		{"alder.example/hook", false, false},
		{"ftp://alder.example/hook", false, false},
		{"javascript:alert(1)", false, false},
		{"file:///etc/passwd", false, false},
		{"https://alder.example/\n", false, false},
		{"https://al der.example/", false, false},
		{"", false, false},
	}
	for _, test := range tests {
		for mode, want := range map[org.Mode]bool{org.Test: test.test, org.Live: test.live} {
			reach := safehttp.Options{Allow: []netip.Prefix{
				netip.MustParsePrefix("127.0.0.0/8"),
				netip.MustParsePrefix("::1/128"),
			}}
			editor := webhook.Editor{Own: ownhosts.Own(), Vault: plainVault{}, Reach: reach, Random: rand.Reader, Now: time.Now}
			_, _, err := editor.Create(t.Context(), webhook.Draft{Tenant: org.Tenant{Mode: mode}, URL: test.url})
			if (err == nil) != want {
				t.Errorf("a webhook to %q in %s mode: %v, want it accepted: %v", test.url, mode, err, want)
			}
		}
	}
}

func TestSignatureTimestampIsTimeOfAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		text := newSecret(t)
		w.subscribe(t, "s1", signing{text: text})
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 500}, nil }
		event := w.emit(t)
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		<-time.After(time.Hour)
		expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, webhook.DeliveryID(event.ID, "s1")))
		for i, p := range w.posts {
			if want := strconv.FormatInt(p.at.Unix(), 10); p.header["Webhook-Timestamp"] != want {
				t.Errorf("attempt %d: timestamp %s, want %s", i+1, p.header["Webhook-Timestamp"], want)
			}
		}
		if len(w.posts) != 2 {
			t.Errorf("%d POSTs, want 2", len(w.posts))
		}
	})
}
