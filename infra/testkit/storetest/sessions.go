package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
)

// Sessions stores sessions, remembered browsers and authentication ceremonies.
type Sessions interface {
	signin.Sessions
	account.SessionRows
}

// SessionRows tests an implementation of Sessions.
func SessionRows(t *testing.T, open func(testing.TB) Sessions) {
	t.Helper()
	run(t, open, map[string]func(subject[Sessions]){
		"a session comes back, and takes the place of another": sessionComesBack,
		"a browser is known for as long as was ever said":      deviceKnown,
		"a ceremony is taken once, and in time":                ceremonyTakenOnce,
	})
}

func sessionComesBack(c subject[Sessions]) {
	t, s := c.t, c.store
	first := account.Session{
		Hash: "one", AccountID: adaID, Epoch: 2, Pending: true, ProvenAt: now(), StartedAt: now(),
		SeenAt: now(),
	}
	expect.NoError(t, s.StartSession(t.Context(), first, ""))
	expect.Conflict(t, "a session of the same token", s.StartSession(t.Context(), first, ""))
	next := account.Session{Hash: "two", AccountID: adaID, Epoch: 2, ProvenAt: now(), StartedAt: now(), SeenAt: now()}
	expect.NoError(t, s.StartSession(t.Context(), next, "one"))
	_, err := s.Session(t.Context(), "one")
	expect.NotFound(t, "the session that was replaced", err)
	expect.Conflict(t, "a request of it", s.TouchSession(t.Context(), "one", now()))
	next.SeenAt = now().Add(time.Hour)
	expect.NoError(t, s.TouchSession(t.Context(), "two", next.SeenAt))
	got, err := s.Session(t.Context(), "two")
	expect.NoError(t, err)
	if diff := cmp.Diff(next, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 2 {
		expect.NoError(t, s.EndSession(t.Context(), "two"))
	}
	_, err = s.Session(t.Context(), "two")
	expect.NotFound(t, "a session that has ended", err)
}

// Functions that handle the same browser's requests may have different clocks, so an earlier expiry must not replace a
// later one.
func deviceKnown(c subject[Sessions]) {
	t, s := c.t, c.store
	until := now().Add(time.Hour)
	for _, said := range []time.Time{now().Add(time.Minute), until, until, until.Add(-time.Second)} {
		expect.NoError(t, s.RememberDevice(t.Context(), "browser", said))
	}
	for at, want := range map[time.Time]bool{now(): true, until.Add(-time.Millisecond): true, until: false} {
		if known, err := s.IsDevice(t.Context(), "browser", at); err != nil || known != want {
			t.Errorf("at %s: %v, %v", at, known, err)
		}
	}
	if known, err := s.IsDevice(t.Context(), "another", now()); err != nil || known {
		t.Errorf("a browser that was never seen: %v, %v", known, err)
	}
}

func ceremonyTakenOnce(c subject[Sessions]) {
	t, s := c.t, c.store
	want := account.Ceremony{AccountID: adaID, State: []byte("state"), ExpiresAt: now().Add(time.Minute)}
	for _, hash := range []string{"one", "late"} {
		expect.NoError(t, s.BeginCeremony(t.Context(), hash, want))
	}
	expect.Conflict(t, "a ceremony of the same challenge", s.BeginCeremony(t.Context(), "one", want))
	got, err := s.TakeCeremony(t.Context(), "one", now())
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = s.TakeCeremony(t.Context(), "one", now())
	expect.NotFound(t, "a ceremony that was taken", err)
	_, err = s.TakeCeremony(t.Context(), "late", want.ExpiresAt)
	expect.NotFound(t, "a ceremony that has ended", err)
}
