package flow_test

import (
	"strings"
	"testing"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
)

// everyType returns a scope that contains Patient and more types than one request can hold.
func everyType() string {
	scopes := make([]string, 0, 100)
	scopes = append(scopes, "openid", "offline_access", "patient/Patient.rs", "patient/Observation.rs")
	for _, initial := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		for _, rest := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"} {
			scopes = append(scopes, "patient/"+string(initial)+rest+".rs")
		}
	}
	return strings.Join(scopes, " ")
}

func TestStartDropsLastListedTypesWhenRequestIsTooLong(t *testing.T) {
	t.Parallel()
	every := everyType()
	w := newWorld()
	w.scope, w.profile = "", flow.Profile{Aud: fhirBase, Scope: every, Listed: true}
	started, err := w.starter().Start(t.Context(), request(t))
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(started.URL, "?")
	if len(query) > flow.MaxQuery || len(query) < flow.MaxQuery-60 {
		t.Errorf("the query has %d bytes", len(query))
	}
	asked := w.asked.Scope
	if !strings.HasPrefix(every, asked+" ") || !strings.Contains(asked, "patient/Observation.rs") {
		t.Errorf("asked for %q", asked)
	}
	b := browser{state: w.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
	if _, err = w.completer(t).Complete(t.Context(), b.back()); err != nil {
		t.Fatal(err)
	}
	set, err := tokens.Vault{Sealer: w}.Open(t.Context(), w.concluded[0].Tokens)
	if err != nil || set.AskedScope != asked {
		t.Errorf("the connection remembers %q, %v", set.AskedScope, err)
	}
}

func TestStartNeverShortensConfiguredScopes(t *testing.T) {
	t.Parallel()
	every := everyType()
	for name, change := range map[string]func(w *world){
		"of the registration": func(w *world) { w.scope, w.profile.Listed = every, true },
		"of the profile":      func(w *world) { w.scope, w.profile.Scope = "", every },
	} {
		w := newWorld()
		change(w)
		w.start(t, request(t))
		if w.asked.Scope != every {
			t.Errorf("%s: asked for %q", name, w.asked.Scope)
		}
	}
}

func TestStartNeverDropsPatientOrRefreshTokens(t *testing.T) {
	t.Parallel()
	w := newWorld()
	base := "https://ehr.example/authorize?"
	w.authority.AuthorizationEndpoint = base + strings.Repeat("x", flow.MaxQuery)
	w.scope, w.profile = "", flow.Profile{
		Aud:   fhirBase,
		Scope: "openid patient/Patient.rs patient/Goal.rs patient/Device.rs", Listed: true,
	}
	w.start(t, request(t))
	if w.asked.Scope != "openid patient/Patient.rs" {
		t.Errorf("asked for %q", w.asked.Scope)
	}
}
