package flow_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// counted returns the sign-ins that act counts, by outcome.
func counted(t *testing.T, act func(ctx context.Context)) map[string]int {
	t.Helper()
	var log bytes.Buffer
	ctx, event := logx.Begin(t.Context())
	act(ctx)
	event.Emit(ctx, logx.New(&log), "test")
	all := measured.In(t, log.Bytes())
	maps.DeleteFunc(all, func(name string, _ int) bool { return !strings.HasPrefix(name, "SignIns ") })
	return all
}

func wantCounted(t *testing.T, name string, got map[string]int, outcomes ...string) {
	t.Helper()
	want := map[string]int{}
	for _, one := range outcomes {
		want["SignIns "+one]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestCauseHasOutcomeForEachFlowFailure(t *testing.T) {
	t.Parallel()
	for cause := range flow.Causes() {
		if outcome, known := tally.Cause(cause).Outcome(); !known || outcome == "" {
			t.Errorf("package tally doesn't classify %q", cause)
		}
	}
}

func TestStartedSignInIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	wantCounted(t, "start", counted(t, func(ctx context.Context) {
		if _, err := w.starter().Start(ctx, request(t)); err != nil {
			t.Error(err)
		}
	}), "started")
	var p flow.Prepared
	wantCounted(t, "create", counted(t, func(ctx context.Context) {
		var err error
		if p, err = w.creator().Create(ctx, widgetRequest(t)); err != nil {
			t.Error(err)
		}
	}))
	wantCounted(t, "leave", counted(t, func(ctx context.Context) {
		if _, err := w.starter().Leave(ctx, p.Start); err != nil {
			t.Error(err)
		}
	}), "started")
}

func TestEndedSignInIsCountedOnceByPartyAtFault(t *testing.T) {
	t.Parallel()
	sent := func(code string) func(*world, *flow.Completer, *flow.Return) {
		return func(_ *world, _ *flow.Completer, r *flow.Return) { r.Error, r.Code = code, secret.Text{} }
	}
	exchanged := func(err error) func(*world, *flow.Completer, *flow.Return) {
		return func(w *world, _ *flow.Completer, _ *flow.Return) {
			w.exchange = func(context.Context) error { return err }
		}
	}
	failing := func(method string) func(*world, *flow.Completer, *flow.Return) {
		return func(w *world, _ *flow.Completer, _ *flow.Return) { w.broken = method }
	}
	for name, c := range map[string]struct {
		change func(*world, *flow.Completer, *flow.Return)
		want   []string
	}{
		"success":               {func(*world, *flow.Completer, *flow.Return) {}, []string{"connected"}},
		"declined":              {sent("access_denied"), []string{"patient"}},
		"the portal's error":    {sent("server_error"), []string{"portal"}},
		"a rejected client":     {sent("unauthorized_client"), []string{"service"}},
		"an unusable response":  {exchanged(errTrouble), []string{"portal"}},
		"no response":           {exchanged(context.DeadlineExceeded), []string{"portal"}},
		"an unproven client":    {exchanged(fault.Unavailable), []string{"service"}},
		"a key that fails":      {failing("Seal"), []string{"service"}},
		"a verifier's key":      {failing("Open"), []string{"service"}},
		"an unwritable table":   {failing("ConcludeAttempt"), []string{"service"}},
		"an unreadable state":   {failing("TakeState"), []string{"service"}},
		"an unreadable attempt": {failing("Attempt"), []string{"service"}},
		"a lost attempt": {func(w *world, _ *flow.Completer, _ *flow.Return) {
			clear(w.attempts)
		}, []string{"service"}},
		"an unusable redirect URI": {func(_ *world, c *flow.Completer, _ *flow.Return) {
			c.Own = weburl.Own{} // treats every host as the service's own
		}, []string{"service"}},
		"an unknown state": {func(_ *world, _ *flow.Completer, r *flow.Return) { r.State = "unknown" }, nil},
		"another browser": {func(_ *world, _ *flow.Completer, r *flow.Return) {
			r.Cookie = func(string) string { return "" }
		}, nil},
		"no state": {func(_ *world, _ *flow.Completer, r *flow.Return) { r.State = "" }, nil},
	} {
		w := newWorld()
		r, completer := w.start(t, request(t)).back(), w.completer(t)
		c.change(w, &completer, &r)
		wantCounted(t, name, counted(t, func(ctx context.Context) {
			if _, err := completer.Complete(ctx, r); (err == nil) != (name == "success") {
				t.Errorf("%s: %v", name, err)
			}
		}), c.want...)
		w.broken = ""
		if name == "success" || name == "declined" {
			wantCounted(t, name+", once more", counted(t, func(ctx context.Context) { _, _ = completer.Complete(ctx, r) }))
		}
	}
}

func TestCancellationIsCountedIfSignInHasStarted(t *testing.T) {
	t.Parallel()
	w := newWorld()
	canceler := flow.Canceler{Store: w, Now: time.Now}
	cancel := func(p flow.Prepared) func(context.Context) {
		return func(ctx context.Context) {
			if _, err := canceler.Cancel(ctx, tenant, p.AttemptID, p.Token, "cancel-1"); err != nil {
				t.Error(err)
			}
		}
	}
	unopened, opened := w.create(t, widgetRequest(t)), w.create(t, widgetRequest(t))
	r := w.leave(t, opened.Start).back()
	wantCounted(t, "before the window opens", counted(t, cancel(unopened)))
	wantCounted(t, "at the portal", counted(t, cancel(opened)), "patient")
	wantCounted(t, "repeated", counted(t, cancel(opened)))
	wantCounted(t, "returned", counted(t, func(ctx context.Context) { _, _ = w.completer(t).Complete(ctx, r) }))
}

func TestFailedStartIsCountedUnlessRequestIsWrong(t *testing.T) {
	t.Parallel()
	breaking := func(method string) func(*world, *flow.Request) {
		return func(w *world, _ *flow.Request) { w.broken = method }
	}
	for name, c := range map[string]struct {
		change func(*world, *flow.Request)
		want   []string
	}{
		"an unusable discovery": {func(w *world, _ *flow.Request) {
			w.discover = fault.New(fault.Unavailable, fault.CodeUnavailable, "Down.")
		}, []string{"started", "portal"}},
		"a moved portal": {func(w *world, _ *flow.Request) {
			w.authority.TokenEndpoint = "https://elsewhere.example/token"
		}, []string{"started", "portal"}},
		"a key that fails":    {breaking("Seal"), []string{"started", "service"}},
		"an unwritable table": {breaking("BeginAttempt"), []string{"started", "service"}},
		"an unreadable table": {breaking("Registration"), []string{"started", "service"}},
		"another organisation": {func(_ *world, r *flow.Request) {
			r.Caller.Tenant = org.Tenant{Mode: org.Test, OrgID: "b"}
		}, nil},
		"an unknown endpoint":   {func(_ *world, r *flow.Request) { r.EndpointID = "x" }, nil},
		"an unknown connection": {func(_ *world, r *flow.Request) { r.Reconnect = "x" }, nil},
	} {
		w, r := newWorld(), request(t)
		c.change(w, &r)
		wantCounted(t, name, counted(t, func(ctx context.Context) {
			_, err := w.starter().Start(ctx, r)
			if err == nil {
				t.Errorf("%s: it started", name)
				err = errors.New("none")
			}
			tally.NotStarted(ctx, err) // as the endpoints do
		}), c.want...)
	}
}
