package e2e_test

import (
	"crypto/rand"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	smartprobe "recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/words/ids"
)

// onlyWithAPatient lists quirks that prevent sign-in but that an endpoint test can't detect, because they affect only
// the response to a patient's sign-in.
func onlyWithAPatient() []string {
	return []string{
		"discovery-missing,iss:wrong", "hostile:no-issuer,iss:wrong", "iss:wrong", // the response names a wrong issuer
		"id-token:wrong-nonce", "id-token:bad-signature",
		"patient-unnamed",
	}
}

// TestEndpointTestPredictsWhetherSignInSucceeds checks that a patient can connect if all of an endpoint test's checks
// succeed. If any check fails, the patient can't connect or the connection doesn't last.
func TestEndpointTestPredictsWhetherSignInSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		p, err := wiring.NewProbe(s.cloud.Config("operator"), s.template.Outputs,
			wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "test", HTTP: s}, s.operator)
		expect.NoError(t, err)
		for _, q := range sampleIfShort(quirks()) {
			connect := s.ehr.connectURLOf(q)
			failed := failedChecks(s, p, connect)
			_, last := s.patient.browser().open(connect, crashPersona, "approve")
			refused := last.Query().Get("error")
			switch {
			case refused != "" && len(failed) == 0 && !slices.Contains(onlyWithAPatient(), q.with):
				t.Errorf("%s: nothing has failed, and a patient meets %s", q.with, refused)
			case refused == "" && slices.ContainsFunc(failed, func(step smartprobe.Step) bool {
				// with too few scopes, a patient can connect but exports are incomplete
				return step != smartprobe.Scopes && (!q.later || step != smartprobe.TokenRefresh && step != smartprobe.TokenCode)
			}):
				t.Errorf("%s: %v have failed, and a patient connects", q.with, failed)
			}
		}
	})
}

func failedChecks(s *stack, p smartprobe.Probe, connect string) []smartprobe.Step {
	s.t.Helper()
	at, err := url.Parse(connect)
	expect.NoError(s.t, err)
	endpoint, err := s.operator.Endpoints.Show(s.t.Context(), at.Query().Get("endpoint_id"))
	expect.NoError(s.t, err)
	checks, err := p.Run(s.t.Context(), smartprobe.Subject{Endpoint: endpoint, Stored: true, TokenRequest: true})
	expect.NoError(s.t, err)
	var failed []smartprobe.Step
	for _, c := range checks {
		if c.Result == smartprobe.Failed {
			failed = append(failed, c.Step)
		}
	}
	return failed
}
