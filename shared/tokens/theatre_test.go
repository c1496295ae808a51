package tokens_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// theatre is one connection, its EHR, and workers that stop at every call until the scheduler lets them go on. All of it
// runs in a synctest bubble. Actors that time wakes run beside the scheduler, so all that changes is under mu.
type theatre struct {
	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // a test's, for the actors that it starts
	table  table
	portal portal
	actors []*actor
	group  sync.WaitGroup
	seen   int    // actors so far
	broken string // the first promise that was broken

	// By the number of the refresh token in use: how often a refresh failed at a call or outlived its lease,
	// from the lease on (loose), from the call of the EHR on (unfinished), or in that call (unknown), and how many
	// refusals of it were reported (told).
	loose, unfinished, unknown, told map[int]int
}

func newTheatre(ctx context.Context) *theatre {
	w := &theatre{ctx: ctx, loose: map[int]int{}, unfinished: map[int]int{}, unknown: map[int]int{}, told: map[int]int{}}
	w.portal = portal{theatre: w, current: 1, reused: map[int]int{}}
	row, err := tokens.Vault{Sealer: glass{}}.Seal(ctx, tenant, connID, 1, w.portal.set())
	if err != nil {
		w.failf("seal: %v", err)
	}
	w.table = table{row: row, written: []int{1}}
	return w
}

// failf notes that a promise is broken.
func (w *theatre) failf(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// close ends everything that is under way.
func (w *theatre) close() {
	for _, a := range w.actors {
		close(a.gate)
	}
	w.group.Wait()
}

// actor is one worker at work. It is the store and the EHR that its keeper sees.
type actor struct {
	*theatre

	name   string
	gate   chan fate
	began  time.Time
	at     string    // the call that it waits at
	token  int       // the refresh token that it has leased
	leased time.Time // when it did
	late   bool      // the lease has ended before the work
	used   bool      // it has called the EHR
	dead   bool

	refused  bool // by the EHR
	doubtful bool // when it was, an earlier call with the refresh token had come to no known end

	done, checked bool

	set     tokens.Set
	version int64
	err     error
}

// fate is how a call goes on.
type fate string

const (
	well        fate = "well"
	failBefore  fate = "fails before the effect"
	failAfter   fate = "fails after the effect"
	crashBefore fate = "the worker crashes before the effect"
	crashAfter  fate = "the worker crashes after the effect"
	collides    fate = "collides with another write"
	unspent     fate = "an answer that used no token"
	outOfTime   fate = "the caller gives up"
)

// fates are what may become of a call; going well is likeliest.
func fates(call string) []fate {
	all := []fate{well, well, well, well, failBefore, crashBefore}
	switch call {
	case "Tokens":
		return all
	case "Refresh":
		return append(all, failAfter, crashAfter, unspent)
	default:
		return append(all, failAfter, crashAfter, collides)
	}
}

var errInjected = errors.New("something failed")

// start lets a new worker ask for tokens, or for others than those that are stored.
func (w *theatre) start(renew bool) *actor {
	w.seen++
	a := &actor{theatre: w, name: "worker " + strconv.Itoa(w.seen), gate: make(chan fate), began: time.Now()}
	keeper := tokens.Keeper{
		Store: a, Vault: tokens.Vault{Sealer: glass{}}, Refresher: a, Now: time.Now, NewID: func() string { return a.name },
	}
	w.mu.Lock()
	used := w.table.row.Version
	w.mu.Unlock()
	w.actors = append(w.actors, a)
	w.group.Go(func() {
		ask := func() (tokens.Set, int64, error) { return keeper.Current(w.ctx, tenant, connID) }
		if renew {
			ask = func() (tokens.Set, int64, error) { return keeper.Renew(w.ctx, tenant, connID, used) }
		}
		set, version, err := ask()
		w.mu.Lock()
		defer w.mu.Unlock()
		a.set, a.version, a.err, a.done = set, version, err, true
	})
	return a
}

// waiting lists the actors at a call, in the order of their start.
func (w *theatre) waiting() []*actor {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []*actor
	for _, a := range w.actors {
		if a.at != "" {
			at = append(at, a)
		}
	}
	return at
}

func (a *actor) Tokens(ctx context.Context, _ org.Tenant, _ string) (row tokens.Row, err error) {
	err = a.perform(ctx, "Tokens", func() error { row = a.table.row; return nil })
	return row, err
}

func (a *actor) LeaseTokens(ctx context.Context, row tokens.Row, now time.Time) error {
	a.mu.Lock()
	a.token, a.leased = a.table.written[row.Version-1], now
	a.mu.Unlock()
	return a.perform(ctx, "LeaseTokens", func() error { return a.table.lease(row, now) })
}

func (a *actor) ReleaseTokens(ctx context.Context, row tokens.Row) error {
	return a.perform(ctx, "ReleaseTokens", func() error { return a.table.release(row) })
}

func (a *actor) RotateTokens(ctx context.Context, row tokens.Row) error {
	return a.perform(ctx, "RotateTokens", func() error { return a.table.rotate(ctx, row) })
}

func (a *actor) Refresh(ctx context.Context, _ org.Tenant, old tokens.Set) (fresh tokens.Set, err error) {
	if ctx.Err() != nil {
		return tokens.Set{}, ctx.Err() // nothing left the worker
	}
	a.mu.Lock()
	a.used = true
	a.mu.Unlock()
	err = a.perform(ctx, "Refresh", func() error {
		refusal := a.portal.use(number(old.RefreshToken))
		if refusal != nil {
			a.refused, a.doubtful = true, a.unknown[a.token] > 0
			return refusal
		}
		fresh = a.portal.set()
		return nil
	})
	return fresh, err
}

// proceed lets an actor that waits at a call go on.
func (a *actor) proceed(f fate) {
	a.mu.Lock()
	waits := a.at != ""
	a.mu.Unlock()
	if waits {
		a.gate <- f
		return
	}
	<-time.After(time.Second) // it pauses between two tries
}

// perform is a call: it waits for its fate, and has its effect or not.
func (a *actor) perform(ctx context.Context, call string, effect func() error) error {
	a.mu.Lock()
	a.at = call
	a.mu.Unlock()
	f, open := outOfTime, true
	if ctx.Err() == nil {
		select {
		case f, open = <-a.gate:
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = ""
	if !open {
		runtime.Goexit()
	}
	if f != well && f != unspent {
		a.trouble(call)
	}
	if f == crashBefore {
		a.dead = true
		runtime.Goexit()
	}
	var err error
	if f == well || f == failAfter || f == crashAfter {
		err = effect()
	}
	if f == crashAfter {
		a.dead = true
		runtime.Goexit()
	}
	outcome := map[fate]error{well: err, collides: fault.Stale(), unspent: answered{unspent: true}} //nolint:exhaustive // the others fail
	if told, ok := outcome[f]; ok {
		return told
	}
	return errInjected
}

// trouble notes that a call failed, or that the lease ended before the work.
func (a *actor) trouble(call string) {
	if a.token == 0 {
		return
	}
	a.loose[a.token]++
	if call == "Refresh" {
		a.unknown[a.token]++
	}
	if a.used {
		a.unfinished[a.token]++
	}
}

// portal is an EHR that takes each refresh token once.
type portal struct {
	*theatre

	current int // the refresh token that it takes
	revoked bool
	reused  map[int]int // uses of tokens that were rotated out
}

// use spends a refresh token. A token that was rotated out may come again once for every use of it whose end the workers
// do not know, and when a caller that was told of the refusal makes sure.
func (p *portal) use(token int) error {
	if p.revoked {
		return tokens.ErrRefused
	}
	if token == p.current {
		p.current++
		return nil
	}
	p.reused[token]++
	if p.reused[token] > p.unfinished[token]+p.told[token] {
		p.failf("refresh token %d was used again although its rotation had come to an end", token)
	}
	return tokens.ErrRefused
}

func (p *portal) set() tokens.Set {
	return tokens.Set{
		AccessToken: secret.New("access"), RefreshToken: secret.New("refresh " + strconv.Itoa(p.current)), ExpiresAt: time.Now().Add(3 * time.Minute),
	}
}

func number(token secret.Text) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(token.Reveal(), "refresh "))
	return n
}

// table keeps one row as store.Tokens does.
type table struct {
	row     tokens.Row
	written []int // refresh tokens by version, from 1
}

func (t *table) lease(r tokens.Row, now time.Time) error {
	free := t.row.LeaseUntil.Before(now) && t.row.RefreshStartedAt.Equal(r.RefreshStartedAt)
	if t.row.Version != r.Version || !t.held(r) && !free {
		return fault.Stale()
	}
	t.row.LeaseOwner, t.row.LeaseUntil, t.row.RefreshStartedAt = r.LeaseOwner, r.LeaseUntil, r.RefreshStartedAt
	if r.RefreshStartedAt.IsZero() {
		t.row.RefreshStartedAt = now
	}
	return nil
}

func (t *table) held(r tokens.Row) bool {
	return r.LeaseOwner != "" && r.LeaseOwner == t.row.LeaseOwner
}

func (t *table) release(r tokens.Row) error {
	if t.row.Version != r.Version || !t.held(r) {
		return fault.Stale()
	}
	t.row.LeaseOwner, t.row.LeaseUntil = "", time.Time{}
	if r.RefreshStartedAt.IsZero() {
		t.row.RefreshStartedAt = time.Time{}
	}
	return nil
}

func (t *table) rotate(ctx context.Context, r tokens.Row) error {
	if t.row.Version != r.Version-1 {
		return fault.Stale()
	}
	set, err := tokens.Vault{Sealer: glass{}}.Open(ctx, r)
	if err != nil {
		return err
	}
	t.written = append(t.written, number(set.RefreshToken))
	t.row = tokens.Row{Tenant: r.Tenant, ConnectionID: r.ConnectionID, Sealed: r.Sealed, Version: r.Version}
	return nil
}

func (w *theatre) stored() int { return w.table.written[len(w.table.written)-1] }

// glass seals nothing, but binds.
type glass struct{}

func (glass) Seal(_ context.Context, _ org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return append([]byte(boundTo+"\n"), plain...), nil
}

func (glass) Open(_ context.Context, _ org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return plain, nil
}
