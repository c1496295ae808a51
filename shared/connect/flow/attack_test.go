package flow_test

import (
	"context"
	"maps"
	"strconv"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// strict is a portal that binds each code to the challenge in its authorization request (RFC 7636 section 4.6).
type strict struct {
	*world

	made  int
	codes map[string]string // maps an authorization code to its PKCE challenge
}

func (p *strict) NewVerifier() (verifier secret.Text, challenge string, err error) {
	p.made++
	value := "verifier " + strconv.Itoa(p.made)
	return secret.New(value), hash(value), nil
}

func (p *strict) AuthorizeURL(r flow.Authorization) (string, error) {
	p.codes["code for "+r.State] = r.Challenge
	return p.world.AuthorizeURL(r)
}

func (p *strict) Exchange(ctx context.Context, grant flow.Grant) (tokens.Set, error) {
	challenge, ok := p.codes[grant.Code.Reveal()]
	delete(p.codes, grant.Code.Reveal())
	if !ok || challenge != hash(grant.Verifier.Reveal()) {
		return tokens.Set{}, &flow.PortalError{Code: "invalid_grant"}
	}
	return p.world.Exchange(ctx, grant)
}

func (p *strict) at(t *testing.T, r flow.Request) browser {
	t.Helper()
	starter := p.starter()
	starter.Portal = p
	started, err := starter.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return browser{state: p.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
}

func (p *strict) complete(t *testing.T, r flow.Return) (flow.Completed, error) {
	t.Helper()
	completer := p.completer(t)
	completer.Portal = p
	return completer.Complete(t.Context(), r)
}

func newStrict() *strict { return &strict{world: newWorld(), codes: map[string]string{}} }

func TestCompleteRejectsCodeIssuedForAnotherAttempt(t *testing.T) {
	t.Parallel()
	p := newStrict()
	victim, attacker := p.at(t, request(t)), p.at(t, request(t))
	injected := attacker.back() // attacker's browser and state with the victim's code
	injected.Code = secret.New("code for " + victim.state)
	done, err := p.complete(t, injected)
	wantFault(t, err, fault.Upstream, "invalid_grant")
	wantNoConnection(t, p.world)
	if done.Result != nil || len(p.conns) != 0 {
		t.Errorf("completed %+v with %d connections", done, len(p.conns))
	}
	own := victim.back()
	own.Code = secret.New("code for " + victim.state)
	if _, err := p.complete(t, own); err == nil {
		t.Error("the portal gave tokens for a code that was used before")
	}
}

func TestCompleteAcceptsCodeIssuedForSameAttempt(t *testing.T) {
	t.Parallel()
	p := newStrict()
	b := p.at(t, request(t))
	r := b.back()
	r.Code = secret.New("code for " + b.state)
	if _, err := p.complete(t, r); err != nil {
		t.Error(err)
	}
}

func TestReplayedCallbackDoesNotCreateSecondConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.start(t, request(t)).back()
	if _, err := w.completer(t).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		done, err := w.completer(t).Complete(t.Context(), r)
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
		if done.Redirect.URI() != "" || len(w.conns) != 1 || len(w.grants) != 1 {
			t.Errorf("completed %+v, %d connections after %d exchanges", done, len(w.conns), len(w.grants))
		}
	}
}

// TestCompleteRejectsCallbackFromAnotherBrowser covers an attacker who starts an attempt and has the victim complete
// it. The attacker must not get the victim's records.
func TestCompleteRejectsCallbackFromAnotherBrowser(t *testing.T) {
	t.Parallel()
	for _, widget := range []bool{false, true} {
		w := newWorld()
		begin := func() browser {
			if widget {
				return w.leave(t, w.create(t, widgetRequest(t)).Start)
			}
			return w.start(t, request(t))
		}
		attacker, victim := begin(), begin()
		for name, cookies := range map[string]map[string]string{
			"none": {}, "the victim's own": victim.cookies, "the victim's under the attacker's name": renamed(attacker, victim),
		} {
			fixed := attacker
			fixed.cookies = cookies
			done, err := w.completer(t).Complete(t.Context(), fixed.back())
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			if done.Redirect.URI() != "" || done.InWidget || len(w.grants) != 0 {
				t.Errorf("%s: completed %+v after %d exchanges", name, done, len(w.grants))
			}
		}
	}
}

// renamed returns b's cookie under the name of a's cookie.
func renamed(a, b browser) map[string]string {
	cookies := map[string]string{}
	for name := range maps.Keys(a.cookies) {
		for value := range maps.Values(b.cookies) {
			cookies[name] = value
		}
	}
	return cookies
}

// TestCompleteSendsResultToOrganisationOwningState checks that the browser that presents the state does not affect
// where the result is sent.
func TestCompleteSendsResultToOrganisationOwningState(t *testing.T) {
	t.Parallel()
	w := newWorld()
	other := request(t)
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{"https://other.example/back"}, "")
	if err != nil {
		t.Fatal(err)
	}
	other.Redirect, other.ExternalState = redirect, "of the other"
	first, second := w.start(t, request(t)), w.start(t, other)
	both := maps.Clone(first.cookies)
	maps.Copy(both, second.cookies)
	for _, c := range []struct {
		b        browser
		redirect string
	}{{first, redirectURI}, {second, "https://other.example/back"}} {
		c.b.cookies = both
		done, err := w.completer(t).Complete(t.Context(), c.b.back())
		if err != nil || done.Redirect.URI() != c.redirect {
			t.Errorf("got %v, to %s, want %s", err, done.Redirect.URI(), c.redirect)
		}
	}
}
