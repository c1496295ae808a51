package refresh_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// refused returns a bench whose refreshes are refused for the given cause.
func refused(cause tokens.Cause) *bench {
	b := newBench()
	b.err = &tokens.RefusalError{Cause: cause, Version: 7, TokenEndpoint: endpointURL}
	return b
}

func TestWorkerRevokesOnRefusalUnlessRefusalsSurge(t *testing.T) {
	t.Parallel()
	name := refresh.EndpointName(endpointURL)
	for title, test := range map[string]struct {
		answered, refused int // number of responses and refusals at the token endpoint, including this refusal
		age               time.Duration
		countErr          error
		refusedAgo        time.Duration // time since the token set's first refusal; 0 if never refused
		refusedVersion    int64
		revoked           bool
		from, to          time.Duration // range of the next due time if the connection is not revoked
	}{
		"a single one":                 {answered: 1, refused: 1, revoked: true},
		"49 of 49":                     {answered: 49, refused: 49, revoked: true},
		"50 of 50":                     {answered: 50, refused: 50, from: time.Hour, to: 70 * time.Minute},
		"a fifth of 50":                {answered: 50, refused: 10, revoked: true},
		"more than a fifth of 50":      {answered: 50, refused: 11, from: time.Hour, to: 70 * time.Minute},
		"a fifth of 1,000":             {answered: 1000, refused: 200, revoked: true},
		"more than a fifth of 1,000":   {answered: 1000, refused: 201, from: time.Hour, to: 70 * time.Minute},
		"50 of 50, but 17 minutes ago": {answered: 50, refused: 50, age: 17 * time.Minute, revoked: true},
		"50 of 50, 14 minutes ago": {
			answered: 50, refused: 50, age: 14 * time.Minute, from: time.Hour,
			to: 70 * time.Minute,
		},
		"nobody knows how many": {countErr: errOurs, from: time.Hour, to: 70 * time.Minute},
		"the second after an hour": {
			answered: 900, refused: 900, refusedAgo: time.Hour, refusedVersion: 7,
			revoked: true,
		},
		"the second after a day": {countErr: errOurs, refusedAgo: day, refusedVersion: 7, revoked: true},
		"the second too early": {
			answered: 900, refused: 900, refusedAgo: 59 * time.Minute, refusedVersion: 7,
			from: time.Minute, to: 11 * time.Minute,
		},
		"the second too early, the surge over": {
			answered: 1, refused: 1, refusedAgo: 30 * time.Minute, refusedVersion: 7,
			from: 30 * time.Minute, to: 40 * time.Minute,
		},
		"another set was refused before": {
			answered: 50, refused: 50, refusedAgo: 2 * time.Hour, refusedVersion: 6,
			from: time.Hour, to: 70 * time.Minute,
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := refused(tokens.CauseInvalidGrant)
			b.state.add(name, start.Add(-test.age), test.answered, test.refused)
			b.state.fails["Counts"] = test.countErr
			first := start
			if test.refusedAgo > 0 {
				b.change(func(c *connection.Connection) {
					c.Refresh.RefusedAt, c.Refresh.RefusedVersion = start.Add(-test.refusedAgo), test.refusedVersion
				})
				if test.refusedVersion == 7 {
					first = start.Add(-test.refusedAgo)
				}
			}
			got := b.look(t)
			if test.revoked {
				b.wantRevoked(t, "invalid_grant")
				return
			}
			if got.Status != connection.Authorized || len(b.store.events) != 0 || b.store.rows[connID].Version != 7 {
				t.Errorf("%s, %d events, tokens %+v", got.Status, len(b.store.events), b.store.rows[connID])
			}
			if wait := got.Refresh.RefreshAt.Sub(start); wait < test.from || wait > test.to {
				t.Errorf("due again after %v, want %v to %v", wait, test.from, test.to)
			}
			if !got.Refresh.RefusedAt.Equal(first) || got.Refresh.RefusedVersion != 7 {
				t.Errorf("refused at %v, version %d; want %v, version 7", got.Refresh.RefusedAt, got.Refresh.RefusedVersion, first)
			}
		})
	}
}

// wantRevoked checks that the connection was revoked with the given cause, that the revocation was reported once, and
// that neither a due time nor tokens remain.
func (b *bench) wantRevoked(t *testing.T, cause string) {
	t.Helper()
	got := b.now()
	if got.Status != connection.Revoked || !got.DueAt().IsZero() || got.Refresh.EndedAt.IsZero() {
		t.Errorf("%s, due at %v, ended at %v", got.Status, got.DueAt(), got.Refresh.EndedAt)
	}
	if diff := cmp.Diff(connection.RefreshState{Ended: cause, EndedAt: got.Refresh.EndedAt}, got.Refresh); diff != "" {
		t.Errorf("care (-want +got):\n%s", diff)
	}
	want := []string{webhook.EventID(tenant, webhook.AuthorizationEnded, connID, got.Generation)}
	if diff := cmp.Diff(want, b.store.told(webhook.AuthorizationEnded)); diff != "" || len(b.store.events) != 1 {
		t.Errorf("%d events (-want +got):\n%s", len(b.store.events), diff)
	}
	if row, ok := b.store.rows[connID]; ok {
		t.Errorf("the tokens are still there: %+v", row)
	}
}

func TestRevocationEventMatchesSpecification(t *testing.T) {
	t.Parallel()
	b := refused(tokens.CauseRotationLost)
	b.look(t)
	b.wantRevoked(t, "rotation_lost")
	for id, event := range b.store.events {
		var got any
		expect.NoError(t, json.Unmarshal(event.Body, &got))
		want := map[string]any{
			"api_mode": "test", "date": "2026-03-04T05:06:07Z", "id": id, "type": "patient.authorization_revoked",
			"data": map[string]any{
				"org_connection_id": connID, "endpoint_id": "endpoint", "portal_id": "portal", "brand_id": "brand",
				"platform_type": "sandbox", "connection_status": "revoked",
			},
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{id}, b.enqueued); diff != "" {
			t.Errorf("enqueued (-want +got):\n%s", diff)
		}
	}
}

func TestWorkerKeepsConnectionWhenRefusedTokensChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(*bench)
		again     time.Duration // delay until the next due time; 0 if another worker has set that time
	}{
		"reconnected": {func(b *bench) {
			b.change(func(c *connection.Connection) { c.Generation++; c.Refresh.RefreshAt = start.Add(day) })
			b.store.rows[connID] = tokens.Row{Version: 8}
		}, 0},
		"reconnected, only the connection is seen": {func(b *bench) {
			b.change(func(c *connection.Connection) { c.Generation++; c.Refresh.RefreshAt = start.Add(day) })
		}, 0},
		"renewed by an export": {func(b *bench) { b.store.rows[connID] = tokens.Row{Version: 8} }, 2 * time.Minute},
		"renewed by another worker": {func(b *bench) {
			b.change(func(c *connection.Connection) { c.Refresh.RefreshAt = start.Add(day) })
			b.store.rows[connID] = tokens.Row{Version: 8}
		}, 0},
		"disconnected": {func(b *bench) { b.change(disconnect); delete(b.store.rows, connID) }, 0},
		"gone":         {func(b *bench) { delete(b.store.connections, connID) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := refused(tokens.CauseInvalidGrant)
			var want connection.Connection
			b.store.meanwhile = func() { test.meanwhile(b); want = b.now() }
			got := b.look(t)
			if test.again > 0 {
				want.Rev, want.Refresh.RefreshAt = want.Rev+1, start.Add(test.again)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(b.store.events) != 0 {
				t.Errorf("%d events, connection (-want +got):\n%s", len(b.store.events), diff)
			}
		})
	}
}

func TestWorkerRevokesDespiteUnrelatedChange(t *testing.T) {
	t.Parallel()
	b := refused(tokens.CauseInvalidGrant)
	b.store.meanwhile = func() { b.change(func(c *connection.Connection) { c.Refresh.Warned = true }) }
	b.look(t)
	b.wantRevoked(t, "invalid_grant")

	b = refused(tokens.CauseInvalidGrant) // another worker has already deferred the same refusal
	b.store.meanwhile = func() {
		b.change(func(c *connection.Connection) {
			c.Refresh.RefusedAt, c.Refresh.RefusedVersion, c.Refresh.RefreshAt = start, 7, start.Add(time.Hour)
		})
	}
	if got := b.look(t); got.Status != connection.Authorized || got.Refresh.RefreshAt.Before(start.Add(time.Hour)) {
		t.Errorf("%s, due at %v", got.Status, got.Refresh.RefreshAt)
	}
}

func TestInterruptedRevocationIsReportedOnce(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*bench){
		"before it":                     func(b *bench) { b.store.fails["RevokeConnection"] = errOurs },
		"after it":                      func(b *bench) { b.store.lost["RevokeConnection"] = errOurs },
		"after it, and it was repeated": func(b *bench) { b.store.lost["RevokeConnection"] = fault.Stale() },
		"by a worker that did the same": func(b *bench) {
			b.store.meanwhile = func() { _ = b.worker().Process(context.Background(), tenant, connID) }
		},
		"by others who are always faster": func(b *bench) { b.store.fails["RevokeConnection"] = fault.Stale() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := refused(tokens.CauseInvalidGrant)
			how(b)
			_ = b.worker().Process(t.Context(), tenant, connID)
			b.store.fails = map[string]error{}
			b.at = b.at.Add(2 * time.Minute)
			for range 3 {
				b.look(t)
			}
			b.wantRevoked(t, "invalid_grant")
		})
	}
}
