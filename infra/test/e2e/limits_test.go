package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
)

// TestRateLimitRowsDoNotRevealIPAddresses simulates an attacker who has a copy of the table. The attacker tries every
// combination of IP address, limit name and public ID. Without the secret key, no combination may produce the key of a
// stored row.
func TestRateLimitRowsDoNotRevealIPAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		own := s.seeded.Organisations[0]
		classes := []string{"browser", "callback", "connect", "createattempt", "getattempt", "jwks", "keyed", "reconnect"}
		for _, path := range []string{
			"/bridge/org", "/bridge/callback", "/bridge/connect", "/bridge/connect?attempt=x", "/bridge/reconnect",
			"/bridge/attempts/x",
			"/.well-known/jwks.json", "/bridge/events", "/bridge/org_connection/x", "/bridge/fhir/ehi-export/x",
			"/bridge/fhir/ehi-export/x/download/y",
		} {
			s.org.request(http.MethodGet, withPublicID(path, own.PublicID), nil)
		}
		s.org.request(http.MethodPost, withPublicID("/bridge/attempts", own.PublicID), map[string]string{})
		s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]string{"org_connection_id": "x"})
		s.org.request(http.MethodDelete, "/bridge/org_connection/x", nil)
		s.org.request(http.MethodDelete, "/bridge/fhir/ehi-export/x/files", nil)

		guesses := map[string]string{}
		for _, class := range classes {
			for _, who := range []string{"", strings.TrimPrefix(own.PublicID, "public_test_")} {
				for _, prefix := range []string{"", "limit\x00"} {
					text := []byte(prefix + class + "\x00" + who + "\x00127.0.0.1")
					plain, unkeyed := sha256.Sum256(text), hmac.New(sha256.New, nil)
					unkeyed.Write(text)
					guesses[hex.EncodeToString(plain[:16])], guesses[hex.EncodeToString(unkeyed.Sum(nil)[:16])] = class, class
				}
			}
		}
		rows := 0
		for _, item := range s.state.browse("test-FlowTable") {
			var key struct{ S string }
			expect.NoError(t, json.Unmarshal(item["pk"], &key))
			name, isLimit := strings.CutPrefix(key.S, "RL#")
			if class, guessed := guesses[name]; guessed {
				t.Errorf("the address of a row of %s can be guessed", class)
			}
			if isLimit {
				rows++
			}
		}
		if rows < len(classes) {
			t.Errorf("only %d rows of %d limits were made", rows, len(classes))
		}
	})
}

// TestCatalogExportIsLimitedToTenPerHour checks that an organisation can download the complete catalogue ten times an
// hour. The limit must affect neither the organisation's other requests nor other organisations.
func TestCatalogExportIsLimitedToTenPerHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.catalog.goLive("test", s.catalog.institutions(1))
		var files map[string]string
		ask := func() answer { return s.org.request(http.MethodGet, "/bridge/catalog/export", nil) }
		for n := range 10 {
			if got := ask(); got.status != http.StatusOK || json.Unmarshal(got.Data, &files) != nil {
				t.Fatalf("request %d: %d %s", n, got.status, got.raw)
			}
		}
		if got := ask(); got.status != http.StatusTooManyRequests || got.Error != "svc_rate_limited" ||
			got.header.Get("Retry-After") != "360" {
			t.Errorf("the eleventh: %d %s %v", got.status, got.raw, got.header)
		}
		other := s.seeded.Organisations[1]
		if got := s.call(http.MethodGet, "/bridge/catalog/export", other.PublicID, other.PrivateKey,
			nil); got.status == http.StatusTooManyRequests {
			t.Errorf("another organisation: %d %s", got.status, got.raw)
		}
		if got := s.call(http.MethodGet, strings.TrimPrefix(files["brands.json"], baseURL), "", "",
			nil); got.status != http.StatusFound {
			t.Errorf("an address that it has: %d %s", got.status, got.raw)
		}
		if got := s.org.request(http.MethodGet, "/bridge/events", nil); got.status != http.StatusOK {
			t.Errorf("another endpoint: %d %s", got.status, got.raw)
		}
		<-time.After(6*time.Minute + time.Second)
		if got := ask(); got.status != http.StatusOK {
			t.Errorf("six minutes later: %d %s", got.status, got.raw)
		}
	})
}

func withPublicID(path, publicID string) string {
	if strings.Contains(path, "?") {
		return path + "&public_id=" + publicID
	}
	return path + "?public_id=" + publicID
}

// TestAbandonedAttemptsDoNotBlockBrowser starts and abandons 140 attempts in a single browser. Afterwards, the patient
// can still complete the attempts in the last two tabs, in either order.
func TestAbandonedAttemptsDoNotBlockBrowser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		b, address := s.patient.browser(), s.patient.connectURL()
		const attempts = 142
		portals := make([]string, 0, attempts)
		for range attempts {
			target, err := url.Parse(address)
			expect.NoError(t, err)
			answer := b.get(target)
			if answer.location() == nil || answer.location().Path != "/v1/sandbox/oauth/authorize" {
				t.Fatalf("attempt %d: %d %s", len(portals), answer.status, answer.body)
			}
			portals = append(portals, answer.location().String())
			<-time.After(time.Second)
		}
		for _, portal := range []string{portals[attempts-2], portals[attempts-1]} {
			if _, last := b.open(portal, crashPersona, "approve"); last == nil ||
				last.Query().Get("connection_status") != "authorized" {
				t.Errorf("the attempt ended at %v", last)
			}
		}
	})
}
