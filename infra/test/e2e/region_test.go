package e2e_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
)

// TestRestoreEndsEveryConnectionWhenNoTokensRemain follows step 6 of docs/operate/recovery.md, "Move to the second
// region": TokensKey is lost with the first region, so an empty table stands for the lost tokens. Every organisation
// must hear of the end, and the patients must be able to reconnect under the same IDs.
func TestRestoreEndsEveryConnectionWhenNoTokensRemain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		first := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		second := s.patient.connect("willow-ash", "approve").Get("org_connection_id")
		s.clock.advance(1)
		loseTokens(s, first, second)
		keepTokens(s, "restored-Tokens")

		rows, err := wiring.Restore(t.Context(), s.cloud.Config("operator"), s.template.Outputs, "restored-Tokens")
		expect.NoError(t, err)
		done, err := s.operator.Restores.Tokens(t.Context(), rows, s.owner(), time.Now(), true)
		expect.NoError(t, err)
		want, got := slices.Sorted(slices.Values([]string{first, second})), slices.Sorted(slices.Values(done.Ended))
		if !slices.Equal(got, want) || done.Kept != 0 || len(done.Restored) != 0 {
			t.Errorf("%+v, want %v ended", done, want)
		}
		s.clock.advance(2)
		if events := len(s.webhooks.events("patient.authorization_revoked")); events != 2 {
			t.Errorf("%d events, want one for each connection", events)
		}
		back := s.patient.reconnect(first, crashPersona)
		if back.Get("org_connection_id") != first || back.Get("connection_status") != "authorized" {
			t.Errorf("reconnected with %v, want %s", back, first)
		}
	})
}
