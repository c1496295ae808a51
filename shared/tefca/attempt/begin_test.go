package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// refused checks that err has the given kind and names the given field.
func refused(t *testing.T, what string, err error, kind fault.Kind, field string) {
	t.Helper()
	if err == nil || !errors.Is(err, kind) || fault.Of(err).Field != field {
		t.Errorf("%s: %v (field %q), want %s about %q", what, err, fault.Of(err).Field, kind, field)
	}
}

func TestCreateRejectsForbiddenOrInvalidRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(r *attempt.Request)
		kind   fault.Kind
		field  string
	}{
		"live mode on the free plan": {func(r *attempt.Request) { r.Tenant.Mode = org.Live }, fault.Forbidden, ""},
		"live mode of nobody": {
			func(r *attempt.Request) { r.Tenant.Mode, r.PublicID = org.Live, "x" },
			fault.NotFound, "",
		},
		"live mode without a provider": {
			func(r *attempt.Request) { r.Tenant.Mode, r.PublicID = org.Live, "paid" },
			fault.Invalid, "public_id",
		},
		"an unknown provider": {func(r *attempt.Request) { r.Provider = "x" }, fault.Invalid, "provider"},
		"too long an external id": {
			func(r *attempt.Request) { r.ExternalID = strings.Repeat("x", 513) }, fault.Invalid,
			"external_id",
		},
	} {
		r := wanted("x")
		c.change(&r)
		_, err := w.create(t.Context(), attemptID, r)
		refused(t, name, err, c.kind, c.field)
	}
}

func TestCreateStoresRequestWithNewIDAndToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.create(t.Context(), attemptID, wanted("x"))
	expect.NoError(t, err)
	_, err = w.watcher().Progress(t.Context(), tenant, made.AttemptID, made.Token)
	expect.NoError(t, err)
	if a := w.attempt(t, attemptID); made.AttemptID != attemptID || made.Token.Reveal() != pageToken().Reveal() ||
		!made.ExpiresAt.Equal(start.Add(30*time.Minute)) || !made.ExpiresAt.Equal(a.ExpiresAt) ||
		a.CreatedAt != start || a.ExternalID != "x" || a.ExternalState != "visit-9" || a.RequestID != "request-1" {
		t.Errorf("it is %+v, stored as %+v", made, a)
	}
	_, err = w.create(t.Context(), attemptID, wanted("x"))
	refused(t, "an id that is taken", err, fault.Conflict, "")
}

func TestLeaveAcceptsStartValueOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.create(t.Context(), attemptID, wanted("x"))
	expect.NoError(t, err)
	_, err = w.starter().Leave(t.Context(), secret.New(binding.Hash(made.Start.Reveal())))
	refused(t, "the hash of a start value", err, fault.Invalid, "")
	gone := w.starter()
	gone.Settings = map[org.Mode]attempt.Setting{org.Test: {Providers: []identity.Provider{{ID: "other"}}}, org.Live: {}}
	_, err = gone.Leave(t.Context(), made.Start)
	refused(t, "a provider that is gone", err, fault.Invalid, "")
	started, err := w.starter().Leave(t.Context(), made.Start)
	expect.NoError(t, err)
	a := w.attempt(t, attemptID)
	if a.Status != attempt.Open || a.Authority.Provider.ID != "simulated" ||
		started.URL != "https://id.example/authorize" || started.CookieAge != 30*time.Minute {
		t.Errorf("it is %+v, started as %+v", a, started)
	}
	_, err = w.starter().Leave(t.Context(), made.Start)
	refused(t, "a start value that is used", err, fault.Invalid, "")
	r := wanted("x")
	r.Provider = "other"
	raced, err := w.create(t.Context(), "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", r)
	expect.NoError(t, err)
	late := w.starter()
	late.Party = between{Party: w, act: func() {
		_, first := w.starter().Leave(t.Context(), raced.Start)
		expect.NoError(t, first)
	}}
	_, err = late.Leave(t.Context(), raced.Start)
	refused(t, "the second of two at once", err, fault.Invalid, "")
	if a := w.attempt(t, raced.AttemptID); a.Authority.Provider.ID != "other" {
		t.Errorf("the first has left for %+v", a.Authority.Provider)
	}
}

// between is a Party that calls a function before each sign-in begins.
type between struct {
	attempt.Party

	act func()
}

func (b between) Begin(ctx context.Context, provider identity.Provider,
	request identity.Request,
) (string, identity.Authority, error) {
	b.act()
	return b.Party.Begin(ctx, provider, request)
}

func TestCompleteFailsAttemptWhenCallbackIsInvalid(t *testing.T) {
	t.Parallel()
	declined := func(_ context.Context, back identity.Return) error {
		if back.Error != "access_denied" || back.Issuer != "https://id.example" {
			return errTrouble
		}
		return identity.Refused(back.Error, nil)
	}
	busy := fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy.")
	for name, c := range map[string]struct {
		exchange func(context.Context, identity.Return) error
		passes   time.Duration
		broken   func(*attempt.Completer)
		code     fault.Code
		cause    string
		action   string // the suggested action, or part of it
	}{
		"the patient declines": {
			exchange: declined, code: "access_denied", cause: "declined",
			action: "choose another provider",
		},
		"it is down": {exchange: func(context.Context,
			identity.Return,
		) error {
			return identity.Unavailable(nil)
		}, code: fault.CodeServerError, cause: "provider_unavailable", action: "did not respond"},
		"the identity has ended": {
			passes: 15 * time.Minute, code: fault.CodeTokenExchange, cause: "identity_expired",
			action: "verify again",
		},
		"we fail": {exchange: func(context.Context, identity.Return) error {
			return fault.New(fault.Internal, "svc_odd", "SECRET").Because(errTrouble)
		}, code: fault.CodeServerError, cause: "internal", action: "request ID"},
		"the seal does not open": {
			broken: func(c *attempt.Completer) { c.Verifiers = brokenSealer{err: errTrouble} },
			code:   fault.CodeServerError, cause: "internal", action: "request ID",
		},
		"nothing can be sealed": {
			broken: func(c *attempt.Completer) { c.Assertions = brokenSealer{err: busy} },
			code:   fault.CodeServerError, cause: "internal", action: "request ID",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			back := w.left(t, attemptID, "x")
			back.Error = "access_denied"
			w.exchange = c.exchange
			w.pass(c.passes)
			completer := w.completer()
			if c.broken != nil {
				c.broken(&completer)
			}
			done, err := completer.Complete(t.Context(), back)
			a := w.attempt(t, attemptID)
			if !done.Known || err == nil || a.Status != attempt.Failed || len(a.Verifier)+len(a.Assertion) != 0 ||
				!a.DueAt.IsZero() || len(w.enqueued) != 0 {
				t.Errorf("known: %t, %v; the attempt is %+v", done.Known, err, a)
			}
			w.pass(time.Hour) // A failed attempt does not expire.
			p, err := w.watcher().Progress(t.Context(), tenant, attemptID, pageToken())
			expect.NoError(t, err)
			if f := p.Failure; p.Status != attempt.Failed || f == nil || f.Error != string(c.code) || f.Cause != c.cause ||
				f.RequestID != "return-1" ||
				f.ExternalState != "visit-9" || !strings.Contains(f.SuggestedAction, c.action) || f.Description == "" ||
				strings.Contains(f.Description, "SECRET") {
				t.Errorf("the page is told %+v: %+v", p, f)
			}
		})
	}
}

// TestIdentityExpiresWithTokenOrAttempt checks when the identity expires, that it is encrypted for the attempt, and
// that the network query is queued at once.
func TestIdentityExpiresWithTokenOrAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lasts, ends time.Duration }{
		{15 * time.Minute, 15 * time.Minute},
		{24 * time.Hour, 30 * time.Minute},
	} {
		w := newWorld(t)
		w.lasts = c.lasts
		w.exchange = func(ctx context.Context, _ identity.Return) error {
			if _, ok := ctx.Deadline(); !ok {
				return errTrouble // the deadline leaves time to respond to the browser
			}
			return nil
		}
		back := w.left(t, attemptID, "x")
		w.pass(time.Second)
		_, err := w.completer().Complete(t.Context(), back)
		expect.NoError(t, err)
		a := w.attempt(t, attemptID)
		if a.Status != attempt.Locating || !a.IdentityEnds.Equal(start.Add(c.ends)) || !a.DueAt.Equal(w.time()) ||
			len(a.Verifier) != 0 || fmt.Sprint(w.enqueued) != "["+attemptID+"]" {
			t.Errorf("it is %+v; enqueued are %v", a, w.enqueued)
		}
		_, err = plainSealer{}.Open(t.Context(), tenant, "identity-assertion|"+tenant.Key()+"|"+attemptID, a.Assertion)
		expect.NoError(t, err)
		_, err = w.completer().Complete(t.Context(), back)
		refused(t, "a return that was used", err, fault.Invalid, "state")
	}
}

// TestCompleteFailsWhenIdentityCannotBeStored checks that the browser receives no success response.
func TestCompleteFailsWhenIdentityCannotBeStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	back := w.left(t, attemptID, "x")
	before := w.attempt(t, attemptID)
	w.exchange = func(ctx context.Context, _ identity.Return) error {
		return w.rows.SaveAttempt(ctx, before) // simulates a concurrent change
	}
	if done, err := w.completer().Complete(t.Context(), back); done.Known || err == nil || len(w.enqueued) != 0 {
		t.Errorf("known: %t, %v; enqueued are %v", done.Known, err, w.enqueued)
	}
}

type brokenSealer struct {
	tokens.Sealer

	err error
}

func (s brokenSealer) Seal(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, s.err
}

func (s brokenSealer) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, s.err
}
