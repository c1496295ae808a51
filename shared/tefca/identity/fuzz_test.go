package identity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/secret"
)

// FuzzClaims signs arbitrary claims with the issuer's key. Claims that are accepted must meet every condition. Rejected
// claims must produce an error with a cause.
func FuzzClaims(f *testing.F) {
	for _, said := range shapes() {
		raw, err := json.Marshal(said)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	for _, payload := range []string{
		"", "{}", "[]", "null", `{"a":` + strings.Repeat("[", 5000), "{\"\xff\":1}",
		`{"exp":1e308,"iat":-0}`,
	} {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		if len(payload) > 8<<10 {
			return
		}
		text := signed(t, "ec", object{"alg": "ES256", "kid": "ec"}, []byte(payload))
		made, err := assert(authority(), text, now)
		if err != nil {
			if identity.CauseOf(err) == "" {
				t.Fatalf("no cause: %v", err)
			}
			return
		}
		p := made.Person
		if made.Level < 2 || made.Subject == "" || made.Issuer != issuer || p.Given == "" || p.Family == "" ||
			len(p.BirthDate) != 10 ||
			len(p.Addresses) == 0 || p.Addresses[0].State+p.Addresses[0].PostalCode == "" {
			t.Errorf("believed: %+v", p)
		}
		if !made.ExpiresAt.After(now.Add(-time.Minute)) || made.ExpiresAt.Sub(made.IssuedAt) > 24*time.Hour {
			t.Errorf("believed from %v to %v", made.IssuedAt, made.ExpiresAt)
		}
	})
}

// FuzzToken checks that only tokens signed by the issuer are accepted.
func FuzzToken(f *testing.F) {
	good := token(f, shapes()["CMS-aligned"])
	f.Add(good)
	f.Add(strings.Repeat(".", 4))
	f.Add(encode([]byte(`{"alg":"none"}`)) + "..")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := identity.Parse(secret.New(text)); err != nil && identity.CauseOf(err) != "token_invalid" {
			t.Errorf("%v", err)
		}
		if _, err := assert(authority(), text, now); err == nil &&
			!strings.HasPrefix(text, good[:strings.LastIndexByte(good, '.')]) {
			t.Error("believed")
		}
	})
}
