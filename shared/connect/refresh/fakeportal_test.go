package refresh_test

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
)

// fakePortal simulates a health system that accepts each refresh token once.
type fakePortal struct {
	*simulation

	grants  map[int64]*grant // grants by generation
	reused  map[token]int    // number of reuses of each rotated token
	refused map[token]int
}

type grant struct {
	current   int // sequence number of the accepted refresh token
	withdrawn bool
	until     time.Time // expiry of an access token issued without a refresh token, or zero
}

func (g *grant) isBare() bool { return !g.until.IsZero() }

// takes reports whether the health system accepts token k. It can't detect withdrawn consent if the connection has only
// an access token.
func (h *fakePortal) takes(k token) bool {
	g := h.grants[k.generation]
	if g.isBare() {
		return time.Now().Before(g.until)
	}
	return !g.withdrawn && g.current == k.n
}

// use consumes a refresh token. A rotated refresh token may be replayed once for each use whose outcome is unknown to
// the workers, and once more to confirm a refusal.
func (h *fakePortal) use(k token) (tokens.Set, error) {
	g := h.grants[k.generation]
	if g == nil || g.isBare() {
		h.failf("the token endpoint was asked without a refresh token")
		return tokens.Set{}, errTheir
	}
	if h.takes(k) {
		g.current++
		set := setOf(token{k.generation, g.current}.String())
		set.ExpiresAt = time.Now().Add(3 * time.Minute)
		return set, nil
	}
	h.refused[k]++
	if !g.withdrawn {
		h.reused[k]++
		if h.reused[k] > h.unfinished[k]+h.told[k] {
			h.failf("refresh token %v was used again although its rotation had come to an end", k)
		}
	}
	return tokens.Set{}, fmt.Errorf("%w: token endpoint: invalid_grant (status 401)", tokens.ErrRefused)
}

func (h *fakePortal) withdraw() { h.grants[h.stored().generation].withdrawn = true }

// checkRevocation checks that a revocation is justified when it takes effect.
func (w *simulation) checkRevocation(before, after connection.Connection) {
	stored, earlier := w.stored(), before.Refresh
	isBare := w.portal.grants[stored.generation].isBare()
	switch {
	case w.revoked[after.Generation]:
		w.failf("authorisation %d was revoked twice", after.Generation)
	case w.portal.takes(stored):
		w.failf("revoked, although the health system takes what is stored: %v", stored)
	case isBare != (after.Refresh.Ended == connection.AccessEnded):
		w.failf("%v ended as %q, without a refresh token: %v", stored, after.Refresh.Ended, isBare)
	case isBare:
	case w.portal.refused[stored] == 0:
		w.failf("revoked, although refresh token %v was never refused", stored)
	case after.Refresh.Ended == string(tokens.CauseInvalidGrant) && !w.portal.grants[stored.generation].withdrawn:
		w.failf("a lost rotation passes for a withdrawn consent")
	case earlier.RefusedVersion == w.newest && time.Since(earlier.RefusedAt) < time.Hour:
		w.failf("revoked %v after a refusal that was not believed", time.Since(earlier.RefusedAt))
	}
	w.revoked[after.Generation] = true
}

func read(set tokens.Set) (k token) {
	_, _ = fmt.Sscan(set.RefreshToken.Reveal(), &k.generation, &k.n)
	return k
}

// actorState gives an actor access to the shared endpoint state.
type actorState struct{ *actor }

func (g actorState) TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now, until time.Time) error {
	return g.perform(ctx, "EndpointState",
		func() error { return g.state.TakeSlot(ctx, endpoint, slot, owner, now, until) })
}

func (g actorState) ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error {
	return g.perform(ctx, "EndpointState", func() error { return g.state.ReleaseSlot(ctx, endpoint, slot, owner) })
}

func (g actorState) Breaker(ctx context.Context, endpoint string) (b refresh.Breaker, err error) {
	err = g.perform(ctx, "EndpointState", func() error { b, err = g.state.Breaker(ctx, endpoint); return err })
	return b, err
}

func (g actorState) SaveBreaker(ctx context.Context, endpoint string, seen, next refresh.Breaker) error {
	return g.perform(ctx, "EndpointState", func() error { return g.state.SaveBreaker(ctx, endpoint, seen, next) })
}

func (g actorState) Count(ctx context.Context, endpoint string, at time.Time, refused bool) error {
	return g.perform(ctx, "EndpointState", func() error { return g.state.Count(ctx, endpoint, at, refused) })
}

func (g actorState) Counts(ctx context.Context, endpoint string, since time.Time) (answered, refused int, err error) {
	err = g.perform(ctx, "EndpointState", func() error {
		answered, refused,
			err = g.state.Counts(ctx, endpoint, since)
		return err
	})
	return answered, refused, err
}
