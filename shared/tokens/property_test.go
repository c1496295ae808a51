package tokens_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/tokens"
)

// TestNoInterleavingLosesATokenSet: whatever order workers come in, wherever they crash, whatever fails and however
// late, the promises of issue 5 hold for one connection. Each step either starts a worker, lets one that waits at a call
// of the store or the EHR go on in some way, or lets time pass. What holds is checked where it would first break: in the
// EHR on every use, in the store on every write, and on every result.
func TestNoInterleavingLosesATokenSet(t *testing.T) {
	t.Parallel()
	script := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 359), 3, 3), 10, 80)
	for range parts {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				moves, broken := script.Draw(r, "moves"), ""
				synctest.Test(t, func(t *testing.T) {
					w := newTheatre(t.Context())
					defer w.close()
					for _, m := range moves {
						w.step(m[0], m[1], m[2])
					}
					w.settle()
					broken = w.broken
				})
				if broken != "" {
					r.Fatal(broken)
				}
			})
		})
	}
}

// parts is how often the runs that rapid makes of a property are made, each time from another seed.
const parts = 20

// pick chooses by a drawn number.
func pick[T any](n int, from []T) T { return from[n%len(from)] }

// step is one move of the scheduler, chosen by three numbers.
func (w *theatre) step(kind, which, how int) {
	waiting := w.waiting()
	kinds := []string{"time", "worker"}
	if len(waiting) > 0 {
		kinds = slices.Concat(kinds, slices.Repeat([]string{"call"}, 10))
	}
	switch pick(kind, kinds) {
	case "time":
		<-time.After(pick(how, []time.Duration{time.Second, 20 * time.Second, 61 * time.Second, 3 * time.Minute}))
		if which == 0 { // seldom: most runs are about a consent that lasts
			w.revoke()
		}
	case "worker":
		if len(w.actors) < 6 {
			w.start(which%3 == 0)
		}
	case "call":
		actor := pick(which, waiting)
		actor.proceed(pick(how, fates(actor.at)))
	}
	synctest.Wait()
	w.check()
}

func (w *theatre) revoke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.portal.revoked = true
}

// settle lets everything under way come to its end without further faults, then asks once more when all leases have
// lapsed: the connection works if the EHR still takes what is stored, and else is refused for the right cause.
func (w *theatre) settle() {
	for len(w.actors) > 0 {
		waiting := w.waiting()
		if len(waiting) == 0 {
			<-time.After(time.Second)
		} else {
			waiting[0].proceed(well)
		}
		synctest.Wait()
		w.check()
	}
	<-time.After(time.Hour)
	w.mu.Lock()
	stored := w.stored()
	alive, used := !w.portal.revoked && stored == w.portal.current, w.loose[stored] > 0
	w.mu.Unlock()
	last := w.start(false)
	for synctest.Wait(); len(w.actors) > 0; synctest.Wait() {
		last.proceed(well)
		w.check()
	}
	refusal, refused := errors.AsType[*tokens.RefusalError](last.err)
	switch {
	case alive && last.err != nil:
		w.failf("the EHR takes what is stored, yet: %v", last.err)
	case !alive && !refused:
		w.failf("the EHR does not take what is stored, yet: %v", last.err)
	case refused && refusal.Cause == tokens.CauseRotationLost && !used:
		w.failf("rotation_lost, but every use of the refresh token came to its end")
	}
}

// check is what holds after every step.
func (w *theatre) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.table.row
	if newest := slices.Max(w.table.written); w.stored() != newest {
		w.failf("refresh token %d is stored, but %d was written before", w.stored(), newest)
	}
	if row.Version != int64(len(w.table.written)) {
		w.failf("version %d after %d writes", row.Version, len(w.table.written))
	}
	for _, a := range w.actors {
		if !a.late && !a.leased.IsZero() && time.Since(a.leased) > time.Minute {
			a.late = true
			a.trouble("")
		}
		if a.done && !a.checked {
			a.checked = true
			w.checkResult(a)
		}
	}
	w.actors = slices.DeleteFunc(w.actors, func(a *actor) bool { return a.checked || a.dead })
}

func (w *theatre) checkResult(a *actor) {
	if a.err == nil {
		if a.version < 1 || a.version > w.table.row.Version || w.table.written[a.version-1] != number(a.set.RefreshToken) {
			w.failf("%s handed out refresh token %d as version %d, which was never stored", a.name, number(a.set.RefreshToken), a.version)
		}
		if a.set.Overdue != nil && (errors.Is(a.set.Overdue, tokens.ErrRefused) || !a.began.Before(a.set.ExpiresAt)) {
			w.failf("%s handed out an overdue set that had expired or was refused: %v", a.name, a.set.Overdue)
		}
		return
	}
	refusal, ok := errors.AsType[*tokens.RefusalError](a.err)
	if !ok {
		if errors.Is(a.err, tokens.ErrRefused) {
			w.failf("%s reports a refusal without a cause: %v", a.name, a.err)
		}
		return
	}
	token := w.table.written[refusal.Version-1]
	switch {
	case !a.refused:
		w.failf("%s reports a refusal, which the EHR never gave it: %v", a.name, a.err)
	case !w.portal.revoked && token == w.portal.current:
		w.failf("%s reports the refusal of a living token: %v", a.name, a.err)
	case refusal.Cause == tokens.CauseInvalidGrant && !w.portal.revoked:
		w.failf("%s takes a lost rotation for a withdrawn consent", a.name)
	case refusal.Cause == tokens.CauseInvalidGrant && a.doubtful:
		w.failf("%s forgot that the refresh token had been used without an end", a.name)
	case refusal.Cause == tokens.CauseRotationLost && w.loose[token] == 0:
		w.failf("%s reports a lost rotation, but every use of the refresh token came to its end", a.name)
	}
	w.told[token]++
}
