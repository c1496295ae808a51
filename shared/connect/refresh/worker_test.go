package refresh_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// bench is a test environment with a worker, one connection with tokens, and a health system with configurable
// responses.
type bench struct {
	store    *memory
	state    *endpointState
	enqueued []string
	at       time.Time
	opener   plainSealer

	set     tokens.Set
	err     error
	asked   int
	revoked []tokens.Set
	revoke  error   // health system's response to a revocation
	ended   []int64 // generations up to which cached records were deleted
	unended error   // error to return from the next deletion of cached records

	finish   func() error // called to complete a requested disconnection, if set
	finished int
}

// newBench returns a bench with a connection whose tokens are due.
func newBench() *bench {
	b := &bench{store: newMemory(), state: newEndpointState(), at: start, set: setOf("refresh 2")}
	b.store.connections[connID] = connection.Connection{
		ID: connID, Tenant: tenant, Status: connection.Authorized, BrandID: "brand", PortalID: "portal",
		EndpointID:   "endpoint",
		PlatformType: "sandbox", Scope: "patient/*.read", Generation: 2, CreatedAt: start.Add(-30 * day), Rev: 4,
		Refresh: connection.RefreshState{RefreshAt: start.Add(-time.Minute)},
	}
	b.store.rows[connID] = tokens.Row{Tenant: tenant, ConnectionID: connID, Version: 7}
	return b
}

func (b *bench) Refresh(context.Context, org.Tenant, string) (tokens.Usable, error) {
	b.asked++
	return tokens.Usable{Set: b.set, Version: 8}, b.err
}

func (b *bench) Revoke(_ context.Context, _ org.Tenant, set tokens.Set) error {
	b.revoked = append(b.revoked, set)
	return b.revoke
}

func (b *bench) DeleteUntil(_ context.Context, _ org.Tenant, id string, generation int64) error {
	if err := b.unended; err != nil {
		b.unended = nil
		return err
	}
	if c := b.store.connections[id]; c.Status == connection.Authorized {
		b.ended = append(b.ended, generation)
	}
	return nil
}

func (b *bench) Finish(context.Context, org.Tenant, string) (connection.Connection, error) {
	b.finished++
	if b.finish == nil {
		return b.now(), nil
	}
	err := b.finish()
	return b.now(), err
}

func (b *bench) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	b.enqueued = append(b.enqueued, id)
	return errOurs // simulates a lost message, which is resent later
}

func (b *bench) worker() refresh.Worker {
	return refresh.NewWorker(b.store, b, b.state, b, b.opener, b, b, b, func() time.Time { return b.at })
}

// look runs the worker once and returns the resulting connection.
func (b *bench) look(t *testing.T) connection.Connection {
	t.Helper()
	expect.NoError(t, b.worker().Process(t.Context(), tenant, connID))
	return b.now()
}

func (b *bench) now() connection.Connection { return b.store.connections[connID] }

// change simulates another worker's write.
func (b *bench) change(how func(*connection.Connection)) {
	c := b.now()
	how(&c)
	c.Rev++
	b.store.connections[connID] = c
}

func TestWorkerStoresRefreshResponse(t *testing.T) {
	t.Parallel()
	ends := start.Add(90 * day)
	for name, test := range map[string]struct {
		was  func(*connection.Connection)
		set  func(*tokens.Set)
		want func(*connection.Connection)
	}{
		"nothing new": {},
		"a scope": {
			set:  func(s *tokens.Set) { s.Scope = "patient/Patient.read" },
			want: func(c *connection.Connection) { c.Scope = "patient/Patient.read" },
		},
		"the end of consent": {
			set:  func(s *tokens.Set) { s.ConsentExpiresAt = ends },
			want: func(c *connection.Connection) { c.ConsentExpiresAt = ends },
		},
		"no word of the consent that is known": {
			was:  func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.Warned = ends, true },
			want: func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.Warned = ends, true },
		},
		"a consent moved by moments, told already": {
			was:  func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.Warned = ends.Add(-day), true },
			set:  func(s *tokens.Set) { s.ConsentExpiresAt = ends },
			want: func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.Warned = ends, true },
		},
		"another consent, to be told again": {
			was: func(c *connection.Connection) {
				c.ConsentExpiresAt, c.Refresh.Warned = ends.Add(-day-time.Second), true
			},
			set:  func(s *tokens.Set) { s.ConsentExpiresAt = ends },
			want: func(c *connection.Connection) { c.ConsentExpiresAt = ends },
		},
		"an end that was said of the consent itself": {
			set:  func(s *tokens.Set) { s.ConsentExpiresAt, s.ConsentStated = ends, true },
			want: func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.ConsentFixed = ends, true },
		},
		"an end that stays where it was": {
			was:  func(c *connection.Connection) { c.ConsentExpiresAt = ends.Add(-5 * time.Minute) },
			set:  func(s *tokens.Set) { s.ConsentExpiresAt = ends },
			want: func(c *connection.Connection) { c.ConsentExpiresAt, c.Refresh.ConsentFixed = ends, true },
		},
		"an end that moves after all": {
			was: func(c *connection.Connection) {
				c.ConsentExpiresAt, c.Refresh.ConsentFixed = ends.Add(-6*time.Minute), true
			},
			set:  func(s *tokens.Set) { s.ConsentExpiresAt = ends },
			want: func(c *connection.Connection) { c.ConsentExpiresAt = ends },
		},
		"failures and a refusal that was held": {
			was: func(c *connection.Connection) {
				c.Refresh.Failures, c.Refresh.FailureClass = 11, "server_fault"
				c.Refresh.RefusedAt, c.Refresh.RefusedVersion = start.Add(-time.Hour), 7
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			want := b.now()
			if test.set != nil {
				test.set(&b.set)
			}
			want.Refresh.RefreshAt, want.Refresh.RenewedAt = refresh.Next(connID, b.set, start), start
			if test.want != nil {
				test.want(&want)
			}
			if test.was != nil {
				b.change(test.was)
				want.Rev++
			}
			want.Rev++
			if diff := cmp.Diff(want, b.look(t)); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			if len(b.store.events) != 0 {
				t.Errorf("events %v", b.store.events)
			}
			b.look(t)
			if b.asked != 1 {
				t.Errorf("a duplicate refreshed, too")
			}
		})
	}
}

func TestWorkerSavesConnectionUnchangedWhenNothingIsDue(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*connection.Connection){
		"due later": func(c *connection.Connection) { c.Refresh.RefreshAt = start.Add(time.Second) },
		"never due": func(c *connection.Connection) { c.Refresh.RefreshAt = time.Time{} },
		"revoked":   func(c *connection.Connection) { c.Status = connection.Revoked },
		"rejected":  func(c *connection.Connection) { c.Status = connection.Rejected },
		"revoked, with a consent that ends": func(c *connection.Connection) {
			c.Status,
				c.ConsentExpiresAt = connection.Revoked, start.Add(day)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.change(how)
			want := b.now()
			want.Rev++
			if diff := cmp.Diff(want, b.look(t)); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			if b.asked+len(b.revoked)+len(b.store.events) != 0 {
				t.Errorf("%d refreshes, %d revocations, %d events", b.asked, len(b.revoked), len(b.store.events))
			}
		})
	}
	b := newBench()
	expect.NoError(t, b.worker().Process(t.Context(), tenant, "unknown"))
}

// TestWorkerKeepsConcurrentChange checks that the worker adds only information that the concurrent change can't
// contain.
func TestWorkerKeepsConcurrentChange(t *testing.T) {
	t.Parallel()
	elsewhere := start.Add(99 * time.Hour)
	reschedule := func(c *connection.Connection) { c.Refresh.RefreshAt = elsewhere }
	for name, test := range map[string]struct {
		meanwhile func(*connection.Connection)
		err       error
		want      func(*connection.Connection)
	}{
		"warned, and renewed": {
			meanwhile: func(c *connection.Connection) { c.Refresh.Warned = true },
			want: func(c *connection.Connection) {
				c.Refresh.RefreshAt, c.Refresh.RenewedAt = refresh.Next(connID, setOf("refresh 2"), start), start
			},
		},
		"reconnected, while the old tokens were renewed": {
			meanwhile: func(c *connection.Connection) { c.Generation++; reschedule(c) },
		},
		"reconnected, while the old tokens failed": {
			meanwhile: func(c *connection.Connection) { c.Generation++ },
			err:       errTheir,
		},
		"disconnected":                           {meanwhile: disconnect},
		"renewed by another, failed here":        {meanwhile: reschedule, err: errTheir},
		"renewed by another, who held the lease": {meanwhile: reschedule, err: fault.Stale()},
		"renewed by another, busy here":          {meanwhile: reschedule, err: &refresh.BusyError{RetryAt: start}},
		"renewed by another, and nothing to renew": {
			meanwhile: reschedule,
			err:       &tokens.UnrenewableError{Version: 7, ExpiresAt: start.Add(time.Hour)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.err = test.err
			var want connection.Connection
			b.store.meanwhile = func() {
				b.change(test.meanwhile)
				want = b.now()
			}
			got := b.look(t)
			if test.want != nil {
				test.want(&want)
				want.Rev++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkerReturnsInternalErrors(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"Connection", "SaveConnection"} {
		b := newBench()
		b.store.fails[call] = errOurs
		if err := b.worker().Process(t.Context(), tenant, connID); !errors.Is(err, errOurs) {
			t.Errorf("%s fails: Process = %v", call, err)
		}
	}
	b := newBench()
	b.store.fails["SaveConnection"] = fault.Stale() // every write conflicts
	if err := b.worker().Process(t.Context(), tenant, connID); !errors.Is(err, fault.Conflict) {
		t.Errorf("Process = %v, want fault.Conflict in the end", err)
	}
}

// TestWorkerStoresOutcomeAfterDeadline covers a function deadline that passes while the worker waits for the health
// system's response.
func TestWorkerStoresOutcomeAfterDeadline(t *testing.T) {
	t.Parallel()
	b := newBench()
	ctx, cancel := context.WithCancel(t.Context())
	refresher := refreshFunc(func() (tokens.Usable, error) { cancel(); return tokens.Usable{Set: b.set, Version: 8}, nil })
	worker := refresh.NewWorker(untilCancelled{b.store}, refresher, b.state, b, b.opener, b, b, b,
		func() time.Time { return b.at })
	expect.NoError(t, worker.Process(ctx, tenant, connID))
	if got := b.now().Refresh.RefreshAt; !got.After(start) {
		t.Errorf("still due at %v", got)
	}
}

type refreshFunc func() (tokens.Usable, error)

func (f refreshFunc) Refresh(context.Context, org.Tenant, string) (tokens.Usable, error) {
	return f()
}

type untilCancelled struct{ *memory }

func (s untilCancelled) SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.memory.SaveConnection(ctx, c, events...)
}
