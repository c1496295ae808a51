package flow_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func (w *world) cancel(t *testing.T, p flow.Prepared) flow.Progress {
	t.Helper()
	got, err := flow.Canceler{Store: w, Now: time.Now}.Cancel(t.Context(), tenant, p.AttemptID, p.Token, "cancel-1")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantCancelled(t *testing.T, got flow.Progress) {
	t.Helper()
	want := flow.Progress{AttemptID: got.AttemptID, Status: flow.Failed, Failure: &binding.Failure{
		Error: "access_denied", Description: "The patient cancelled the sign-in. Nothing was shared.",
		RequestID: "cancel-1", ExternalState: "visit-9", PlatformType: "sandbox", Cause: "cancelled",
		SuggestedAction: "No action needed. The patient can start again at any time.",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// checkNothingMade checks that no connection, token or event exists and that the portal did not receive a code.
func (w *world) checkNothingMade(t *testing.T) {
	t.Helper()
	if len(w.conns) != 0 || len(w.rows) != 0 || len(w.concluded) != 0 || len(w.enqueued) != 0 {
		t.Errorf("connections %v, tokens %v, conclusions %v, events %v", w.conns, w.rows, w.concluded, w.enqueued)
	}
}

func TestCancelEndsAttemptBeforeWindowOpens(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	wantCancelled(t, w.cancel(t, p))
	for range 2 { // the second iteration simulates a window reload
		if _, err := w.starter().Leave(t.Context(), p.Start); !binding.IsCancelled(err) {
			t.Errorf("leaving: %v", err)
		}
	}
	wantCancelled(t, w.progress(t, p))
	if len(w.states) != 0 {
		t.Errorf("states %v", w.states)
	}
}

func TestCancelEndsAttemptAtPortal(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{"a code": "", "a refusal": "access_denied", "an error": "server_error"} {
		w := newWorld()
		p := w.create(t, widgetRequest(t))
		r := w.leave(t, p.Start).back()
		r.Error = sent
		wantCancelled(t, w.cancel(t, p))
		done, err := w.completer(t).Complete(t.Context(), r)
		if !binding.IsCancelled(err) || !done.InWidget || len(w.grants) != 0 {
			t.Errorf("%s: completed %+v, %v; the portal was asked %d times", name, done, err, len(w.grants))
		}
		w.checkNothingMade(t)
		wantCancelled(t, w.progress(t, p))
		if w.attempts[p.AttemptID].Verifier != nil {
			t.Errorf("%s: the verifier is still stored", name)
		}
	}
}

func TestCancelIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	w.leave(t, p.Start)
	first := w.cancel(t, p)
	again, err := flow.Canceler{Store: w, Now: time.Now}.Cancel(t.Context(), tenant, p.AttemptID, p.Token, "cancel-2")
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("got %v, (-first +again):\n%s", err, diff)
	}
}

func TestCancelLeavesEndedAttemptUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done, failed, expired := newWorld(), newWorld(), newWorld()
		connected := done.create(t, widgetRequest(t))
		if _, err := done.completer(t).Complete(t.Context(), done.leave(t, connected.Start).back()); err != nil {
			t.Fatal(err)
		}
		declined := failed.create(t, widgetRequest(t))
		r := failed.leave(t, declined.Start).back()
		r.Error = "access_denied"
		if _, err := failed.completer(t).Complete(t.Context(), r); err == nil {
			t.Fatal("the refusal was accepted")
		}
		late := expired.create(t, widgetRequest(t))
		<-time.After(lifetime)
		for _, c := range []struct {
			w    *world
			p    flow.Prepared
			want flow.Status
		}{{done, connected, flow.Done}, {failed, declined, flow.Failed}, {expired, late, flow.Expired}} {
			before := c.w.progress(t, c.p)
			got := c.w.cancel(t, c.p)
			if diff := cmp.Diff(before, got); diff != "" || got.Status != c.want {
				t.Errorf("want %s (-before +got):\n%s", c.want, diff)
			}
			if diff := cmp.Diff(before, c.w.progress(t, c.p)); diff != "" {
				t.Errorf("%s (-before +after):\n%s", c.want, diff)
			}
		}
	})
}

func TestCancelHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	w.start(t, request(t))
	redirected := ""
	for id := range w.attempts {
		if id != p.AttemptID {
			redirected = id
		}
	}
	other := org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000002"}
	for name, c := range map[string]struct {
		tenant org.Tenant
		id     string
		token  secret.Text
	}{
		"wrong token":        {tenant, p.AttemptID, secret.New("guess")},
		"no token":           {tenant, p.AttemptID, secret.Text{}},
		"other organisation": {other, p.AttemptID, p.Token},
		"other mode":         {org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, p.AttemptID, p.Token},
		"redirect mode":      {tenant, redirected, secret.Text{}},
		"unknown":            {tenant, endpointID, p.Token},
		"no ID":              {tenant, "x", p.Token},
	} {
		_, err := flow.Canceler{Store: w, Now: time.Now}.Cancel(t.Context(), c.tenant, c.id, c.token, "cancel-1")
		wantFault(t, err, fault.NotFound, fault.CodeNotFound)
		if w.attempts[p.AttemptID].Status != flow.Created || w.attempts[redirected].Status != flow.Open {
			t.Errorf("%s changed an attempt", name)
		}
	}
}

func TestCancelReturnsStoreErrors(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Attempt", "CancelAttempt"} {
		w := newWorld()
		p := w.create(t, widgetRequest(t))
		w.broken = method
		_, err := flow.Canceler{Store: w, Now: time.Now}.Cancel(t.Context(), tenant, p.AttemptID, p.Token, "cancel-1")
		if !errors.Is(err, errTrouble) || w.attempts[p.AttemptID].Status != flow.Created {
			t.Errorf("%s: %v, %s", method, err, w.attempts[p.AttemptID].Status)
		}
	}
}

func TestCompleteDiscardsTokensWhenCancelledDuringExchange(t *testing.T) {
	t.Parallel()
	for _, reconnect := range []bool{false, true} {
		w := newWorld()
		r := widgetRequest(t)
		if reconnect {
			if _, err := w.completer(t).Complete(t.Context(), w.start(t, request(t)).back()); err != nil {
				t.Fatal(err)
			}
			for r.Reconnect = range w.conns {
				w.concluded, w.enqueued = nil, nil
			}
		}
		before := w.conns[r.Reconnect]
		p := w.create(t, r)
		b := w.leave(t, p.Start)
		w.grants = nil
		cancelling := &cancelling{world: w, cancel: func() { wantCancelled(t, w.cancel(t, p)) }}
		completer := w.completer(t)
		completer.Portal = cancelling
		done, err := completer.Complete(t.Context(), b.back())
		if !binding.IsCancelled(err) || !done.InWidget || len(done.Result) != 0 || len(w.grants) != 1 {
			t.Errorf("reconnect %t: completed %+v, %v", reconnect, done, err)
		}
		if !cmp.Equal(before, w.conns[r.Reconnect]) || len(w.concluded) != 0 || len(w.enqueued) != 0 {
			t.Errorf("reconnect %t: connection %+v, %d conclusions", reconnect, w.conns[r.Reconnect], len(w.concluded))
		}
		wantCancelled(t, w.progress(t, p))
	}
}

// cancelling is a portal whose code exchange blocks until the patient cancels the attempt.
type cancelling struct {
	*world

	cancel func()
}

func (c *cancelling) Exchange(ctx context.Context, grant flow.Grant) (tokens.Set, error) {
	c.cancel()
	return c.world.Exchange(ctx, grant)
}

// TestConcurrentCancelAndCompleteHaveOneOutcome cancels an attempt at a random time while a window starts and completes
// it. The test checks that exactly one of the cancellation and the completion wins, and that all results agree on the
// winner.
func TestConcurrentCancelAndCompleteHaveOneOutcome(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	wins := map[bool]int{}
	for range 400 {
		cancelAt, takes := time.Duration(random.IntN(30))*time.Second, time.Duration(random.IntN(10))*time.Second
		declines := random.IntN(4) == 0
		synctest.Test(t, func(t *testing.T) { wins[raceCancel(t, cancelAt, takes, declines)]++ })
	}
	if wins[true] < 40 || wins[false] < 40 {
		t.Errorf("one side nearly always wins: %v", wins)
	}
}

// raceCancel runs a single race and reports whether the cancellation won.
func raceCancel(t *testing.T, cancelAt, takes time.Duration, declines bool) bool {
	t.Helper()
	w := newWorld()
	p := w.create(t, widgetRequest(t))
	cancelled := make(chan flow.Progress, 1)
	go func() {
		<-time.After(cancelAt)
		cancelled <- w.cancel(t, p)
	}()
	<-time.After(takes)
	started, failure := w.starter().Leave(t.Context(), p.Start)
	if failure == nil {
		b := browser{state: w.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
		r := b.back()
		if declines {
			r.Error = "access_denied"
		}
		<-time.After(takes)
		completer := w.completer(t)
		completer.Portal = slow{world: w, takes: takes}
		_, failure = completer.Complete(t.Context(), r)
	}
	got := <-cancelled
	won := got.Failure != nil && got.Failure.Cause == "cancelled"
	if diff := cmp.Diff(got, w.progress(t, p)); diff != "" {
		t.Errorf("cancelled and polled differ (-cancelled +polled):\n%s", diff)
	}
	switch {
	case won:
		if !binding.IsCancelled(failure) {
			t.Errorf("the cancellation won, and the window shows %v", failure)
		}
		w.checkNothingMade(t)
	case declines:
		if got.Failure == nil || got.Failure.Cause != "declined" || len(w.rows) != 0 {
			t.Errorf("the refusal won, and the widget shows %+v", got)
		}
	case failure != nil || got.Status != flow.Done || len(w.conns) != 1 || len(w.rows) != 1:
		t.Errorf("the sign-in won with %v, and the widget shows %+v", failure, got)
	}
	return won
}

// slow is a portal whose code exchange takes time.
type slow struct {
	*world

	takes time.Duration
}

func (s slow) Exchange(ctx context.Context, grant flow.Grant) (tokens.Set, error) {
	<-time.After(s.takes)
	return s.world.Exchange(ctx, grant)
}
