package oidc_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/tokens"
)

func TestRefreshTokenReuseRevokesGrant(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	first, err := p.Exchange(t.Context(), j.signIn(t, p, client{id: "public"}))
	expect.NoError(t, err)
	const refreshes = 4
	all, current := make([]string, 0, 2*refreshes), first
	for range refreshes {
		all = append(all, current.RefreshToken.Reveal(), current.AccessToken.Reveal())
		current, err = p.Refresh(t.Context(), tenant, current)
		expect.NoError(t, err)
		if slices.Contains(all, current.RefreshToken.Reveal()) || slices.Contains(all, current.AccessToken.Reveal()) {
			t.Fatal("a token came back")
		}
		if current.PatientID.Reveal() != j.Patient || !slices.Equal(words(current.Scope), words(scope)) {
			t.Errorf("patient %q, scope %q", current.PatientID.Reveal(), current.Scope)
		}
	}
	if got := j.readPatient(t, current.AccessToken); got != http.StatusOK {
		t.Errorf("the FHIR server answered %d to the newest access token", got)
	}
	for _, set := range []tokens.Set{first, current} { // replaying the old refresh token also revoked the newest one
		if _, err := p.Refresh(t.Context(), tenant, set); !errors.Is(err, tokens.ErrRefused) {
			t.Errorf("got %v, want %v", err, tokens.ErrRefused)
		}
	}
}

func TestRefreshAcceptsRepeatedScope(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	grant := j.signIn(t, p, client{id: "public"})
	grant.Attempt.RepeatScope = true
	set, err := p.Exchange(t.Context(), grant)
	expect.NoError(t, err)
	set, err = p.Refresh(t.Context(), tenant, set)
	if err != nil || !slices.Equal(words(set.Scope), words(scope)) {
		t.Errorf("scope %q, %v", set.Scope, err)
	}
}

func TestUnrelatedErrorKeepsRefreshTokenValid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*tokens.Set)
		code  string
	}{
		"a scope that was never granted": {
			func(s *tokens.Set) { s.RepeatScope, s.Scope = true, s.Scope+" patient/Claim.rs" },
			"invalid_scope",
		},
		"a client that nobody knows": {func(s *tokens.Set) { s.ClientID = "unregistered" }, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, p := start(t, registered("public", "none")), portal()
			set, err := p.Exchange(t.Context(), j.signIn(t, p, client{id: "public"}))
			expect.NoError(t, err)
			spoilt := set
			test.spoil(&spoilt)
			_, err = p.Refresh(t.Context(), tenant, spoilt)
			refusal, ok := errors.AsType[*smart.OAuthError](err)
			if !ok || refusal.Code != test.code || !refusal.Unspent() || errors.Is(err, tokens.ErrRefused) {
				t.Errorf("got %v, want %s", err, test.code)
			}
			if _, err := p.Refresh(t.Context(), tenant, set); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
