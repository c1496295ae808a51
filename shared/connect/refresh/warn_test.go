package refresh_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
)

// ending returns a bench whose connection's consent ends after the duration in and whose tokens are not due.
func ending(in time.Duration) *bench {
	b := newBench()
	b.change(func(c *connection.Connection) {
		c.ConsentExpiresAt, c.Refresh.RefreshAt, c.Refresh.ConsentFixed = start.Add(in), start.Add(30*day), true
	})
	return b
}

func TestWorkerWarnsSevenDaysBeforeConsentEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in     time.Duration
		events int
		warned bool
	}{
		"eight days before":             {8 * day, 0, false},
		"a moment too early":            {7*day + 1, 0, false},
		"seven days before":             {7 * day, 1, true},
		"late":                          {time.Second, 1, true},
		"never, once it has ended":      {0, 0, true},
		"never, when it ended long ago": {-30 * day, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ending(test.in)
			want := b.now()
			want.Rev, want.Refresh.Warned = want.Rev+1, test.warned
			if diff := cmp.Diff(want, b.look(t)); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			b.look(t) // simulates a duplicate message
			if got := len(b.store.told(webhook.AuthorizationEnding)); got != test.events || len(b.enqueued) != test.events {
				t.Errorf("told %d times, enqueued %d times, want %d", got, len(b.enqueued), test.events)
			}
			if got := b.now(); test.warned && !got.DueAt().Equal(start.Add(30*day)) {
				t.Errorf("due at %v, want the refresh", got.DueAt())
			}
		})
	}
}

func TestWarningContainsRecommendedAction(t *testing.T) {
	t.Parallel()
	b := ending(2 * day)
	b.look(t)
	for id, event := range b.store.events {
		var got any
		expect.NoError(t, json.Unmarshal(event.Body, &got))
		want := map[string]any{
			"api_mode": "test", "date": "2026-03-04T05:06:07Z", "id": id, "type": "patient.authorization_expiring",
			"data": map[string]any{
				"org_connection_id": connID, "endpoint_id": "endpoint", "portal_id": "portal", "brand_id": "brand",
				"platform_type": "sandbox", "consent_expires_at": "2026-03-06T05:06:07Z",
				"cause": "consent_expires", "suggested_action": "Ask the patient to reconnect before this date.",
			},
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	}
	if len(b.store.events) != 1 {
		t.Errorf("%d events", len(b.store.events))
	}
}

// TestWorkerRefreshesBeforeWarning checks that a due refresh precedes a due warning, because the refresh may change the
// end of consent. If the warning is still due after the refresh, the worker then sends it.
func TestWorkerRefreshesBeforeWarning(t *testing.T) {
	t.Parallel()
	for moved, want := range map[bool]int{true: 0, false: 1} {
		b := ending(3 * day)
		b.change(func(c *connection.Connection) { c.Refresh.RefreshAt = start })
		if moved {
			b.set.ConsentExpiresAt = start.Add(90 * day)
		}
		b.look(t)
		b.look(t)
		if got := len(b.store.told(webhook.AuthorizationEnding)); got != want || b.asked != 1 {
			t.Errorf("moved: %v; told %d times, %d refreshes", moved, got, b.asked)
		}
	}
}

func TestWarningIsDistinctPerConsentAndAuthorisation(t *testing.T) {
	t.Parallel()
	b := ending(3 * day)
	b.look(t)
	again := func(how func(*connection.Connection)) {
		b.change(func(c *connection.Connection) { c.Refresh.Warned = false; how(c) })
		b.look(t)
	}
	again(func(c *connection.Connection) { c.ConsentExpiresAt = start.Add(5 * day) })
	again(func(c *connection.Connection) { c.Generation++ })
	if got := len(b.store.told(webhook.AuthorizationEnding)); got != 3 {
		t.Errorf("told %d times, want 3", got)
	}
	// If the end of consent moves to a day that was already reported, that day must not cause a new event or endless
	// runs.
	again(func(c *connection.Connection) { c.Generation--; c.ConsentExpiresAt = start.Add(3 * day) })
	if got := len(b.store.told(webhook.AuthorizationEnding)); got != 3 || !b.now().Refresh.Warned {
		t.Errorf("told %d times, want 3; warned: %v", got, b.now().Refresh.Warned)
	}
}

func TestWarningSurvivesConcurrentChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		how    func(*bench)
		events int
	}{
		"another worker has warned": {
			func(b *bench) { b.change(func(c *connection.Connection) { c.Refresh.Warned = true }) },
			0,
		},
		"reconnected, without an end of consent": {func(b *bench) {
			b.change(func(c *connection.Connection) { c.Generation++; c.ConsentExpiresAt = time.Time{} })
		}, 0},
		"revoked": {
			func(b *bench) { b.change(func(c *connection.Connection) { c.Status = connection.Revoked }) },
			0,
		},
		"gone": {func(b *bench) { delete(b.store.connections, connID) }, 0},
		"due at another time": {func(b *bench) {
			b.change(
				func(c *connection.Connection) { c.Refresh.RefreshAt = start.Add(day) })
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ending(3 * day)
			b.store.meanwhile = func() { test.how(b) }
			b.look(t)
			if got := len(b.store.told(webhook.AuthorizationEnding)); got != test.events {
				t.Errorf("told %d times, want %d", got, test.events)
			}
		})
	}
	b := ending(3 * day)
	b.store.collisions = 3
	b.look(t)
	if got := len(b.store.told(webhook.AuthorizationEnding)); got != 1 {
		t.Errorf("told %d times after collisions, want once", got)
	}
	b = ending(3 * day)
	b.store.lost["SaveConnection"] = errOurs
	if b.worker().Process(t.Context(), tenant, connID) == nil {
		t.Error("a lost answer is no error")
	}
	b.look(t)
	if got := len(b.store.told(webhook.AuthorizationEnding)); got != 1 {
		t.Errorf("told %d times after a lost answer, want once", got)
	}
}

// TestWorkerSkipsWarningForRollingExpiry covers a refresh token whose expiry is always near because every refresh
// extends it. An expiry that every refresh changes must not be reported as the end of consent.
func TestWorkerSkipsWarningForRollingExpiry(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{30 * time.Minute, 3 * day, 10 * day} {
		b := newBench()
		b.change(func(c *connection.Connection) {
			c.ConsentExpiresAt, c.Refresh.RefreshAt = start.Add(life), start.Add(life/2)
		})
		for range 30 {
			b.at = b.now().DueAt()
			b.set.ConsentExpiresAt, b.set.RefreshExpiresAt = b.at.Add(life), b.at.Add(life)
			b.look(t)
		}
		if got := len(b.store.told(webhook.AuthorizationEnding)); got != 0 || b.asked != 30 {
			t.Errorf("a life of %v: told %d times, %d refreshes in 30 looks", life, got, b.asked)
		}
	}
}

func TestWorkerWarnsAboutFixedExpiry(t *testing.T) {
	t.Parallel()
	b := ending(3 * day)
	b.change(func(c *connection.Connection) { c.Refresh.ConsentFixed, c.Refresh.RefreshAt = false, start })
	b.set.ConsentExpiresAt = start.Add(3*day + time.Second)
	b.look(t)
	b.look(t)
	if got := len(b.store.told(webhook.AuthorizationEnding)); got != 1 || b.asked != 1 {
		t.Errorf("told %d times after %d refreshes", got, b.asked)
	}
}
