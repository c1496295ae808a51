package exporttest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/known"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// grants stores the tokens and endpoint of a single connection and refreshes the tokens at the portal.
type grants struct {
	portal   smart.Portal
	endpoint catalog.Endpoint

	turn    chan struct{} // serves as a lock, because waiting on a sync.Mutex would stop virtual time during a refresh
	set     tokens.Set
	version int64
}

// Connection implements source.Connections.
func (*grants) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{EndpointID: "e0000000-0000-4000-8000-000000000001"}, nil
}

// Endpoint implements source.Endpoints.
func (g *grants) Endpoint(context.Context, string) (catalog.Endpoint, error) { return g.endpoint, nil }

// RefreshDue implements worker.Refreshes.
func (*grants) RefreshDue(context.Context, org.Tenant, string, time.Time) error { return nil }

// Current implements source.Tokens.
func (g *grants) Current(ctx context.Context, _ org.Tenant, _ string) (tokens.Usable, error) {
	defer g.take()()
	if time.Now().Before(g.set.ExpiresAt) {
		return tokens.Usable{Set: g.set, Version: g.version}, nil
	}
	return g.refresh(ctx)
}

// Renew implements source.Tokens.
func (g *grants) Renew(ctx context.Context, _ org.Tenant, _ string, used int64) (tokens.Usable, error) {
	defer g.take()()
	if g.version != used {
		return tokens.Usable{Set: g.set, Version: g.version}, nil
	}
	return g.refresh(ctx)
}

// take locks the tokens until done is called.
func (g *grants) take() (done func()) {
	g.turn <- struct{}{}
	return func() { <-g.turn }
}

func (g *grants) refresh(ctx context.Context) (tokens.Usable, error) {
	if g.set.RefreshToken.Empty() {
		return tokens.Usable{}, tokens.ErrNothingToRenew
	}
	fresh, err := g.portal.Refresh(ctx, tenant, g.set)
	if err != nil {
		return tokens.Usable{}, err
	}
	g.set, g.version = fresh, g.version+1
	return tokens.Usable{Set: g.set, Version: g.version}, nil
}

// learned is a store.EndpointState that counts calls to SaveKnown.
type learned struct {
	store.EndpointState

	saved int
}

func newLearned(tb testing.TB) *learned {
	tb.Helper()
	made := tables.New(tb)
	return &learned{EndpointState: store.EndpointState{DB: made.DB, Table: made.Name("FlowTable")}}
}

func (l *learned) SaveKnown(ctx context.Context, endpointID string, server known.Server, until time.Time) error {
	l.saved++
	return l.EndpointState.SaveKnown(ctx, endpointID, server, until)
}

// invocation simulates a worker run that can crash at a given call. Calls made after the crash have no effect.
type invocation struct {
	endsAt int  // 1-based number of the last call before the crash; 0 means no crash
	after  bool // whether the last call takes effect even though its response is lost
	end    context.CancelFunc

	mu    sync.Mutex
	calls int
}

// call runs do as the worker's next outbound call. It returns errDead if the run has crashed.
func (i *invocation) call(do func() error) error {
	i.mu.Lock()
	i.calls++
	last, dead := i.calls == i.endsAt, i.endsAt > 0 && i.calls > i.endsAt
	i.mu.Unlock()
	if dead || last && !i.after {
		i.end()
		return errDead
	}
	err := do()
	if last {
		i.end()
		return errDead
	}
	return err
}

func (i *invocation) over() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.endsAt > 0 && i.calls >= i.endsAt
}

// crashing implements export.Files and export.Enqueuer for a single invocation, which can crash at any call.
type crashing struct {
	*invocation

	files   *memory.Files
	enqueue *[]time.Duration
}

func (c crashing) EnqueueTask(_ context.Context, _ org.Tenant, _ string, delay time.Duration) error {
	return c.call(func() error { *c.enqueue = append(*c.enqueue, delay); return nil })
}

func (c crashing) EnqueueEvent(context.Context, org.Tenant, string) error {
	return c.call(func() error { return nil })
}

func (c crashing) Create(ctx context.Context, key, contentType string) (w export.Writer, err error) {
	err = c.call(func() error {
		w, err = c.files.Create(ctx, key, contentType)
		return err
	})
	return &upload{Writer: w, invocation: c.invocation}, err
}

func (c crashing) Open(ctx context.Context, key string) (r io.ReadCloser, err error) {
	err = c.call(func() error { r, err = c.files.Open(ctx, key); return err })
	return r, err
}

func (c crashing) Compose(ctx context.Context, key, contentType string, parts []string) error {
	return c.call(func() error { return c.files.Compose(ctx, key, contentType, parts) })
}

func (c crashing) Delete(ctx context.Context, key string) error {
	return c.call(func() error { return c.files.Delete(ctx, key) })
}

// upload is an export.Writer that fails if its invocation has crashed.
type upload struct {
	export.Writer

	invocation *invocation
}

func (u *upload) Write(p []byte) (int, error) {
	if u.invocation.over() {
		return 0, errDead
	}
	return u.Writer.Write(p)
}

func (u *upload) Close(ctx context.Context) error {
	return u.invocation.call(func() error { return u.Writer.Close(ctx) })
}

// portalOf returns a portal for public clients. It rejects a token endpoint that has moved.
func portalOf(doer smart.Doer) smart.Portal {
	return smart.NewPortal(doer, nothing{}, nothing{}, time.Now)
}

// nothing is a store without clients or endpoints.
type nothing struct{}

func (nothing) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return errors.New("nothing is at hand to authenticate with")
}

func (nothing) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, fault.Missing("Endpoint not found.")
}
