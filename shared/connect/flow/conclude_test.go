package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// TestAuthorisationWithoutRefreshTokenReportsAccessTokenExpiry checks that, without a refresh token, an authorisation's
// reported end is never later than the access token's expiry.
func TestAuthorisationWithoutRefreshTokenReportsAccessTokenExpiry(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		life, consent, want time.Duration
		isWarned            bool
	}{
		"nobody speaks of consent, for a year":    {life: 365 * day, want: 365 * day},
		"nobody speaks of consent, for minutes":   {life: 5 * time.Minute, want: 5 * time.Minute, isWarned: true},
		"consent would last longer":               {life: 8 * day, consent: 90 * day, want: 8 * day},
		"consent ends before":                     {life: 365 * day, consent: 90 * day, want: 90 * day},
		"consent ends before, and soon":           {life: 365 * day, consent: 7 * day, want: 7 * day, isWarned: true},
		"it was over before anybody could use it": {life: -time.Second, want: -time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.set.RefreshToken, w.set.ExpiresAt = secret.Text{}, time.Now().Add(test.life)
				if test.consent > 0 {
					w.set.ConsentExpiresAt, w.set.ConsentStated = time.Now().Add(test.consent), true
				}
				done, err := w.completer(t).Complete(t.Context(), w.start(t, request(t)).back())
				if err != nil {
					t.Fatal(err)
				}
				c := conclusionOf(t, w)
				ends := time.Now().Add(test.want)
				want := connection.RefreshState{
					RefreshAt: w.set.ExpiresAt, Unrenewable: true, ConsentFixed: true,
					Warned: test.isWarned,
				}
				if diff := cmp.Diff(want, c.Connection.Refresh); diff != "" || !c.Connection.ConsentExpiresAt.Equal(ends) {
					t.Errorf("consent until %v, care (-want +got):\n%s", c.Connection.ConsentExpiresAt, diff)
				}
				told := ends.UTC().Format(time.RFC3339)
				if data := dataOf(t, flow.Conclusion{Events: c.Events[:1]},
					webhook.ConnectionSucceeded); done.Result.Get("consent_expires_at") != told || data["consent_expires_at"] != told {
					t.Errorf("the result says %q, the event %q, want %q", done.Result.Get("consent_expires_at"),
						data["consent_expires_at"], told)
				}
				if isWarned := len(c.Events) == 2; isWarned != test.isWarned || len(w.enqueued) != len(c.Events) {
					t.Fatalf("%d events, of which %d were sent on", len(c.Events), len(w.enqueued))
				}
				if test.isWarned {
					data := dataOf(t, flow.Conclusion{Events: c.Events[1:]}, webhook.AuthorizationEnding)
					if data["consent_expires_at"] != told || data["cause"] != "no_refresh_token" {
						t.Errorf("warned with %v", data)
					}
				}
			})
		})
	}
}

func TestCallbackLogLineNamesAttemptOwner(t *testing.T) {
	t.Parallel()
	for failure, want := range map[error]map[string]any{
		nil: {"org_id": tenant.OrgID, "mode": "test", "endpoint_id": endpointID, "sign_in": "connected"},
		errors.New("an HTML document"): {
			"org_id": tenant.OrgID, "mode": "test", "endpoint_id": endpointID,
			"ended": "token_exchange", "sign_in": "portal",
		},
	} {
		w := newWorld()
		if failure != nil {
			w.exchange = func(context.Context) error { return failure }
		}
		ctx, line := logx.Begin(t.Context())
		_, _ = w.completer(t).Complete(ctx, w.start(t, request(t)).back())
		if failure == nil {
			want["connection_id"] = conclusionOf(t, w).Connection.ID
		}
		want["attempt_id"] = conclusionOf(t, w).Attempt.ID
		var log bytes.Buffer
		line.Emit(ctx, logx.New(&log), "test")
		var got map[string]any
		if err := json.NewDecoder(&log).Decode(&got); err != nil { // the metric's line follows
			t.Fatal(err)
		}
		for _, always := range []string{"level", "msg", "time"} {
			delete(got, always)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", failure, diff)
		}
	}
}
