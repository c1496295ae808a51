package webhook_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func TestCreateReturnsSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s, text, err := w.editor().Create(t.Context(), webhook.Draft{
			ID: "s1", Tenant: tenant, URL: "https://alder.example", Rate: 7, SigningKey: true,
			Optional: []webhook.Type{webhook.ConnectionSucceeded, webhook.ConnectionSucceeded, webhook.TestEvent},
			Headers:  map[string]string{"x-api-key": "k", "AUTHORIZATION": "Bearer b"},
		})
		expect.NoError(t, err)
		if !strings.HasPrefix(text.Reveal(), "whsec_") || !strings.HasPrefix(s.PublicKey, "whpk_") || len(s.Secrets) != 1 {
			t.Errorf("secret or key of %+v is not as it should be", s)
		}
		for _, hidden := range []string{text.Reveal(), "Bearer b", "whsk_"} {
			if strings.Contains(fmt.Sprintf("%s %s %+v", s.Private, s.Secrets[0].Sealed, s), hidden) {
				t.Errorf("%q is to be seen", hidden)
			}
		}
		s.Secrets, s.Private, s.PublicKey = nil, nil, ""
		want := webhook.Subscription{
			ID: "s1", Tenant: tenant, URL: "https://alder.example", Rate: 7, CreatedAt: time.Now(),
			Types: append(webhook.Required(), webhook.ConnectionSucceeded), HeaderNames: []string{"Authorization", "X-Api-Key"},
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("subscription (-want +got):\n%s", diff)
		}
		if got := s.WithTypes(nil).Types; !slices.Equal(got, webhook.Required()) {
			t.Errorf("types without optional ones = %q, want the required ones", got)
		}
	})
}

func TestCreateRejectsInvalidDraft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		many := map[string]string{}
		for i := range 21 {
			many[fmt.Sprint("X-", i)] = "v"
		}
		drafts := map[string]webhook.Draft{
			"url": {URL: "http://alder.example"}, "rate": {Rate: 1001}, "negative rate": {Rate: -1}, "headers": {Headers: many},
			"two spellings": {Headers: map[string]string{"X-A": "1", "x-a": "2"}},
		}
		for _, name := range []string{
			"", " ", "X A", "X:A", "X\r\nA", "Ä", "webhook-id", "Webhook-Delivery", "Content-Type", "content-length", "Host",
			"connection",
			"Keep-Alive", "Proxy-Authorization", "TE", "trailer", "Transfer-Encoding", "Upgrade", "Expect", "User-Agent",
			"Accept-Encoding",
		} {
			drafts["header "+name] = webhook.Draft{Headers: map[string]string{name: "v"}}
		}
		for _, value := range []string{"a\r\nb: c", "\x00", "ü", " a", "a ", strings.Repeat("a", 2049)} {
			drafts["value "+value] = webhook.Draft{Headers: map[string]string{"X-A": value}}
		}
		for name, d := range drafts {
			d.ID, d.Tenant = "s1", tenant
			if d.URL == "" {
				d.URL = "https://alder.example"
			}
			if _, _, err := w.editor().Create(t.Context(), d); !errors.Is(err, fault.Invalid) {
				t.Errorf("%s: error = %v, want fault.Invalid", name, err)
			}
		}
	})
}

func TestRotatedSecretStaysValidForOneDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s, first, err := w.editor().Create(t.Context(), webhook.Draft{
			ID: "s1", Tenant: tenant, URL: "https://s1.example", SigningKey: true, Headers: map[string]string{"X-A": "kept"},
		})
		expect.NoError(t, err)
		expect.NoError(t, w.store.CreateSubscription(t.Context(), s))
		secrets := []secret.Text{first}
		rotate := func(atOnce bool) {
			rotated, text, err := w.editor().Rotate(t.Context(), w.subscription(t), atOnce)
			expect.NoError(t, err)
			expect.NoError(t, w.store.SaveSubscription(t.Context(), rotated))
			secrets = append(secrets, text)
		}
		n := 0
		verifies := func(when string, want ...bool) {
			t.Helper()
			n++
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, n).ID))
			p := w.posts[len(w.posts)-1]
			for i, text := range secrets {
				if err := verify(t, p, text); (err == nil) != want[i] {
					t.Errorf("%s: secret %d: %v, want it to verify: %t", when, i, err, want[i])
				}
			}
			if p.header["X-A"] != "kept" || !verifiesPublicly(t, p, s.PublicKey) {
				t.Errorf("%s: header or key was lost", when)
			}
		}
		verifies("at first", true)
		rotate(false)
		verifies("after a rotation", true, true)
		<-time.After(12 * time.Hour)
		rotate(false)
		verifies("after two", true, true, true)
		<-time.After(12*time.Hour - time.Second)
		verifies("before a day is over", true, true, true)
		<-time.After(time.Second)
		verifies("after a day", false, true, true)
		rotate(true)
		verifies("after a leak", false, false, false, true)
		if got := len(w.subscription(t).Secrets); got != 1 {
			t.Errorf("%d secrets are kept, want the one in use", got)
		}
	})
}

// verifiesPublicly reports whether the v1a signature verifies without the secret.
func verifiesPublicly(t *testing.T, p post, publicKey string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))
	expect.NoError(t, err)
	content := p.header["Webhook-Id"] + "." + p.header["Webhook-Timestamp"] + "." + p.body
	for entry := range strings.FieldsSeq(p.header["Webhook-Signature"]) {
		if encoded, ok := strings.CutPrefix(entry, "v1a,"); ok {
			signature, err := base64.StdEncoding.DecodeString(encoded)
			expect.NoError(t, err)
			return ed25519.Verify(key, []byte(content), signature)
		}
	}
	return false
}

func TestRotateAllowsTenOldSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.create(t, webhook.Draft{})
		var err error
		for range 10 {
			s, _, err = w.editor().Rotate(t.Context(), s, false)
			expect.NoError(t, err)
		}
		if _, _, err = w.editor().Rotate(t.Context(), s, false); !errors.Is(err, fault.Conflict) || len(s.Secrets) != 11 {
			t.Errorf("%d secrets and error %v, want 11 and fault.Conflict", len(s.Secrets), err)
		}
		<-time.After(24 * time.Hour)
		if s, _, err = w.editor().Rotate(t.Context(), s, false); err != nil || len(s.Secrets) != 2 {
			t.Errorf("a day later: %d secrets and error %v", len(s.Secrets), err)
		}
	})
}

// TestCreateRejectsPrivateAddress checks that, in both modes, a webhook's URL is allowed if the worker's dialling guard
// would allow it. Only the stack's configuration can add exceptions.
func TestCreateRejectsPrivateAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		onALaptop := w.editor()
		onALaptop.Reach = safehttp.Options{Allow: []netip.Prefix{
			netip.MustParsePrefix("127.0.0.0/8"),
			netip.MustParsePrefix("::1/128"),
		}}
		for address, allowed := range map[string][2]bool{ // whether it is allowed in any stack, and locally
			"https://alder.example/hook": {true, true}, "https://8.8.8.8/hook": {true, true},
			"https://10.0.0.1/": {}, "https://169.254.169.254/": {}, "https://[fd00::1]/": {}, "https://[::ffff:10.0.0.1]/": {},
			"https://167772161/": {}, "https://0xa000001/": {}, "https://[64:ff9b::a00:1]/": {},
			"https://127.0.0.1:8443/hook": {false, true}, "https://[::1]/": {false, true},
		} {
			for _, mode := range []org.Mode{org.Test, org.Live} {
				for i, editor := range []webhook.Editor{w.editor(), onALaptop} {
					_, _, err := editor.Create(t.Context(), webhook.Draft{
						ID:     "s1",
						Tenant: org.Tenant{Mode: mode, OrgID: tenant.OrgID}, URL: address,
					})
					if isRefused := errors.Is(err, fault.Invalid); isRefused == allowed[i] || !isRefused && err != nil {
						t.Errorf("%s in %s mode: %v", address, mode, err)
					}
					if _, moved := editor.WithURL(webhook.Subscription{Tenant: org.Tenant{Mode: mode}},
						address); (moved == nil) != allowed[i] {
						t.Errorf("moved to %s in %s mode: %v", address, mode, moved)
					}
				}
			}
		}
	})
}
