package flow_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
)

func TestStartPinsCallbackParameters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.authority.IssRequired = true
		started, err := w.starter().Start(t.Context(), request(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(w.attempts) != 1 || len(w.states) != 1 {
			t.Fatalf("%d attempts, %d states", len(w.attempts), len(w.states))
		}
		state := w.states[hash(w.asked.State)]
		attempt := w.attempts[state.AttemptID]
		now := time.Now()
		wantState := binding.State{
			Hash: hash(w.asked.State), BindingHash: hash(started.CookieValue.Reveal()),
			Tenant: tenant, AttemptID: attempt.ID, ExpiresAt: now.Add(lifetime),
		}
		if diff := cmp.Diff(wantState, state); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		wantAttempt := flow.Attempt{
			ID: attempt.ID, Tenant: tenant, Status: flow.Open, RequestID: "request-1", CreatedAt: now,
			ExpiresAt:   now.Add(lifetime),
			Requester:   flow.Requester{RedirectURI: redirectURI, ExternalID: "patient-7", ExternalState: "visit-9"},
			Institution: flow.Institution{EndpointID: endpointID, BrandID: brandID, PortalID: portalID, PlatformType: "sandbox"},
			Server: flow.Server{
				FHIRBase: fhirBase, Issuer: issuer, IssRequired: true,
				AuthorizationEndpoint: "https://ehr.example/authorize",
				TokenEndpoint:         "https://ehr.example/token",
			},
			Client:     flow.Client{ClientID: "client", Callback: callbackURI},
			Parameters: flow.Parameters{Aud: fhirBase, Scope: "launch/patient patient/*.rs"},
			Secrets:    flow.Secrets{Verifier: attempt.Verifier},
		}
		if diff := cmp.Diff(wantAttempt, attempt); diff != "" {
			t.Errorf("attempt (-want +got):\n%s", diff)
		}
		wantAsked := flow.Authorization{
			Endpoint: "https://ehr.example/authorize", ClientID: "client", RedirectURI: callbackURI,
			Scope: "launch/patient patient/*.rs", State: w.asked.State, Aud: fhirBase, Challenge: "challenge",
		}
		if diff := cmp.Diff(wantAsked, w.asked); diff != "" {
			t.Errorf("authorization (-want +got):\n%s", diff)
		}
		if started.URL != "https://ehr.example/authorize?state="+w.asked.State || started.CookieAge != lifetime {
			t.Errorf("started %s, cookie for %v", started.URL, started.CookieAge)
		}
	})
}

func TestStoredAttemptContainsNoStateCookieOrVerifier(t *testing.T) {
	t.Parallel()
	w := newWorld()
	started, err := w.starter().Start(t.Context(), request(t))
	if err != nil {
		t.Fatal(err)
	}
	stored := cmp.Diff(w.attempts, nil) + cmp.Diff(w.states, nil) +
		string(w.attempts[w.states[hash(w.asked.State)].AttemptID].Verifier)
	for name, text := range map[string]string{
		"state": w.asked.State, "cookie": started.CookieValue.Reveal(),
		"verifier": verifier,
	} {
		if text == "" || strings.Contains(stored, text) {
			t.Errorf("the %s stands in the store in the clear", name)
		}
	}
	if strings.Contains(started.URL, started.CookieValue.Reveal()) {
		t.Error("the cookie stands in the address")
	}
}

func TestAttemptsHaveDistinctStatesAndCookies(t *testing.T) {
	t.Parallel()
	w := newWorld()
	seen := map[string]bool{}
	for range 20 {
		started, err := w.starter().Start(t.Context(), request(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{w.asked.State, started.CookieValue.Reveal(), started.CookieName} {
			if seen[value] {
				t.Fatalf("%q came twice", value)
			}
			seen[value] = true
		}
		if _, random, _ := strings.Cut(started.CookieValue.Reveal(), "."); len(w.asked.State) != 43 || len(random) != 43 {
			t.Errorf("state %q, cookie %q: want 256 bits", w.asked.State, started.CookieValue.Reveal())
		}
		if started.CookieName != binding.CookieName(w.asked.State) || !strings.HasPrefix(started.CookieName, "attempt-") {
			t.Errorf("cookie name %q", started.CookieName)
		}
	}
}

func TestStartRejectsInvalidRequestBeforeStoring(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flow.Request){
		"no endpoint":             func(r *flow.Request) { r.EndpointID = "" },
		"no UUID":                 func(r *flow.Request) { r.EndpointID = "endpoint-1" },
		"an unknown endpoint":     func(r *flow.Request) { r.EndpointID = "e0000000-0000-4000-8000-0000000000ff" },
		"a suspended endpoint":    func(r *flow.Request) { r.EndpointID = suspendedID },
		"another mode's endpoint": func(r *flow.Request) { r.EndpointID = liveID },
		"not registered there":    func(r *flow.Request) { r.EndpointID = strangerID },
		"another brand":           func(r *flow.Request) { r.BrandID = portalID },
		"another portal":          func(r *flow.Request) { r.PortalID = brandID },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), request(t)
			change(&r)
			_, err := w.starter().Start(t.Context(), r)
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			if len(w.attempts)+len(w.states) != 0 {
				t.Error("something was stored")
			}
		})
	}
}

func TestStartReturnsIdenticalErrorForUnavailableEndpoints(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{}
	for _, id := range []string{"e0000000-0000-4000-8000-0000000000ff", suspendedID, liveID} {
		r := request(t)
		r.EndpointID = id
		_, err := newWorld().starter().Start(t.Context(), r)
		texts[fault.Of(err).Public] = true
	}
	if len(texts) != 1 {
		t.Errorf("they can be told apart: %v", texts)
	}
}

func TestStartAcceptsIDsInAnyCaseAndOptionalBrandAndPortal(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flow.Request){
		"upper case": func(r *flow.Request) {
			r.EndpointID, r.BrandID, r.PortalID = strings.ToUpper(endpointID), strings.ToUpper(brandID),
				strings.ToUpper(portalID)
		},
		"omitted": func(r *flow.Request) { r.BrandID, r.PortalID = "", "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), request(t)
			change(&r)
			w.start(t, r)
			for _, attempt := range w.attempts {
				if attempt.EndpointID != endpointID || attempt.BrandID != brandID || attempt.PortalID != portalID {
					t.Errorf("stored %s %s %s", attempt.EndpointID, attempt.BrandID, attempt.PortalID)
				}
			}
		})
	}
}

// TestStartAcceptsInstitutionListedForEndpoint checks that a connection belongs to the practice that the patient chose,
// identified by its current ID or a former one. Thousands of practices can share one server.
func TestStartAcceptsInstitutionListedForEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		several       bool
		brand, portal string
		refused       bool
	}{
		"one of several":                  {several: true, brand: strings.ToUpper(brandID), portal: portalID},
		"a merged one of several":         {several: true, brand: mergedID, portal: formerID},
		"a merged brand":                  {brand: mergedID},
		"a merged portal":                 {portal: formerID},
		"several, no brand":               {several: true, portal: portalID, refused: true},
		"several, no portal":              {several: true, brand: brandID, refused: true},
		"several, a portal that is no id": {several: true, brand: brandID, portal: "portal-1", refused: true},
		"several, another's portal":       {several: true, brand: brandID, portal: foreignID, refused: true},
		"several, a foreign brand":        {several: true, brand: foreignID, portal: portalID, refused: true},
		"a foreign brand":                 {brand: foreignID, refused: true},
		"a brand that is no id":           {brand: "brand#1", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), request(t)
			w.several, r.BrandID, r.PortalID = c.several, c.brand, c.portal
			_, err := w.starter().Start(t.Context(), r)
			if c.refused {
				wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			} else if err != nil {
				t.Error(err)
			}
			for _, attempt := range w.attempts {
				if c.refused || attempt.BrandID != brandID || attempt.PortalID != portalID {
					t.Errorf("stored %s %s", attempt.BrandID, attempt.PortalID)
				}
			}
		})
	}
}

func TestStartDiscardsAttemptOnFailure(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{
		"Endpoint", "Registration", "Profile", "NewVerifier", "Seal", "AuthorizeURL",
		"BeginAttempt",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.broken = broken
			_, err := w.starter().Start(t.Context(), request(t))
			if !errors.Is(err, errTrouble) || len(w.attempts)+len(w.states) != 0 {
				t.Errorf("got %v with %d attempts and %d states", err, len(w.attempts), len(w.states))
			}
			wantFault(t, err, fault.Internal, fault.CodeServerError)
		})
	}
	t.Run("no random bytes", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		starter := w.starter()
		starter.Random = iotest.ErrReader(errTrouble)
		if _, err := starter.Start(t.Context(), request(t)); !errors.Is(err, errTrouble) ||
			len(w.attempts)+len(w.states) != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("too few random bytes", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		starter := w.starter()
		starter.Random = strings.NewReader("short, but enough for one value")
		if _, err := starter.Start(t.Context(), request(t)); err == nil || len(w.attempts)+len(w.states) != 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestStartPreservesDiscoveryErrorKind(t *testing.T) {
	t.Parallel()
	for _, want := range []*fault.Error{
		fault.New(fault.Unavailable, fault.CodeUnavailable, "It did not answer."),
		fault.New(fault.Upstream, fault.CodeServerError, "It cannot be used."),
	} {
		w := newWorld()
		w.discover = want
		_, err := w.starter().Start(t.Context(), request(t))
		wantFault(t, err, want.Kind, want.Code)
		if len(w.attempts)+len(w.states) != 0 {
			t.Error("something was stored")
		}
	}
}
