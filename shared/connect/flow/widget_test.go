package flow_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// widgetRequest returns a widget's request, which has no redirect.
func widgetRequest(t *testing.T) flow.Request {
	t.Helper()
	r := request(t)
	r.Redirect = org.VerifiedRedirect{}
	return r
}

func (w *world) create(t *testing.T, r flow.Request) flow.Prepared {
	t.Helper()
	prepared, err := w.creator().Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return prepared
}

// leave redeems a start value and returns the browser after its redirect to the portal.
func (w *world) leave(t *testing.T, start secret.Text) browser {
	t.Helper()
	started, err := w.starter().Leave(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	return browser{state: w.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
}

func (w *world) progress(t *testing.T, p flow.Prepared) flow.Progress {
	t.Helper()
	got, err := flow.Watcher{Attempts: w, Now: time.Now}.Progress(t.Context(), tenant, p.AttemptID, p.Token)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWidgetAttemptCompletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.scope = "openid patient/*.rs"
		p := w.create(t, widgetRequest(t))
		if got := w.progress(t, p); got.Status != flow.Created || p.ExpiresAt != time.Now().Add(lifetime) {
			t.Errorf("%+v until %v", got, p.ExpiresAt)
		}
		<-time.After(10 * time.Minute)
		b := w.leave(t, p.Start)
		if got := w.progress(t, p); got.Status != flow.Open {
			t.Errorf("after leaving: %+v", got)
		}
		attempt := w.attempts[p.AttemptID]
		if p.EndpointID != attempt.EndpointID || p.PortalID != attempt.PortalID || p.BrandID != attempt.BrandID ||
			p.BrandID == "" {
			t.Errorf("the widget is told that it leads to %+v", p)
		}
		if state := w.states[hash(b.state)]; state.ExpiresAt != p.ExpiresAt || attempt.NonceHash != hash(w.asked.Nonce) ||
			w.asked.Nonce == "" {
			t.Errorf("state until %v, nonce %q pinned as %q", state.ExpiresAt, w.asked.Nonce, attempt.NonceHash)
		}
		done, err := w.completer(t).Complete(t.Context(), b.back())
		if err != nil || !done.InWidget || done.Redirect.URI() != "" {
			t.Fatalf("got %v, completed %+v", err, done)
		}
		want := flow.Progress{AttemptID: p.AttemptID, Status: flow.Done, Result: done.Result}
		if diff := cmp.Diff(want, w.progress(t, p)); diff != "" || done.Result.Get("scope") != "patient/*.read" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		<-time.After(lifetime)
		if got := w.progress(t, p); got.Status != flow.Done {
			t.Errorf("what is done expired: %+v", got)
		}
	})
}

func TestCompleteStoresPatientInitialsOnlyForWidget(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.initials = "A. S."
	p := w.create(t, widgetRequest(t))
	done, err := w.completer(t).Complete(t.Context(), w.leave(t, p.Start).back())
	if got := w.progress(t, p); err != nil || got.Initials != "A. S." || strings.Contains(done.Result.Encode(), "A.+S.") {
		t.Errorf("%v, widget %+v, result %v", err, got, done.Result)
	}
	if _, err = w.completer(t).Complete(t.Context(), w.start(t, request(t)).back()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p1"}, w.named); diff != "" {
		t.Errorf("patients whose names were read (-want +got):\n%s", diff)
	}
	for _, c := range w.concluded {
		for _, event := range c.Events {
			if strings.Contains(string(event.Body), "A. S.") {
				t.Errorf("event %s contains the initials", event.Type)
			}
		}
	}
}

func TestProgressMatchesBrowserResult(t *testing.T) {
	t.Parallel()
	for sent, cause := range map[string]string{"access_denied": "declined", "invalid_scope": "invalid_scope"} {
		w := newWorld()
		p := w.create(t, widgetRequest(t))
		r := w.leave(t, p.Start).back()
		r.Error = sent
		done, err := w.completer(t).Complete(t.Context(), r)
		wantFault(t, err, fault.Upstream, fault.Code(sent))
		got := w.progress(t, p)
		if got.Status != flow.Failed || got.Result != nil || got.Failure == nil || !done.InWidget {
			t.Fatalf("progress %+v, completed %+v", got, done)
		}
		if len(got.Failure.SuggestedAction) < 20 {
			t.Errorf("suggested action %q", got.Failure.SuggestedAction)
		}
		got.Failure.SuggestedAction = ""
		want := binding.Failure{
			Error: sent, Description: fault.Of(err).Public, RequestID: "return-1", ExternalState: "visit-9",
			PlatformType: "sandbox", Cause: cause,
		}
		if diff := cmp.Diff(want, *got.Failure); diff != "" {
			t.Errorf("failure (-want +got):\n%s", diff)
		}
	}
}

func TestProgressReportsExpiredAttempt(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"created": false, "open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				p := w.create(t, widgetRequest(t))
				if leaves {
					w.leave(t, p.Start)
				}
				<-time.After(lifetime - time.Second)
				if got := w.progress(t, p).Status; string(got) != name {
					t.Errorf("a second before: %s", got)
				}
				<-time.After(time.Second)
				if got := w.progress(t, p); got.Status != flow.Expired || got.Failure != nil {
					t.Errorf("after: %+v", got)
				}
			})
		})
	}
}

func TestWidgetCookieExpiresWithAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.create(t, widgetRequest(t))
		<-time.After(10 * time.Minute)
		started, err := w.starter().Leave(t.Context(), p.Start)
		if err != nil || started.CookieAge != 20*time.Minute || !strings.HasPrefix(started.CookieName, "attempt-") {
			t.Errorf("got %v, cookie %s for %v", err, started.CookieName, started.CookieAge)
		}
	})
}

func TestCreateReportsConfigurationErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flow.Request){
		"no endpoint":         func(r *flow.Request) { r.EndpointID = "" },
		"suspended":           func(r *flow.Request) { r.EndpointID = suspendedID },
		"not registered":      func(r *flow.Request) { r.EndpointID = strangerID },
		"another brand":       func(r *flow.Request) { r.BrandID = portalID },
		"a foreign reconnect": func(r *flow.Request) { r.Reconnect = connID },
	} {
		w, r := newWorld(), widgetRequest(t)
		change(&r)
		_, err := w.creator().Create(t.Context(), r)
		if wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest); len(w.attempts)+len(w.tickets) != 0 {
			t.Errorf("%s: something was stored", name)
		}
	}
	w := newWorld()
	w.discover = fault.New(fault.Unavailable, fault.CodeUnavailable, "It did not answer.")
	_, err := w.creator().Create(t.Context(), widgetRequest(t))
	wantFault(t, err, fault.Unavailable, fault.CodeUnavailable)
}

func TestLeaveUsesParametersPinnedAtCreation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	w.authority = flow.Authority{
		AuthorizationEndpoint: "https://evil.example/authorize",
		TokenEndpoint:         "https://evil.example/token",
	}
	w.profile, w.scope = flow.Profile{Aud: "https://evil.example"}, "everything"
	b := w.leave(t, p.Start)
	want := flow.Authorization{
		Endpoint: "https://ehr.example/authorize", ClientID: "client", RedirectURI: callbackURI,
		Scope: "launch/patient patient/*.rs", State: b.state, Aud: fhirBase, Challenge: "challenge",
	}
	if diff := cmp.Diff(want, w.asked); diff != "" {
		t.Errorf("authorization (-want +got):\n%s", diff)
	}
}

func TestStoreContainsNoWidgetSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	stored := cmp.Diff(w.attempts, nil) + cmp.Diff(w.tickets, nil)
	for name, value := range map[string]string{"token": p.Token.Reveal(), "start value": p.Start.Reveal()} {
		if len(value) != 43 || strings.Contains(stored, value) {
			t.Errorf("the %s of %d characters stands in the store, or is short", name, len(value))
		}
	}
}

func TestStartValueIsSingleUse(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	starter := w.starter()
	w.profile.Aud = "" // browsers leave concurrently, so w.asked is not read below
	var browsers sync.WaitGroup
	results := make([]error, 10)
	starter.Portal = silentPortal{w}
	for i := range results {
		browsers.Go(func() { _, results[i] = starter.Leave(t.Context(), p.Start) })
	}
	browsers.Wait()
	left := 0
	for _, err := range results {
		if err == nil {
			left++
			continue
		}
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	}
	if left != 1 || len(w.states) != 1 {
		t.Errorf("%d left with %d states, want one", left, len(w.states))
	}
}

func TestLeaveRejectsInvalidStartValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.create(t, widgetRequest(t))
		for _, value := range []string{"", "made up", hash(p.Start.Reveal()), p.Token.Reveal(), p.AttemptID} {
			_, err := w.starter().Leave(t.Context(), secret.New(value))
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
		}
		<-time.After(lifetime)
		_, err := w.starter().Leave(t.Context(), p.Start)
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
		if len(w.states) != 0 {
			t.Errorf("%d states", len(w.states))
		}
	})
}

func TestStartValueSurvivesInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	for _, broken := range []string{"Ticket", "Attempt", "NewVerifier", "Seal", "AuthorizeURL", "OpenAttempt"} {
		w.broken = broken
		_, err := w.starter().Leave(t.Context(), p.Start)
		if wantFault(t, err, fault.Internal, fault.CodeServerError); len(w.states) != 0 {
			t.Errorf("%s: a state was stored", broken)
		}
	}
	w.broken = ""
	w.leave(t, p.Start)
	w.broken = "CreateAttempt"
	_, err := w.creator().Create(t.Context(), widgetRequest(t))
	wantFault(t, err, fault.Internal, fault.CodeServerError)
}

func TestProgressRequiresAttemptToken(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p, other := w.create(t, widgetRequest(t)), w.create(t, widgetRequest(t))
	b := w.start(t, request(t)) // a redirect-mode attempt, which has no token
	redirected := w.states[hash(b.state)].AttemptID
	watcher := flow.Watcher{Attempts: w, Now: time.Now}
	stranger := org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}
	texts := map[string]bool{}
	for name, c := range map[string]struct {
		tenant org.Tenant
		id     string
		token  secret.Text
	}{
		"no token":               {tenant, p.AttemptID, secret.Text{}},
		"a guess":                {tenant, p.AttemptID, secret.New("guess")},
		"another's":              {tenant, p.AttemptID, other.Token},
		"the start value":        {tenant, p.AttemptID, p.Start},
		"the hash":               {tenant, p.AttemptID, secret.New(hash(p.Token.Reveal()))},
		"a longer one":           {tenant, p.AttemptID, secret.New(p.Token.Reveal() + "A")},
		"the other mode":         {stranger, p.AttemptID, p.Token},
		"an unknown attempt":     {tenant, connID, p.Token},
		"no UUID":                {tenant, p.AttemptID + "#", p.Token},
		"redirect mode, nothing": {tenant, redirected, secret.Text{}},
		"redirect mode, a token": {tenant, redirected, p.Token},
	} {
		got, err := watcher.Progress(t.Context(), c.tenant, c.id, c.token)
		if wantFault(t, err, fault.NotFound, fault.CodeNotFound); got.Status != "" {
			t.Errorf("%s: %+v", name, got)
		}
		texts[fault.Of(err).Public] = true
	}
	if len(texts) != 1 {
		t.Errorf("they can be told apart: %v", texts)
	}
	w.broken = "Attempt"
	_, err := watcher.Progress(t.Context(), tenant, p.AttemptID, p.Token)
	wantFault(t, err, fault.Internal, fault.CodeServerError)
}

// silentPortal builds URLs without recording them, so that many browsers can be redirected concurrently.
type silentPortal struct{ *world }

func (silentPortal) AuthorizeURL(r flow.Authorization) (string, error) { return r.Endpoint, nil }

// TestCreateReportsPortalOutage checks that an error for a portal's outage states a cause and that an error for a
// failure of this service states none.
func TestCreateReportsPortalOutage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.Upstream, fault.CodeUnavailable, "The health system did not respond."), "portal_unavailable"},
		{fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy."), "portal_unavailable"},
		{errTrouble, ""},
		{fault.Stale(), ""},
	} {
		w := newWorld()
		w.discover = c.err
		_, err := w.creator().Create(t.Context(), widgetRequest(t))
		got := fault.Of(err)
		if err == nil || got.Cause != c.want || !errors.Is(err, c.err) || got.Code != fault.Of(c.err).Code {
			t.Errorf("%v: %v, cause %q", c.err, err, got.Cause)
		}
	}
	w := newWorld()
	r := widgetRequest(t)
	r.Reconnect = "c0000000-0000-4000-8000-00000000000f"
	if _, err := w.creator().Create(t.Context(), r); fault.Of(err).Cause != "connection_unknown" {
		t.Errorf("an invented connection: %v", err)
	}
}

// TestAttemptKeepsBrandingUntilCallback checks that all windows, including error windows, keep the appearance of the
// attempt's page.
func TestAttemptKeepsBrandingUntilCallback(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := widgetRequest(t)
	r.Look = binding.Look{Language: "es", Organisation: "Alder", Logo: "https://cdn.example/a.png", Accent: "#0a7d33"}
	p := w.create(t, r)
	w.broken = "AuthorizeURL"
	if started, err := w.starter().Leave(t.Context(), p.Start); err == nil || started.Look != r.Look {
		t.Errorf("an error: %+v, %v", started.Look, err)
	}
	w.broken = ""
	started, err := w.starter().Leave(t.Context(), p.Start)
	if err != nil || started.Look != r.Look {
		t.Errorf("leaving: %+v, %v", started.Look, err)
	}
	b := browser{state: w.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
	done, err := w.completer(t).Complete(t.Context(), b.back())
	if err != nil || done.Look != r.Look {
		t.Errorf("returning: %+v, %v", done.Look, err)
	}
}
