package webhook_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
)

// TestResponseSchedulesNextAttempt checks when the next attempt is due after the first attempt (5 s) and after the
// second (5 min).
func TestResponseSchedulesNextAttempt(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	tests := map[string]struct {
		jitter        float64
		answer        func() webhook.Answer
		first, second time.Duration
	}{
		"nothing":               {0.5, status(500, ""), 5 * time.Second, 5 * time.Minute},
		"nothing, early":        {0, status(503, ""), 4 * time.Second, 4 * time.Minute},
		"less than the step":    {0, status(503, "1"), 5 * time.Second, 5 * time.Minute},
		"within two steps":      {0, status(503, "7"), 7 * time.Second, 5 * time.Minute},
		"minutes":               {0, status(500, "400"), 10 * time.Second, 400 * time.Second},
		"more than two steps":   {0, status(400, "86400"), 10 * time.Second, 10 * time.Minute},
		"more than there is":    {0, status(500, "99999999999999999999"), 10 * time.Second, 10 * time.Minute},
		"a redirect":            {0, status(302, "8"), 8 * time.Second, 5 * time.Minute},
		"zero":                  {0, status(503, "0"), 5 * time.Second, 5 * time.Minute},
		"negative is no number": {0.5, status(503, "-9"), 5 * time.Second, 5 * time.Minute},
		"no number":             {0.5, status(503, "soon"), 5 * time.Second, 5 * time.Minute},
		"a date": {
			0, func() webhook.Answer { return status(503, in(8*time.Second))() }, 8 * time.Second,
			5 * time.Minute,
		},
		"a date far away": {
			0, func() webhook.Answer { return status(503, in(time.Hour))() }, 10 * time.Second,
			10 * time.Minute,
		},
		"a date that has passed":  {0, status(503, "Thu, 01 Jan 1970 00:00:00 GMT"), 5 * time.Second, 5 * time.Minute},
		"a date of old":           {0, status(503, "Thursday, 01-Jan-70 00:00:00 GMT"), 5 * time.Second, 5 * time.Minute},
		"too many requests":       {0, status(429, ""), time.Minute, 4 * time.Minute},
		"too many requests, late": {0.5, status(429, "7"), 66 * time.Second, 5 * time.Minute},
		"bad gateway":             {0, status(502, ""), time.Minute, 4 * time.Minute},
		"gateway timeout":         {0, status(504, ""), time.Minute, 4 * time.Minute},
		"timeout": {
			0, func() webhook.Answer { return webhook.Answer{Failure: webhook.FailedTimeout} },
			time.Minute, 4 * time.Minute,
		},
		"connection refused": {
			0, func() webhook.Answer { return webhook.Answer{Failure: webhook.FailedConnect} },
			4 * time.Second, 4 * time.Minute,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.jitter = test.jitter
				w.answer = func(string, int) (webhook.Answer, error) { return test.answer(), nil }
				w.subscribe(t, "s1")
				expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
				row := w.due(t)[0]
				<-time.After(w.queued[0].delay)
				expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, row.ID))
				got := []time.Duration{w.queued[0].delay, w.queued[1].delay}
				if diff := cmp.Diff([]time.Duration{test.first, test.second}, got); diff != "" || len(w.posts) != 2 {
					t.Errorf("%d posts, waits (-want +got):\n%s", len(w.posts), diff)
				}
			})
		})
	}
}

func status(code int, retryAfter string) func() webhook.Answer {
	return func() webhook.Answer { return webhook.Answer{Status: code, RetryAfter: retryAfter} }
}

func TestReceiverCanDisableWebhookAndEndDelivery(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer   webhook.Answer
		disabled webhook.Reason
		more     bool
	}{
		"410":                      {webhook.Answer{Status: 410}, webhook.ReasonGone, false},
		"disable with a failure":   {webhook.Answer{Status: 500, Control: "disable"}, webhook.ReasonAsked, false},
		"disable with a success":   {webhook.Answer{Status: 204, Control: " Disable "}, webhook.ReasonAsked, false},
		"abort with a failure":     {webhook.Answer{Status: 500, Control: "abort-message"}, "", false},
		"abort with a success":     {webhook.Answer{Status: 200, Control: "abort-message"}, "", false},
		"a word that is not known": {webhook.Answer{Status: 500, Control: "pause"}, "", true},
		"404 is not 410":           {webhook.Answer{Status: 404}, "", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.answer = func(string, int) (webhook.Answer, error) { return test.answer, nil }
				w.subscribe(t, "s1")
				expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
				s := w.subscription(t)
				if s.Disabled != (test.disabled != "") || s.DisabledFor != test.disabled || s.Disabled &&
					!s.DisabledAt.Equal(time.Now()) {
					t.Errorf("disabled: %t for %q at %v, want it for %q", s.Disabled, s.DisabledFor, s.DisabledAt, test.disabled)
				}
				if got := len(w.due(t)) == 1; got != test.more {
					t.Errorf("another attempt is due: %t, want %t", got, test.more)
				}
				if s.Disabled && (len(w.told) != 1 || w.told[0].reason != test.disabled || w.late) {
					t.Errorf("told %+v (too late: %t), want it once before it was disabled", w.told, w.late)
				}
				if !s.Disabled && len(w.told) != 0 {
					t.Errorf("told %+v, want nothing", w.told)
				}
			})
		})
	}
}

// TestDisabledSubscriptionHoldsDeliveries checks that new deliveries to a disabled subscription are held, as are
// scheduled deliveries when they become due.
func TestDisabledSubscriptionHoldsDeliveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(_ string, nth int) (webhook.Answer, error) {
			return webhook.Answer{Status: []int{500, 410}[nth-1]}, nil
		}
		w.subscribe(t, "s1")
		out := &statuses{}
		worker := w.worker()
		worker.Store = out.over(w.store)
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 1).ID))
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 2).ID))
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 3).ID))
		rows := w.due(t)
		if len(rows) != 1 || rows[0].Kind != due.Delivery {
			t.Fatalf("due %v, want the first delivery", rows)
		}
		<-time.After(time.Minute)
		expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, rows[0].ID))
		want := []string{"recorded scheduled", "recorded held", "made held", "parked held"}
		if diff := cmp.Diff(want, out.told); diff != "" || len(w.posts) != 2 || len(w.due(t)) != 0 {
			t.Errorf("%d posts, due %v, states (-want +got):\n%s", len(w.posts), w.due(t), diff)
		}
	})
}
