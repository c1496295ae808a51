package oidc_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// service runs attempts through the production flow with in-memory stores and no encryption.
type service struct {
	judge judge

	mu       sync.Mutex
	attempts map[string]flow.Attempt
	states   map[string]binding.State
	ends     []flow.Conclusion
}

func newService(j judge) *service {
	return &service{judge: j, attempts: map[string]flow.Attempt{}, states: map[string]binding.State{}}
}

func (d *service) BeginAttempt(_ context.Context, attempt flow.Attempt, state binding.State) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts[attempt.ID], d.states[state.Hash] = attempt, state
	return nil
}

func (d *service) TakeState(_ context.Context, hash, bound string, _ time.Time) (binding.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state, ok := d.states[hash]
	if !ok || state.BindingHash != bound {
		return binding.State{}, fault.Missing("no state")
	}
	delete(d.states, hash)
	return state, nil
}

func (d *service) Attempt(_ context.Context, _ org.Tenant, id string) (flow.Attempt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attempts[id], nil
}

func (d *service) ConcludeAttempt(_ context.Context, end flow.Conclusion) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = append(d.ends, end)
	return nil
}

func (d *service) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	return catalog.Endpoint{
		ID: id, BrandID: ids.Derive("brand"), PortalID: ids.Derive("portal"), FHIRBase: d.judge.FHIRBase,
		PlatformType: "unheard-of", Mode: string(tenant.Mode), Status: catalog.EndpointActive,
	}, nil
}

func (*service) Way(context.Context, string, string) (catalog.Way, error) {
	return catalog.Way{}, fault.Missing("no way")
}

func (*service) Registration(context.Context, org.Tenant, catalog.Endpoint) (catalog.Registration, error) {
	return catalog.Registration{ClientID: "public"}, nil
}

func (*service) Ticket(context.Context, string, time.Time) (binding.Ticket, error) {
	return binding.Ticket{}, fault.Missing("no ticket")
}

func (*service) OpenAttempt(context.Context, binding.Ticket, flow.Attempt, binding.State) error {
	return fault.Stale()
}

func (*service) TokenVersion(context.Context, org.Tenant, string) (int64, error) { return 0, nil }

func (*service) EnqueueEvent(context.Context, org.Tenant, string) error { return nil }

// leave starts an attempt at a platform that has no profile.
func (d *service) leave(t *testing.T) binding.Started {
	t.Helper()
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{"https://app.example/back"}, "https://app.example/back")
	expect.NoError(t, err)
	registry, err := platform.NewRegistry()
	expect.NoError(t, err)
	started, err := flow.Starter{
		Preparation: flow.Preparation{
			Catalog: d, Connections: flow.NoConnections{}, Portal: portal(), Platforms: registry, BaseURL: ours, Now: time.Now,
			NewID: ids.Random, Random: rand.Reader,
		},
		Store: d, Sealer: glass{},
	}.Start(t.Context(), flow.Request{Caller: org.Caller{Tenant: tenant}, Redirect: redirect, EndpointID: ids.Random()})
	expect.NoError(t, err)
	return started
}

// completeAttempt completes an attempt in the browser that started it, with the callback's query.
func (d *service) completeAttempt(t *testing.T, left binding.Started, told url.Values) (flow.Completed, error) {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	return flow.Completer{
		Own:   ownhosts.Own(),
		Store: d, Connections: flow.NoConnections{}, Portal: portal(), Sealer: glass{}, Vault: tokens.Vault{Sealer: glass{}},
		Hashing: ring, Enqueuer: d,
		BaseURL: ours, Now: time.Now, NewID: ids.Random,
	}.Complete(t.Context(), flow.Return{
		State: told.Get("state"), Code: secret.New(told.Get("code")), Issuer: told.Get("iss"), Error: told.Get("error"),
		Cookie: func(name string) string {
			if name == left.CookieName {
				return left.CookieValue.Reveal()
			}
			return ""
		},
	})
}

// wantNothing checks that an attempt failed with code and that no tokens are stored for it.
func (d *service) wantNothing(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.Of(err).Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
	if len(d.ends) != 1 || len(d.ends[0].Tokens.Sealed) > 0 || d.ends[0].Error != string(code) {
		t.Errorf("stored %d ends, want one with %s and without tokens", len(d.ends), code)
	}
}
