package oidc_test

import (
	"net/url"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
)

func TestAttemptCreatesRefreshableConnection(t *testing.T) {
	t.Parallel()
	j := start(t, registered("public", "none"))
	d := newService(j)
	left := d.leave(t)
	if _, err := d.completeAttempt(t, left, browse(t, left.URL)); err != nil {
		t.Fatal(err)
	}
	end := d.ends[0]
	if got := end.Connection.Status; got != connection.Authorized {
		t.Fatalf("the connection is %s", got)
	}
	if at := end.Connection.ConsentExpiresAt; !at.IsZero() { // public clients can't introspect tokens
		t.Errorf("the consent ends at %v, want no date", at)
	}
	set, err := tokens.Vault{Sealer: glass{}}.Open(t.Context(), end.Tokens)
	expect.NoError(t, err)
	if set.PatientID.Reveal() != j.Patient {
		t.Errorf("patient %q, want %q", set.PatientID.Reveal(), j.Patient)
	}
	p := portal()
	set, err = p.Refresh(t.Context(), tenant, set)
	expect.NoError(t, err)
	expect.NoError(t, p.Revoke(t.Context(), tenant, set))
}

func TestDeclinedConsentCreatesRejectedConnection(t *testing.T) {
	t.Parallel()
	d := newService(start(t, registered("public", "none")))
	left := d.leave(t)
	_, err := d.completeAttempt(t, left, decline(t, left.URL))
	d.wantNothing(t, err, "access_denied")
	if got := d.ends[0].Connection.Status; got != connection.Rejected {
		t.Errorf("the connection is %q, want %s", got, connection.Rejected)
	}
}

// TestFlowRejectsCodeFromAnotherSignIn covers code injection (RFC 9700 section 4.5). An attacker injects the code from
// the attacker's own sign-in into the victim's callback. The authorization server must detect that the code verifier
// does not match the code's challenge.
func TestFlowRejectsCodeFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	d := newService(start(t, registered("public", "none")))
	victims, attackers := d.leave(t), d.leave(t)
	told, stolen := browse(t, victims.URL), browse(t, attackers.URL)
	told.Set("code", stolen.Get("code"))
	_, err := d.completeAttempt(t, victims, told)
	d.wantNothing(t, err, "invalid_grant")
}

// TestFlowRejectsResponseFromAnotherServer covers the mix-up attack in RFC 9207. The attempt started at one
// authorization server, but the callback came from another.
func TestFlowRejectsResponseFromAnotherServer(t *testing.T) {
	t.Parallel()
	d, other := newService(start(t, registered("public", "none"))),
		newService(start(t, registered("public", "none"), registered("another judge's", "none")))
	left, elsewhere := d.leave(t), other.leave(t)
	told := browse(t, elsewhere.URL)
	told.Set("state", address(t, left).Get("state"))
	_, err := d.completeAttempt(t, left, told)
	d.wantNothing(t, err, fault.CodeInvalidRequest)
}

// address returns the query of an attempt's authorization URL.
func address(t *testing.T, left binding.Started) url.Values {
	t.Helper()
	parsed, err := url.Parse(left.URL)
	expect.NoError(t, err)
	return parsed.Query()
}
