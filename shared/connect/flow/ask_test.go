package flow_test

import (
	"testing"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
)

func TestCompleteStoresRequestedScopeInTokenSet(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.connected(t)
	w.set.Extra = map[string]string{"practice": "a-1"}
	for name, test := range map[string]struct {
		request flow.Request
		asked   string
	}{
		"a first time":         {request(t), "launch/patient patient/*.rs"},
		"again, for less":      {reconnectRequest(t), "launch/patient patient/Goal.rs"},
		"again, and once more": {reconnectRequest(t), "launch/patient patient/Device.rs"},
	} {
		w.scope = test.asked
		b := w.start(t, test.request)
		w.scope = "something else by now"
		if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
			t.Fatal(err)
		}
		set, err := tokens.Vault{Sealer: w}.Open(t.Context(), w.concluded[len(w.concluded)-1].Tokens)
		if err != nil || set.AskedScope != test.asked || set.Scope != "patient/*.read" || set.Extra["practice"] != "a-1" {
			t.Errorf("%s: %v, asked for %q and granted %q, extra %v", name, err, set.AskedScope, set.Scope, set.Extra)
		}
	}
}

func TestStartSendsNonceAndPinsItsHashWhenOpenIDIsRequested(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]bool{
		"openid fhirUser": true, "launch/patient openid": true, "launch/patient": false, "openid2 xopenid": false,
	} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.scope = scope
			b := w.start(t, request(t))
			attempt := w.attempts[w.states[hash(b.state)].AttemptID]
			if !want {
				if w.asked.Nonce != "" || attempt.NonceHash != "" {
					t.Errorf("a nonce %q was sent, %q pinned", w.asked.Nonce, attempt.NonceHash)
				}
				return
			}
			if len(w.asked.Nonce) != 43 || attempt.NonceHash != hash(w.asked.Nonce) || w.asked.Nonce == b.state {
				t.Errorf("nonce %q, pinned as %q: want 256 bits of its own", w.asked.Nonce, attempt.NonceHash)
			}
			if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
				t.Fatal(err)
			}
			if got := w.grants[0].Attempt.NonceHash; got != attempt.NonceHash {
				t.Errorf("the exchange got %q, want the pinned hash", got)
			}
		})
	}
}

func TestStartPrefersRegistrationScopeOverPlatformScope(t *testing.T) {
	t.Parallel()
	for registered, want := range map[string]string{
		"patient/Patient.read": "patient/Patient.read",
		"":                     "openid patient/*.rs",
	} {
		w := newWorld()
		w.scope, w.profile.Scope = registered, "openid patient/*.rs"
		b := w.start(t, request(t))
		if got := w.attempts[w.states[hash(b.state)].AttemptID].Scope; got != want || w.asked.Scope != want {
			t.Errorf("registered %q: asked for %q, pinned %q; want %q", registered, w.asked.Scope, got, want)
		}
	}
}

func TestStartPinsKeySetAndUserinfo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.authority.KeySet, w.authority.Userinfo = "https://ehr.example/keys", "https://ehr.example/userinfo"
	b := w.start(t, request(t))
	w.authority = flow.Authority{Issuer: "https://evil.example", KeySet: "https://evil.example/keys"}
	if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
		t.Fatal(err)
	}
	got := w.grants[0].Attempt
	if got.Issuer != issuer || got.KeySet != "https://ehr.example/keys" || got.Userinfo != "https://ehr.example/userinfo" {
		t.Errorf("the exchange got %s, %s, %s", got.Issuer, got.KeySet, got.Userinfo)
	}
}

func TestStartPinsPlatformProfile(t *testing.T) {
	t.Parallel()
	for _, profile := range []flow.Profile{{}, {Aud: fhirBase + "/"}, {Nonce: true}} {
		w := newWorld()
		w.profile = profile
		w.start(t, request(t))
		if w.asked.Aud != profile.Aud || (w.asked.Nonce != "") != profile.Nonce {
			t.Errorf("%+v: aud %q, nonce %q", profile, w.asked.Aud, w.asked.Nonce)
		}
	}
}

func TestStartPrefersDiscoveryOverPlatformProfile(t *testing.T) {
	t.Parallel()
	known := flow.Upstream{
		Revocation: "https://platform.example/revoke", Introspection: "https://platform.example/introspect",
		IntrospectBearer: true, Consent: 90 * 24 * time.Hour,
	}
	for name, c := range map[string]struct{ revocation, introspection, wantRevocation, wantIntrospection string }{
		"both said": {
			"https://ehr.example/revoke", "https://ehr.example/introspect", "https://ehr.example/revoke",
			"https://ehr.example/introspect",
		},
		"neither said": {"", "", known.Revocation, known.Introspection},
		"one said":     {"https://ehr.example/revoke", "", "https://ehr.example/revoke", known.Introspection},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.authority.Revocation, w.authority.Introspection, w.profile.Upstream = c.revocation, c.introspection, known
			if _, err := w.completer(t).Complete(t.Context(), w.start(t, request(t)).back()); err != nil {
				t.Fatal(err)
			}
			want := known
			want.Revocation, want.Introspection = c.wantRevocation, c.wantIntrospection
			if got := w.grants[0].Attempt.Upstream; got != want {
				t.Errorf("the exchange got %+v, want %+v", got, want)
			}
		})
	}
}
