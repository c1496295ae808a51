package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// TestTEFCAAttemptRequiresItsBearerToken checks that requests without the attempt's token, or from another organisation
// or mode, are rejected. The response must be the same as for a nonexistent attempt.
func TestTEFCAAttemptRequiresItsBearerToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		v := s.vault.beginVerification("")
		s.vault.identify(v, twoHospitals, "approve")
		chosen := s.vault.awaitLocated(v, "located").chosen()
		stranger, live := s.newStranger(), s.seeded.Organisations[1]
		before := s.state.snapshot()
		for name, of := range map[string]verification{
			"another token":        {ID: v.ID, Token: v.Token[1:] + "A", publicID: v.publicID},
			"no token":             {ID: v.ID, publicID: v.publicID},
			"another attempt":      {ID: "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21", Token: v.Token, publicID: v.publicID},
			"no attempt":           {ID: "x", Token: v.Token, publicID: v.publicID},
			"another organisation": {ID: v.ID, Token: v.Token, publicID: stranger.publicID},
			"the other mode":       {ID: v.ID, Token: v.Token, publicID: live.PublicID},
		} {
			for _, got := range []answer{s.vault.requestStatus(of), s.vault.choose(of, chosen...)} {
				if got.status != http.StatusNotFound || got.Description != "Attempt not found." {
					t.Errorf("%s: answered %d %s", name, got.status, got.raw)
				}
			}
		}
		for name, ids := range map[string][]string{
			"nothing": {}, "an unknown facility": {"urn:oid:2.999.9"},
			"one that is not of it": {chosen[0], "x"},
		} {
			if got := s.vault.choose(v, ids...); got.status != http.StatusBadRequest {
				t.Errorf("choosing %s answered %d %s", name, got.status, got.raw)
			}
		}
		s.check.unchanged(t, before, "asking for another's attempt")
	})
}

// TestFacilityChoiceRejectsUnmatchedFacility checks that a patient can't choose a facility that did not match the
// patient. The attempt's status must list the facilities that did not respond.
func TestFacilityChoiceRejectsUnmatchedFacility(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		for person, match := range map[string]string{"p03": "ambiguous", "p04": "unanswered"} {
			v := s.vault.beginVerification("")
			s.vault.identify(v, person, "approve")
			l := s.vault.awaitLocated(v, "located")
			at := slices.IndexFunc(l.Facilities, func(f facility) bool { return f.Match == match })
			if at < 0 {
				t.Fatalf("%s located %+v", person, l)
			}
			if got := s.vault.choose(v, l.Facilities[at].ID); got.status != http.StatusBadRequest {
				t.Errorf("choosing one that is %s answered %d %s", match, got.status, got.raw)
			}
		}
	})
}

// TestFailedFacilityDoesNotAffectOtherFacilities checks that if one facility fails, the others stay connected and the
// failure has a reason. The patient can choose the failed facility again until the identity expires, and must verify
// their identity again after that.
func TestFailedFacilityDoesNotAffectOtherFacilities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		v := s.vault.beginVerification("patient-7")
		s.vault.identify(v, "p12", "approve")
		found := s.vault.awaitLocated(v, "located")
		s.vault.choose(v, found.chosen()...)
		done := s.vault.awaitLocated(v, "located")
		reasons := map[string]bool{}
		for _, f := range done.Facilities {
			if f.Outcome == "failed" {
				reasons[f.Reason] = true
			}
		}
		if len(done.connections()) == 0 || !reasons["refused"] || !reasons["unavailable"] || !reasons["identity_expired"] {
			t.Errorf("connected are %v, and others failed because of %v", done.connections(), reasons)
		}
		for id := range done.connections() { // choosing a facility that is already connected has no effect
			got := s.vault.choose(v, id)
			if got.status != http.StatusOK || !strings.Contains(string(got.Data), `"status":"located"`) {
				t.Errorf("choosing a connected one answered %d %s", got.status, got.raw)
			}
		}
		if got := s.vault.choose(v, found.chosen()...); got.status != http.StatusOK ||
			!strings.Contains(string(got.Data), `"outcome":"connecting"`) {
			t.Errorf("choosing again answered %d %s", got.status, got.raw)
		}
		<-time.After(15 * time.Minute)
		s.clock.advance(2)
		if got := s.vault.choose(v, found.chosen()...); got.status != http.StatusConflict || got.Error != "svc_conflict" {
			t.Errorf("after the identity has ended it answered %d %s", got.status, got.raw)
		}
		<-time.After(15 * time.Minute)
		if l := s.vault.located(v); l.Status != "expired" {
			t.Errorf("after half an hour the attempt is %s", l.Status)
		}
	})
}

// TestTEFCAWindowRequiresSameBrowser checks that a start value works only once and only from the service's own page,
// and that a callback works only in the browser that started the sign-in.
func TestTEFCAWindowRequiresSameBrowser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		v := s.vault.beginVerification("")
		s.checkStartsNowhereElse(t, v.form())
		own, other := s.patient.browser(), s.patient.browser()
		there := own.start(v.form()).location()
		query := there.Query()
		query.Set("person", twoHospitals)
		query.Set("decision", "approve")
		there.RawQuery = query.Encode()
		back := own.get(there).location()
		checkNoReturn(t, own.start(v.form())) // the start value has already been used
		checkNoReturn(t, other.get(back))
		if l := s.vault.located(v); l.Status != "open" {
			t.Errorf("after the return in another browser it is %s", l.Status)
		}
		if page := own.get(back); page.status != http.StatusOK ||
			!strings.Contains(string(page.body), "Your identity is confirmed") || len(own.cookies) != 0 {
			t.Errorf("its own browser got %d %s, and has %v", page.status, page.body, own.cookies)
		}
		checkNoReturn(t, own.get(back)) // the callback URL has already been used
		<-time.After(31 * time.Minute)
		late := s.vault.beginVerification("")
		<-time.After(30 * time.Minute)
		if page := s.vault.identify(late, twoHospitals, "approve"); page.status != http.StatusBadRequest {
			t.Errorf("after half an hour the window got %d", page.status)
		}
		if l := s.vault.located(late); l.Status != "expired" {
			t.Errorf("after half an hour it is %s", l.Status)
		}
	})
}

// TestIdentityProviderFailureIsReported checks that both the window and the polling page display a failure at the
// identity provider.
func TestIdentityProviderFailureIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		for cause, c := range map[string][]string{
			"declined":             {"decline"},
			"provider_unavailable": {"approve", "fault", "unavailable"},
			"token_invalid":        {"approve", "fault", "wrong-nonce"},
			"level_too_low":        {"approve", "fault", "low-level"},
			"demographics_missing": {"approve", "fault", "no-address"},
			"identity_expired":     {"approve", "fault", "expired"},
		} {
			v := s.vault.beginVerification("")
			page := s.vault.identify(v, twoHospitals, c[0], c[1:]...)
			if page.status != http.StatusOK || !strings.Contains(string(page.body), "You are not connected") {
				t.Errorf("%s: the window ended with %d %s", cause, page.status, page.body)
			}
			if l := s.vault.located(v); l.Status != "failed" || l.Error.Cause != cause || len(l.Facilities) != 0 {
				t.Errorf("%s: the attempt is %+v", cause, l)
			}
		}
		s.clock.advance(1)
		if told := s.webhooks.events("patient.connection_failed"); len(told) != 0 {
			t.Errorf("%d failures were told, and TEFCA mode tells none", len(told))
		}
	})
}

func TestStartURLStaysValidWhenIdentityProviderIsUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		v := s.vault.beginVerification("")
		s.intercept = func(r *http.Request) *http.Response {
			if !strings.Contains(r.URL.Path, "/sandbox/identity/") {
				return nil
			}
			return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: http.NoBody, Request: r}
		}
		if page := s.vault.identify(v, twoHospitals, "approve"); page.status != http.StatusServiceUnavailable {
			t.Errorf("the window got %d %s", page.status, page.body)
		}
		s.intercept = nil
		if page := s.vault.identify(v, twoHospitals, "approve"); page.status != http.StatusOK {
			t.Errorf("afterwards the window got %d %s", page.status, page.body)
		}
		body := map[string]string{"provider": "another"}
		if got := s.call(http.MethodPost, "/bridge/tefca/identity?public_id="+v.publicID, "", "",
			body); got.status != http.StatusBadRequest {
			t.Errorf("an unknown provider answered %d %s", got.status, got.raw)
		}
	})
}

// failedVerifications returns functions that cause failures in TEFCA mode, keyed by the failures' names in
// docs/operate/failures.md.
func failedVerifications() map[string]stage {
	verify := func(with ...string) stage {
		return func(s *stack, _ *awsFailure) {
			s.vault.identify(s.vault.beginVerification(""), twoHospitals, with[0], with[1:]...)
		}
	}
	return map[string]stage{
		"identity: declined":          verify("decline"),
		"identity: id_token rejected": verify("approve", "fault", "wrong-nonce"),
		"facility: refusal": func(s *stack, _ *awsFailure) {
			v := s.vault.beginVerification("")
			s.vault.identify(v, "p12", "approve")
			s.vault.choose(v, s.vault.awaitLocated(v, "located").chosen()...)
			s.vault.awaitLocated(v, "located")
		},
	}
}

// TestLiveTEFCAModeRequiresPaidPlanAndProvider checks that TEFCA mode requires a paid plan and a configured identity
// provider in live mode, and that testing aids work only in test mode.
func TestLiveTEFCAModeRequiresPaidPlanAndProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		live := s.seeded.Organisations[1]
		path := "/bridge/tefca/identity?public_id=" + url.QueryEscape(live.PublicID)
		body := map[string]string{"provider": "simulated"}
		for plan, want := range map[org.Plan]struct {
			status int
			code   string
		}{org.Free: {http.StatusForbidden, "svc_plan_required"}, org.Paid: {http.StatusBadRequest, "svc_invalid_request"}} {
			setPlan(s, live.ID, plan)
			for _, got := range []answer{
				s.call(http.MethodGet, path, "", "", nil),
				s.call(http.MethodPost, path, "", "", body),
			} {
				if got.status != want.status || got.Error != want.code {
					t.Errorf("with the plan %s it answered %d %s", plan, got.status, got.raw)
				}
			}
		}
		if got := s.call(http.MethodPost, "/bridge/vault_connection/revoke", live.PublicID, live.PrivateKey,
			map[string]string{"email": "alder.fenn@tefca.example"}); got.status != http.StatusForbidden ||
			got.Error != "svc_forbidden_mode" {
			t.Errorf("a live key answered %d %s", got.status, got.raw)
		}
	})
}

// TestVaultRevocationAppliesToAllExternalIDsOfPatient checks that disconnecting a patient covers all of the patient's
// external IDs without affecting other patients or organisations.
func TestVaultRevocationAppliesToAllExternalIDsOfPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		one, two := s.vault.connect(twoHospitals, "patient-7"), s.vault.connect(twoHospitals, "patient-8")
		kept := s.vault.connect("p02", "patient-9")
		revoke := func(email string) answer {
			return s.org.request(http.MethodPost, "/bridge/vault_connection/revoke", map[string]string{"email": email})
		}
		for _, email := range []string{"nobody@tefca.example", "x"} {
			if got := revoke(email); got.status != http.StatusBadRequest {
				t.Errorf("%s answered %d %s", email, got.status, got.raw)
			}
		}
		stranger := s.newStranger()
		for want, got := range map[int]answer{
			0: s.call(http.MethodPost, "/bridge/vault_connection/revoke", stranger.publicID, stranger.key,
				map[string]string{"email": "alder.fenn@tefca.example"}),
			4: revoke("Alder.Fenn@tefca.example"),
		} {
			var data struct {
				RequestID string   `json:"request_id"`
				Revoked   []string `json:"revoked"`
			}
			expect.NoError(t, json.Unmarshal(got.Data, &data))
			if len(data.Revoked) != want || data.Revoked == nil || data.RequestID == "" {
				t.Errorf("revoked are %s, want %d", got.raw, want)
			}
			for _, id := range data.Revoked {
				s.org.checkStatus(id, "revoked")
			}
		}
		for _, id := range kept {
			s.org.checkStatus(id, "authorized")
		}
		if got := revoke("alder.fenn@tefca.example"); !strings.Contains(string(got.Data), `"revoked":[]`) {
			t.Errorf("once more it answered %s", got.raw)
		}
		back := s.vault.connect(twoHospitals, "patient-7")
		if !maps.Equal(back, one) || maps.Equal(one, two) {
			t.Errorf("back is %v, was %v and %v", back, one, two)
		}
		s.clock.advance(1)
		for _, id := range back {
			s.org.checkStatus(id, "authorized")
			s.check.toldPerGeneration(t, id)
		}
	})
}

// setPlan changes an organisation's plan and waits until every function has reloaded it.
func setPlan(s *stack, orgID string, plan org.Plan) {
	s.t.Helper()
	text := string(plan)
	_, err := s.operator.Organisations.Change(s.t.Context(), org.Tenant{Mode: org.Live, OrgID: orgID},
		operator.OrganisationChange{Plan: &text})
	expect.NoError(s.t, err)
	<-time.After(time.Minute)
}
