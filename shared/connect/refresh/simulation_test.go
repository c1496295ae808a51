package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// simulation simulates a connection, its health system, and workers that pause at every call until the scheduler
// resumes them. It must run in a synctest bubble. Actors woken by a timer run concurrently with the scheduler, so mu
// guards all shared state.
type simulation struct {
	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // a test's, for the actors that it starts
	store  *memory
	state  *endpointState
	portal fakePortal
	actors []*actor
	group  sync.WaitGroup
	seen   int    // number of actors started so far
	broken string // first violated guarantee

	written  map[int64]token // refresh tokens by version
	newest   int64           // newest version
	revoked  map[int64]bool  // revoked generations
	endpoint string

	// loose, unfinished, unknown and told hold counts for each refresh token. loose counts refreshes that failed at a
	// call or outlived their lease. unfinished counts those whose worker had already called the health system, and
	// unknown counts failures in that call. told counts reported refusals.
	loose, unfinished, unknown, told map[token]int
}

// token identifies the nth refresh token of an authorisation.
type token struct {
	generation int64
	n          int
}

func (k token) String() string { return fmt.Sprint(k.generation, " ", k.n) }

func newSimulation(ctx context.Context) *simulation {
	w := &simulation{
		ctx: ctx, store: newMemory(), state: newEndpointState(), endpoint: refresh.EndpointName(endpointURL),
		written: map[int64]token{},
		revoked: map[int64]bool{}, loose: map[token]int{}, unfinished: map[token]int{}, unknown: map[token]int{},
		told: map[token]int{},
	}
	w.portal = fakePortal{simulation: w, grants: map[int64]*grant{}, reused: map[token]int{}, refused: map[token]int{}}
	w.store.connections[connID] = connection.Connection{ID: connID, Tenant: tenant}
	w.reconnect(0)
	return w
}

func (w *simulation) failf(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// reconnect simulates a patient who authorises again, regardless of the connection's status. Like the callback,
// reconnect stores its changes in a single transaction. If the health system issues no refresh token, bare is the
// access token's lifetime.
func (w *simulation) reconnect(bare time.Duration) connection.Connection {
	c := w.store.connections[connID]
	c.Status, c.Generation, c.Rev, c.ConsentExpiresAt = connection.Authorized, c.Generation+1, c.Rev+1, time.Time{}
	first := token{c.Generation, 1}
	given, set := &grant{current: 1}, setOf(first.String())
	c.Refresh = connection.RefreshState{RefreshAt: time.Now().Add(time.Hour)}
	if bare > 0 {
		given.until = time.Now().Add(bare)
		set.RefreshToken, set.ExpiresAt = secret.Text{}, given.until
		c = c.EndingAt(given.until)
	}
	w.portal.grants[c.Generation] = given
	row, err := tokens.Vault{Sealer: plainSealer{}}.Seal(w.ctx, tenant, connID, w.newest+1, set)
	if err != nil {
		w.failf("seal: %v", err)
	}
	w.store.connections[connID], w.store.rows[connID] = c, row
	w.newest++
	w.written[w.newest] = first
	return c
}

// reconnectAsOnce simulates a reconnect without a refresh token, stored without a due time as in older versions.
func (w *simulation) reconnectAsOnce(bare time.Duration) {
	c := w.reconnect(bare)
	c.Refresh, c.ConsentExpiresAt = connection.RefreshState{}, time.Time{}
	w.store.connections[connID] = c
}

// hurry marks an authorized connection as due.
func (w *simulation) hurry() {
	c := w.store.connections[connID]
	if c.Status == connection.Authorized {
		c.Refresh.RefreshAt, c.Rev = time.Now(), c.Rev+1
		w.store.connections[connID] = c
	}
}

func (w *simulation) stored() token { return w.written[w.newest] }

func (w *simulation) close() {
	for _, a := range w.actors {
		close(a.turn)
	}
	w.group.Wait()
}

// actor is a running worker that implements every dependency of the code under test.
type actor struct {
	*simulation

	name          string
	turn          chan fate
	at            string // call that blocks the actor
	token         token  // refresh token leased by the actor
	leased        time.Time
	late          bool // whether the lease expired before the work ended
	used          bool // whether the actor has called the health system
	refused       bool
	doubtful      bool // whether an earlier use of the refused token had an unknown outcome
	dead          bool
	done, checked bool
}

type fate string

const (
	well        fate = "well"
	failBefore  fate = "fails before the effect"
	failAfter   fate = "fails after the effect"
	crashBefore fate = "the worker crashes before the effect"
	crashAfter  fate = "the worker crashes after the effect"
	collides    fate = "collides with another write"
	unspent     fate = "an answer that used no token"
)

// fates returns a call's possible outcomes, of which success is the most likely.
func fates(call string) []fate {
	all := []fate{well, well, well, well, well, well, failBefore, failAfter, crashBefore, crashAfter}
	switch call {
	case "Refresh":
		return append(all, unspent)
	case "Tokens", "Connection":
		return all
	}
	return append(all, collides)
}

// Types of worker. look processes a queue message, export needs a usable access token, and renew needs a different
// access token.
const (
	look   = "look"
	export = "export"
	renew  = "renew"
)

func (w *simulation) start(what string) *actor {
	w.seen++
	a := &actor{simulation: w, name: what + " " + strconv.Itoa(w.seen), turn: make(chan fate)}
	newID := func() string { return a.name }
	manager := tokens.NewManager(a, tokens.Vault{Sealer: plainSealer{}}, a,
		limiter(actorState{a}, what == look, time.Second, newID), time.Now, newID)
	worker := refresh.NewWorker(a, telling{a, manager}, actorState{a}, quiet{}, plainSealer{}, nil, nil, quiet{}, time.Now)
	began := time.Now()
	w.mu.Lock()
	used := w.newest
	w.mu.Unlock()
	w.actors = append(w.actors, a)
	w.group.Go(func() {
		switch what {
		case look:
			_ = worker.Process(w.ctx, tenant, connID)
		case export:
			got, err := manager.Current(w.ctx, tenant, connID)
			a.tell(got, err, began)
		default:
			got, err := manager.Renew(w.ctx, tenant, connID, used)
			a.tell(got, err, began)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		a.done = true
	})
	return a
}

// telling refreshes tokens through a Manager and records the result.
type telling struct {
	*actor

	manager tokens.Manager
}

func (k telling) Refresh(ctx context.Context, of org.Tenant, id string) (tokens.Usable, error) {
	began := time.Now()
	got, err := k.manager.Refresh(ctx, of, id)
	k.tell(got, err, began)
	return got, err
}

// waiting returns the actors blocked in a call, in the order they started.
func (w *simulation) waiting() []*actor {
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

func (a *actor) Tokens(ctx context.Context, of org.Tenant, id string) (row tokens.Row, err error) {
	err = a.perform(ctx, "Tokens", func() error { row, err = a.store.Tokens(ctx, of, id); return err })
	return row, err
}

func (a *actor) LeaseTokens(ctx context.Context, row tokens.Row, now time.Time) error {
	a.mu.Lock()
	a.token, a.leased = a.written[row.Version], now
	a.mu.Unlock()
	return a.perform(ctx, "LeaseTokens", func() error { return a.store.LeaseTokens(ctx, row, now) })
}

func (a *actor) ReleaseTokens(ctx context.Context, row tokens.Row) error {
	return a.perform(ctx, "ReleaseTokens", func() error { return a.store.ReleaseTokens(ctx, row) })
}

func (a *actor) RotateTokens(ctx context.Context, row tokens.Row) error {
	return a.perform(ctx, "RotateTokens", func() error {
		if err := a.store.RotateTokens(ctx, row); err != nil {
			return err
		}
		set, err := tokens.Vault{Sealer: plainSealer{}}.Open(ctx, row)
		if err != nil {
			return err
		}
		next, was := read(set), a.stored()
		if next.generation < was.generation || next.generation == was.generation && next.n <= was.n {
			a.failf("refresh token %v was overwritten with %v", was, next)
		}
		a.newest = row.Version
		a.written[row.Version] = next
		return nil
	})
}

func (a *actor) Refresh(ctx context.Context, _ org.Tenant, old tokens.Set) (fresh tokens.Set, err error) {
	if ctx.Err() != nil {
		return tokens.Set{}, ctx.Err() // the worker did not send a request
	}
	a.mu.Lock()
	a.used = true
	a.mu.Unlock()
	err = a.perform(ctx, "Refresh", func() error {
		fresh, err = a.portal.use(read(old))
		if errors.Is(err, tokens.ErrRefused) {
			a.refused, a.doubtful = true, a.unknown[a.token] > 0
		}
		return err
	})
	return fresh, err
}

func (a *actor) Connection(ctx context.Context, of org.Tenant, id string) (c connection.Connection, err error) {
	err = a.perform(ctx, "Connection", func() error { c, err = a.store.Connection(ctx, of, id); return err })
	return c, err
}

func (a *actor) SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error {
	return a.perform(ctx, "SaveConnection", func() error { return a.store.SaveConnection(ctx, c, events...) })
}

func (a *actor) RevokeConnection(ctx context.Context, c connection.Connection, version int64,
	event webhook.Event,
) error {
	return a.perform(ctx, "RevokeConnection", func() error {
		before := a.store.connections[connID]
		err := a.store.RevokeConnection(ctx, c, version, event)
		if err == nil {
			a.checkRevocation(before, c)
		}
		return err
	})
}

func (a *actor) Upstream(context.Context, org.Tenant, string) ([]byte, error) {
	return nil, fault.Missing("Record not found.")
}

func (a *actor) ForgetUpstream(context.Context, org.Tenant, string, []byte) error { return nil }

// proceed resumes an actor blocked in a call; f becomes the call's outcome.
func (a *actor) proceed(f fate) {
	a.mu.Lock()
	waits := a.at != ""
	a.mu.Unlock()
	if waits {
		a.turn <- f
		return
	}
	<-time.After(time.Second) // the actor pauses between retries
}

// perform blocks until the scheduler decides the call's fate, including whether the call takes effect.
func (a *actor) perform(ctx context.Context, call string, effect func() error) error {
	a.mu.Lock()
	if a.dead {
		a.mu.Unlock()
		runtime.Goexit()
	}
	a.at = call
	a.mu.Unlock()
	f, open, err := fate(""), true, ctx.Err()
	if err == nil {
		select {
		case f, open = <-a.turn:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = ""
	if f == crashBefore || f == crashAfter || !open {
		a.dead = true
	}
	if f != well && f != unspent && (a.dead || !isState(call)) {
		a.trouble(call)
	}
	outcome := errors.New("something failed")
	if f == well || f == failAfter || f == crashAfter {
		if told := effect(); f == well {
			outcome = told
		}
	}
	switch {
	case a.dead:
		runtime.Goexit()
	case f == collides:
		return fault.Stale()
	case f == unspent:
		return spentError{outcome, true}
	case err != nil:
		return err
	}
	return outcome
}

// isState reports whether a call accesses the shared endpoint state. If a call to the endpoint state fails, the
// refresh's outcome is still known.
func isState(call string) bool { return call == "EndpointState" }

// trouble records that a call failed, or that the lease expired before the work ended.
func (a *actor) trouble(call string) {
	if a.leased.IsZero() {
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
