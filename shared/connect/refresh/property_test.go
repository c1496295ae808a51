package refresh_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
)

// TestConnectionSurvivesAnyInterleaving checks the guarantees in docs/develop/lifecycles.md ("The life of a
// connection") for a single connection. The test covers messages, exports and reconnects in any order, worker crashes,
// and late or failed calls. Each step starts a worker, resumes a worker blocked in a call, makes a change outside the
// workers, or advances time. Each guarantee is checked at every point where it could be violated. The health system
// checks every use of a token, and the store checks every write.
func TestConnectionSurvivesAnyInterleaving(t *testing.T) {
	t.Parallel()
	script := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 359), 3, 3), 60, 240)
	for range parts {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				moves, broken := script.Draw(r, "moves"), ""
				synctest.Test(t, func(t *testing.T) {
					w := newSimulation(t.Context())
					defer w.close()
					for _, m := range moves {
						w.step(m[0], m[1], m[2])
					}
					w.finish()
					broken = w.broken
				})
				if broken != "" {
					r.Fatal(broken)
				}
			})
		})
	}
}

// parts is the number of rapid runs per property; each uses a different seed.
const parts = 20

// pick returns the element of from at index n, modulo the length of from.
func pick[T any](n int, from []T) T { return from[n%len(from)] }

// step performs one step of the scheduler, selected by kind, which and how.
func (w *simulation) step(kind, which, how int) {
	waiting := w.waiting()
	kinds := []string{"time", "worker", "outside"}
	if len(waiting) > 0 {
		kinds = slices.Concat(kinds, slices.Repeat([]string{"call"}, 15))
	}
	switch pick(kind, kinds) {
	case "time":
		<-time.After(pick(how, []time.Duration{time.Second, 20 * time.Second, 61 * time.Second, 3 * time.Minute, time.Hour}))
	case "worker":
		if len(w.actors) < 6 {
			w.start(pick(which, []string{look, look, look, export, renew}))
		}
	case "outside":
		w.outside(pick(which, []string{
			"due", "due", "due", "due", "due", "withdrawn", "reconnected", "without a refresh token", "without one, as once",
			"surge", "surge", "warned",
		}), how)
	case "call":
		actor := pick(which, waiting)
		actor.proceed(pick(how, fates(actor.at)))
	}
	synctest.Wait()
	w.check()
}

// outside simulates a change made by something other than a worker.
func (w *simulation) outside(what string, how int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch what {
	case "due":
		w.hurry()
	case "withdrawn":
		w.portal.withdraw()
	case "reconnected":
		w.reconnect(0)
	case "without a refresh token":
		w.reconnect(pick(how, lives()))
	case "without one, as once":
		w.reconnectAsOnce(pick(how, lives()))
	case "surge": // the endpoint refuses other connections
		w.state.add(w.endpoint, time.Now(), 50, 50)
	case "warned":
		c := w.store.connections[connID]
		c.Refresh.Warned, c.Rev = true, c.Rev+1
		w.store.connections[connID] = c
	}
}

// lives returns possible lifetimes for access tokens issued without a refresh token.
func lives() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 2 * time.Hour, 365 * day}
}

// check verifies the invariants that must hold after every step.
func (w *simulation) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.store.connections[connID]
	if c.Status == connection.Revoked && !w.revoked[c.Generation] {
		w.failf("revoked without a refusal")
	}
	ended, warned := len(w.store.told(webhook.AuthorizationEnded)), len(w.store.told(webhook.AuthorizationEnding))
	if ended != len(w.revoked) || ended+warned != len(w.store.events) {
		w.failf("%d events of %d revocations, %d in all", ended, len(w.revoked), len(w.store.events))
	}
	bare := 0
	for _, g := range w.portal.grants {
		if g.isBare() {
			bare++
		}
	}
	if warned > bare {
		w.failf("%d authorisations without a refresh token were warned of %d times", bare, warned)
	}
	if row, ok := w.store.rows[connID]; ok != (c.Status == connection.Authorized) || ok && row.Version != w.newest {
		w.failf("%s, tokens of version %d (there: %v), newest %d", c.Status, row.Version, ok, w.newest)
	}
	for _, a := range w.actors {
		if !a.late && !a.leased.IsZero() && time.Since(a.leased) > time.Minute {
			a.late = true
			a.trouble("")
		}
		a.checked = a.done
	}
	w.actors = slices.DeleteFunc(w.actors, func(a *actor) bool { return a.checked || a.dead })
}

// finish runs all work to completion without further faults, then processes the connection several times. Afterwards,
// the connection must be usable if the health system still accepts the stored token, and revoked otherwise.
func (w *simulation) finish() {
	w.drain()
	for range 4 { // long enough for an open breaker, an expiring lease, and a second refusal
		<-time.After(71 * time.Minute)
		w.outside("due", 0)
		w.start(look)
		w.drain()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.store.connections[connID]
	alive, given := w.portal.takes(w.stored()), w.portal.grants[w.stored().generation]
	switch {
	case alive != (c.Status == connection.Authorized):
		w.failf("the health system takes what is stored: %v, yet the connection is %s, %+v", alive, c.Status, c.Refresh)
	case alive && given.isBare():
		if !c.Refresh.RefreshAt.Equal(given.until) || c.ConsentExpiresAt.After(given.until) || !c.Refresh.Unrenewable {
			w.failf("it ends at %v, yet consent does at %v, and its state is %+v", given.until, c.ConsentExpiresAt, c.Refresh)
		}
	case alive && (c.Refresh.Failures != 0 || !c.Refresh.RefusedAt.IsZero() || time.Until(c.Refresh.RefreshAt) < day):
		w.failf("the connection works, yet its state is %+v", c.Refresh)
	}
}

// drain runs all actors to completion.
func (w *simulation) drain() {
	for synctest.Wait(); len(w.actors) > 0; synctest.Wait() {
		if waiting := w.waiting(); len(waiting) > 0 {
			waiting[0].proceed(well)
		} else {
			<-time.After(time.Second)
		}
		synctest.Wait()
		w.check()
	}
}
