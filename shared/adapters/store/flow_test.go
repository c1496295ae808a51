package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func attemptOf(of org.Tenant) flow.Attempt {
	return flow.Attempt{
		ID: "a0000000-0000-4000-8000-000000000001", Tenant: of, Status: flow.Open, RequestID: "req",
		Look:      binding.Look{Language: "es", Organisation: "Alder", Logo: "https://cdn.example/a.png", Accent: "#0a7d33"},
		CreatedAt: now, ExpiresAt: now.Add(30 * time.Minute),
		Requester: flow.Requester{
			RedirectURI: "https://alder.example/back", TokenHash: "token hash", ExternalID: "ext",
			ExternalState: "state",
		},
		Institution: flow.Institution{EndpointID: "endpoint", BrandID: "brand", PortalID: "portal", PlatformType: "sandbox"},
		Renewal:     flow.Renewal{Reconnect: "c0000000-0000-4000-8000-000000000009"},
		Server: flow.Server{
			FHIRBase: "https://fhir.example/r4", Issuer: "https://fhir.example", IssRequired: true,
			AuthorizationEndpoint: "https://fhir.example/authorize",
			TokenEndpoint:         "https://fhir.example/token", KeySet: "https://fhir.example/keys",
			Userinfo: "https://fhir.example/userinfo",
			Upstream: flow.Upstream{
				Revocation: "https://fhir.example/revoke", Introspection: "https://fhir.example/introspect", IntrospectBearer: true,
				Consent: 90 * 24 * time.Hour,
			},
		},
		Client: flow.Client{
			ClientID: "client", ClientAuthID: "auth", Callback: "https://api.example/v1/bridge/callback/r1",
			RawBasic: true,
		},
		Parameters: flow.Parameters{
			Aud: "https://fhir.example/r4/", Scope: "patient/*.read", RepeatScope: true,
			Extra: []string{"practice", "site"}, Nonce: true,
		},
		Secrets: flow.Secrets{NonceHash: "nonce hash", Verifier: []byte("sealed")},
	}
}

func stateOf(of org.Tenant) binding.State {
	return binding.State{
		Hash: "hash of " + of.Key(), BindingHash: "binding", Tenant: of, AttemptID: attemptOf(of).ID,
		ExpiresAt: now.Add(30 * time.Minute),
	}
}

func conclusionOf(of org.Tenant) flow.Conclusion {
	return flow.Conclusion{
		Attempt: attemptOf(of), Initials: "A. S.", Connection: connectionOf(of), Tokens: tokensOf(of),
		Events: []webhook.Event{eventOf(of, "e0000000-0000-4000-8000-00000000000c")},
	}
}

func TestBeginAttemptRoundTripsAttemptAndState(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))

	got, err := s.flow.Attempt(t.Context(), tenant, attemptOf(tenant).ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(attemptOf(tenant), got); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	state, err := s.flow.TakeState(t.Context(), stateOf(tenant).Hash, "binding", now)
	expect.NoError(t, err)
	if diff := cmp.Diff(stateOf(tenant), state); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestBeginAttemptFailsWhenStateExists(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	second := attemptOf(tenant)
	second.ID = "a0000000-0000-4000-8000-000000000002"
	expect.Conflict(t, "a state that exists", s.flow.BeginAttempt(t.Context(), second, stateOf(tenant)))
	_, err := s.flow.Attempt(t.Context(), tenant, second.ID)
	expect.NotFound(t, "the attempt of the refused state", err)
}

func TestTakeStateSucceedsOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	won := expect.Winners(t, 20, func(ctx context.Context, _ int) error {
		_, err := s.flow.TakeState(ctx, stateOf(tenant).Hash, "binding", now)
		if errors.Is(err, fault.NotFound) {
			return fault.Stale() // expect.Winners requires the losing calls to return fault.Conflict
		}
		return err
	})
	if won != 1 {
		t.Errorf("%d of 20 took the state, want 1", won)
	}
}

func TestTakeStateRequiresSameBrowser(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	state := stateOf(tenant)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), state))
	refusals := []struct {
		name          string
		hash, binding string
		at            time.Time
	}{
		{"an unknown state", "other", "binding", now},
		{"another browser", state.Hash, "other", now},
		{"no browser binding", state.Hash, "", now},
		{"the moment it expires", state.Hash, "binding", state.ExpiresAt},
		{"after it has expired", state.Hash, "binding", state.ExpiresAt.Add(time.Hour)},
	}
	for _, r := range refusals {
		there, err := s.flow.TakeState(t.Context(), r.hash, r.binding, r.at)
		expect.NotFound(t, r.name, err)
		if isThere := r.hash == state.Hash; isThere && there != state || !isThere && there != (binding.State{}) {
			t.Errorf("%s: the log is told of %+v", r.name, there)
		}
	}
	if _, err := s.flow.TakeState(t.Context(), state.Hash, "binding", state.ExpiresAt.Add(-time.Microsecond)); err != nil {
		t.Errorf("the right browser in the last moment: %v", err)
	}
}

func TestConcludeAttemptStoresConnectionAndTokens(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)

	conn, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	want := connectionOf(tenant)
	want.Rev++
	if diff := cmp.Diff(want, conn); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	row, err := s.tokens.Tokens(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if diff := cmp.Diff(tokensOf(tenant), row); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	told := conclusionOf(tenant).Events[0]
	event, err := s.events.Event(t.Context(), tenant, told.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(told, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	attempt, err := s.flow.Attempt(t.Context(), tenant, attemptOf(tenant).ID)
	expect.NoError(t, err)
	if attempt.Verifier != nil {
		t.Error("the sealed verifier is still there after its use")
	}
}

func TestConcludeAttemptSucceedsOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	again := conclusionOf(tenant)
	again.Connection.ID = "c0000000-0000-4000-8000-000000000002"
	again.Tokens.ConnectionID, again.Events = again.Connection.ID, nil
	expect.Conflict(t, "concluding again", s.flow.ConcludeAttempt(t.Context(), again))
	_, err := s.conns.Connection(t.Context(), tenant, again.Connection.ID)
	expect.NotFound(t, "the connection of the second conclusion", err)
	_, err = s.tokens.Tokens(t.Context(), tenant, again.Connection.ID)
	expect.NotFound(t, "the tokens of the second conclusion", err)
}

// TestConcludeAttemptIsAtomic checks that a single blocking row fails the whole transaction. No other row may be
// written, and the attempt must stay open.
func TestConcludeAttemptIsAtomic(t *testing.T) {
	t.Parallel()
	taken := flow.Conclusion{
		Attempt: attemptOf(tenant), Connection: connectionOf(tenant), Tokens: tokensOf(tenant),
		Events: conclusionOf(tenant).Events,
	}
	tests := []struct {
		name    string
		blocker func(c *flow.Conclusion) // makes the transaction for c fail
	}{
		{"connection", func(c *flow.Conclusion) { c.Tokens, c.Events = tokens.Row{}, nil }},
		{"tokens", func(c *flow.Conclusion) { c.Connection, c.Events = connection.Connection{}, nil }},
		{"event", func(c *flow.Conclusion) { c.Connection, c.Tokens = connection.Connection{}, tokens.Row{} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
			other, state := attemptOf(tenant), stateOf(tenant)
			other.ID, state.Hash = "a0000000-0000-4000-8000-000000000009", "another"
			expect.NoError(t, s.flow.BeginAttempt(t.Context(), other, state))
			blocker := taken
			test.blocker(&blocker)
			blocker.Attempt = other
			expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), blocker))

			expect.Conflict(t, "the conclusion", s.flow.ConcludeAttempt(t.Context(), taken))
			_, connErr := s.conns.Connection(t.Context(), tenant, connID)
			_, tokensErr := s.tokens.Tokens(t.Context(), tenant, connID)
			_, eventErr := s.events.Event(t.Context(), tenant, taken.Events[0].ID)
			for row, err := range map[string]error{"connection": connErr, "tokens": tokensErr, "event": eventErr} {
				if exists := err == nil; exists != (row == test.name) {
					t.Errorf("%s exists: %v, want only what stood in the way", row, exists)
				}
			}
			attempt, err := s.flow.Attempt(t.Context(), tenant, taken.Attempt.ID)
			expect.NoError(t, err)
			if attempt.Verifier == nil {
				t.Error("the attempt was closed although nothing was stored")
			}
		})
	}
}

func TestConcludeAttemptStoresErrorWithoutConnectionWhenAttemptFails(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	failed := flow.Conclusion{Attempt: attemptOf(tenant), Error: "access_denied"}
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), failed))
	expect.Conflict(t, "a second end", s.flow.ConcludeAttempt(t.Context(), conclusionOf(tenant)))
}

func TestConcludeAttemptStoresEitherGrantOrError(t *testing.T) {
	t.Parallel()
	granted := flow.Ending{
		ConnectionID: connID, ConnectionStatus: connection.Authorized, Scope: "patient/*.read",
		ConsentExpiresAt: now.Add(time.Hour), Initials: "A. S.",
	}
	failed := flow.Conclusion{
		Attempt: attemptOf(tenant), Error: "invalid_scope", Description: "The portal refused.", Cause: "invalid_scope",
		RequestID: "req-2",
	}
	refusal := flow.Ending{
		Error: "invalid_scope", Description: "The portal refused.", Cause: "invalid_scope",
		RequestID: "req-2",
	}
	for name, test := range map[string]struct {
		end    flow.Conclusion
		status flow.Status
		want   flow.Ending
	}{
		"done":   {conclusionOf(tenant), flow.Done, granted},
		"failed": {failed, flow.Failed, refusal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
			expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), test.end))
			want := attemptOf(tenant)
			want.Status, want.Ending, want.Verifier = test.status, test.want, nil
			got, err := s.flow.Attempt(t.Context(), tenant, want.ID)
			expect.NoError(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("attempt (-want +got):\n%s", diff)
			}
		})
	}
}
