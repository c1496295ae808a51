package refresh_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// unrenewable returns a bench whose connection has no refresh token. left is the remaining lifetime of the access
// token.
func unrenewable(left time.Duration) *bench {
	b := newBench()
	b.err = &tokens.UnrenewableError{Version: 7, ExpiresAt: start.Add(left)}
	return b
}

// TestUnrenewableConnectionIsDueAtAccessTokenExpiry covers older rows, which have no due time until an export marks
// them as due.
func TestUnrenewableConnectionIsDueAtAccessTokenExpiry(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		left, consent time.Duration // durations from now; 0 if unknown
		warned        bool          // the organisation was already warned that consent is about to end
		want          time.Duration // expected time until consent ends
		events        int           // number of warnings sent by later runs
	}{
		"nobody spoke of consent": {left: 8 * day, want: 8 * day},
		"consent lasts longer":    {left: 8 * day, consent: 90 * day, want: 8 * day},
		"consent lasts longer, and was told": {
			left: 5 * time.Minute, consent: 6 * day, warned: true,
			want: 5 * time.Minute, events: 1,
		},
		"consent ends before":                    {left: 365 * day, consent: 90 * day, want: 90 * day},
		"consent ends before, soon":              {left: 365 * day, consent: day, want: day, events: 1},
		"consent ends before, and that was told": {left: 365 * day, consent: day, warned: true, want: day},
		"less than seven days are left":          {left: time.Minute, want: time.Minute, events: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := unrenewable(test.left)
			b.change(func(c *connection.Connection) {
				c.Refresh.Warned = test.warned
				if test.consent > 0 {
					c.ConsentExpiresAt = start.Add(test.consent)
				}
			})
			got := b.look(t)
			if !got.Refresh.RefreshAt.Equal(start.Add(test.left)) || !got.ConsentExpiresAt.Equal(start.Add(test.want)) ||
				got.Status != connection.Authorized {
				t.Errorf("%s, due at %v, consent ends at %v", got.Status, got.Refresh.RefreshAt, got.ConsentExpiresAt)
			}
			for range 2 {
				b.look(t)
			}
			if told := len(b.store.told(webhook.AuthorizationEnding)); told != test.events || len(b.store.events) != told {
				t.Errorf("told %d times of %d events, want %d", told, len(b.store.events), test.events)
			}
		})
	}
}

func TestUnrenewableConnectionEndsAtAccessTokenExpiry(t *testing.T) {
	t.Parallel()
	for _, ago := range []time.Duration{0, time.Second, 400 * day} {
		b := unrenewable(-ago)
		b.state.fails["Counts"] = errOurs // no token was refused, so the surge guard is not consulted
		b.look(t)
		b.look(t)
		b.wantRevoked(t, connection.AccessEnded)
	}
}

// TestWorkerDeletesCachedRecordBeforeEndingConnection covers the cached records of the current and earlier
// authorisations. For other connections, the worker must not delete any records.
func TestWorkerDeletesCachedRecordBeforeEndingConnection(t *testing.T) {
	t.Parallel()
	b := unrenewable(0)
	b.change(func(c *connection.Connection) { c.PlatformType = connection.TEFCAPlatform })
	b.unended = errOurs
	if err := b.worker().Process(t.Context(), tenant, connID); !errors.Is(err, errOurs) ||
		b.now().Status != connection.Authorized {
		t.Errorf("with a record that cannot be removed it is %s, %v", b.now().Status, err)
	}
	b.look(t)
	b.wantRevoked(t, connection.AccessEnded)
	if !slices.Equal(b.ended, []int64{2}) {
		t.Errorf("ended are the generations up to %v", b.ended)
	}
	b = unrenewable(0)
	b.look(t)
	if b.wantRevoked(t, connection.AccessEnded); len(b.ended) > 0 {
		t.Errorf("of one with a server of its own, ended are %v", b.ended)
	}
}

func TestInterruptedExpiryOfUnrenewableConnectionIsReportedOnce(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*bench){
		"before it":                  func(b *bench) { b.store.fails["RevokeConnection"] = errOurs },
		"after it":                   func(b *bench) { b.store.lost["RevokeConnection"] = errOurs },
		"by others, who were faster": func(b *bench) { b.store.fails["RevokeConnection"] = fault.Stale() },
		"by a change of another kind": func(b *bench) {
			b.store.meanwhile = func() { b.change(func(c *connection.Connection) { c.Refresh.Warned = true }) }
		},
		"by another transaction": func(b *bench) { b.store.collisions = 2 },
		"by an export that is told so": func(b *bench) {
			b.store.meanwhile = func() { b.change(func(c *connection.Connection) { c.Refresh.RefreshAt = start }) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := unrenewable(0)
			how(b)
			_ = b.worker().Process(t.Context(), tenant, connID)
			b.store.fails = map[string]error{}
			b.at = b.at.Add(2 * time.Minute)
			for range 3 {
				b.look(t)
			}
			b.wantRevoked(t, connection.AccessEnded)
		})
	}
}

func TestWorkerKeepsConnectionWhenExpiredTokensChanged(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*bench){
		"reconnected": func(b *bench) {
			b.change(func(c *connection.Connection) {
				c.Generation++
				c.Refresh = connection.RefreshState{RefreshAt: start.Add(day)}
			})
			b.store.rows[connID] = tokens.Row{Version: 8}
		},
		"disconnected": func(b *bench) { b.change(disconnect); delete(b.store.rows, connID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := unrenewable(0)
			var want connection.Connection
			b.store.meanwhile = func() { meanwhile(b); want = b.now() }
			if diff := cmp.Diff(want, b.look(t)); diff != "" || len(b.store.events) != 0 {
				t.Errorf("%d events, connection (-want +got):\n%s", len(b.store.events), diff)
			}
		})
	}
}
