package flow_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	ownID    = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"
	ownToken = "pN3kVw0yq2xRZc8tHj5uLb1sFa7mEd4oGi9rTv6yKQ0"
)

// ownRequest returns a request from a window whose opener chose the attempt's ID and token.
func ownRequest(t *testing.T) flow.Request {
	t.Helper()
	r := widgetRequest(t)
	r.AttemptID, r.TokenHash = ownID, hash(ownToken)
	return r
}

func TestProgressAcceptsTokenChosenByWidget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.create(t, ownRequest(t))
		if p.AttemptID != ownID || p.Token.Reveal() != "" || w.attempts[ownID].TokenHash != hash(ownToken) {
			t.Fatalf("prepared %+v", p)
		}
		b := w.leave(t, p.Start)
		if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
			t.Fatal(err)
		}
		watch := flow.Watcher{Attempts: w, Now: time.Now}
		if got, err := watch.Progress(t.Context(), tenant, ownID, secret.New(ownToken)); err != nil ||
			got.Status != flow.Done {
			t.Errorf("the opener sees %+v, %v", got, err)
		}
		other := tenant
		other.OrgID = "b0000000-0000-4000-8000-000000000001"
		for name, c := range map[string]struct {
			of    org.Tenant
			token string
		}{
			"no token": {tenant, ""}, "the hash": {tenant, hash(ownToken)}, "another": {tenant, ownToken[1:]},
			"another organisation": {other, ownToken},
		} {
			if _, err := watch.Progress(t.Context(), c.of, ownID,
				secret.New(c.token)); fault.Of(err).Public != "Attempt not found." {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestCreateRejectsTakenAttemptID(t *testing.T) {
	t.Parallel()
	w := newWorld()
	first := w.create(t, ownRequest(t))
	before := w.attempts[ownID]
	refused := func(name string, change func(*flow.Request)) {
		t.Helper()
		r := ownRequest(t)
		change(&r)
		got, err := w.creator().Create(t.Context(), r)
		wantFault(t, err, fault.Conflict, fault.CodeInvalidRequest)
		if got.AttemptID != "" || got.Start.Reveal() != "" ||
			fault.Of(err).Public != "This attempt_id can't be used. Generate a new one." ||
			w.attempts[ownID].TokenHash != before.TokenHash {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	refused("another's token", func(r *flow.Request) { r.TokenHash = hash("thief") })
	refused("in other letters", func(r *flow.Request) { r.AttemptID, r.TokenHash = strings.ToUpper(ownID), hash("thief") })
	w.leave(t, first.Start) // the existing attempt continues
	if w.attempts[ownID].Status != flow.Open {
		t.Errorf("the attempt is %+v", w.attempts[ownID])
	}
	refused("its own maker, who has left with it", func(*flow.Request) {})
	if w.attempts[ownID].Status != flow.Open || len(w.tickets) != 0 {
		t.Errorf("the attempt is %+v, tickets %v", w.attempts[ownID], w.tickets)
	}
}

func TestCreateIsIdempotentForSameIDAndToken(t *testing.T) {
	t.Parallel()
	w := newWorld()
	lost := w.create(t, ownRequest(t))
	again := ownRequest(t)
	again.ExternalState = "picked anew in between"
	found := w.create(t, again)
	if found.AttemptID != ownID || len(w.attempts) != 1 || w.attempts[ownID].ExternalState != again.ExternalState {
		t.Fatalf("prepared %+v, attempts %+v", found, w.attempts)
	}
	w.leave(t, found.Start)
	_, err := w.starter().Leave(t.Context(), lost.Start) // the lost response may still arrive
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	if len(w.states) != 1 {
		t.Errorf("%d sign-ins were begun", len(w.states))
	}
}

func TestCreateRequiresBothIDAndTokenHash(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flow.Request){
		"an id alone":           func(r *flow.Request) { r.TokenHash = "" },
		"a hash alone":          func(r *flow.Request) { r.AttemptID = "" },
		"an id that is derived": func(r *flow.Request) { r.AttemptID = "6b4a1c0c-19fa-52e9-a894-f75be29cd944" },
		"an id that is none":    func(r *flow.Request) { r.AttemptID = "../" + ownID[3:] },
		"the token itself":      func(r *flow.Request) { r.TokenHash = ownToken },
		"capital digits":        func(r *flow.Request) { r.TokenHash = strings.ToUpper(r.TokenHash) },
		"a hash and more":       func(r *flow.Request) { r.TokenHash += "00" },
		"the hash of nothing":   func(r *flow.Request) { r.TokenHash = hash("") },
	} {
		w := newWorld()
		r := ownRequest(t)
		change(&r)
		_, err := w.creator().Create(t.Context(), r)
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
		if len(w.attempts) != 0 {
			t.Errorf("%s: an attempt was made", name)
		}
	}
}
