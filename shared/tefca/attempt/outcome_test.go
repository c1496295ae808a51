package attempt_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/logx"
)

// wantCounted checks that act counts sign-ins with exactly the given outcomes.
func wantCounted(t *testing.T, name string, act func(ctx context.Context), outcomes ...string) {
	t.Helper()
	var log bytes.Buffer
	ctx, event := logx.Begin(t.Context())
	act(ctx)
	event.Emit(ctx, logx.New(&log), "test")
	want := map[string]int{}
	for _, one := range outcomes {
		want["SignIns "+one]++
	}
	if diff := cmp.Diff(want, measured.In(t, log.Bytes())); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestCauseHasOutcomeForEachTefcaFailure(t *testing.T) {
	t.Parallel()
	words := slices.Collect(maps.Keys(attempt.Causes()))
	for _, reason := range []attempt.Reason{
		attempt.ReasonRefused, attempt.ReasonUnavailable, attempt.ReasonTooLarge, attempt.ReasonContent, attempt.ReasonOther,
		attempt.ReasonIdentity, attempt.ReasonInternal,
	} {
		words = append(words, string(reason))
	}
	for _, word := range words {
		if outcome, known := tally.Cause(word).Outcome(); !known || outcome == "" {
			t.Errorf("package tally doesn't classify %q", word)
		}
	}
}

func TestReturnIsCountedOnlyIfItFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"a verified identity":     {nil, nil},
		"a declined check":        {identity.Refused("access_denied", nil), []string{"patient"}},
		"no response":             {identity.Unavailable(nil), []string{"portal"}},
		"a rejected registration": {identity.Refused("invalid_scope", nil), []string{"service"}},
		"an internal failure":     {errTrouble, []string{"service"}},
	} {
		w := newWorld(t)
		w.exchange = func(context.Context, identity.Return) error { return c.err }
		back := w.left(t, attemptID, "x")
		wantCounted(t, name, func(ctx context.Context) { _, _ = w.completer().Complete(ctx, back) }, c.want...)
		wantCounted(t, name+", once more", func(ctx context.Context) { _, _ = w.completer().Complete(ctx, back) })
	}
}

func TestCancellationIsCountedIfSignInHasStarted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		isLeft bool
		want   []string
	}{"before the window opens": {false, nil}, "at the provider": {true, []string{"patient"}}} {
		w := newWorld(t)
		var prepared attempt.Prepared
		wantCounted(t, name+", created", func(ctx context.Context) {
			var err error
			prepared, err = w.create(ctx, attemptID, wanted("x"))
			expect.NoError(t, err)
		})
		if c.isLeft {
			wantCounted(t, name+", left", func(ctx context.Context) {
				_, err := w.starter().Leave(ctx, prepared.Start)
				expect.NoError(t, err)
			}, "started")
		}
		wantCounted(t, name, func(ctx context.Context) {
			_, err := w.canceler().Cancel(ctx, tenant, attemptID, pageToken(), "cancel-1")
			expect.NoError(t, err)
		}, c.want...)
	}
}

func TestFailedLocateIsCountedByPartyAtFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		late time.Duration
		want []string
	}{
		"facilities":           {nil, 0, nil},
		"no response":          {tefca.ErrUnavailable, 0, []string{"portal"}},
		"missing demographics": {tefca.ErrDemographics, 0, []string{"patient"}},
		"a late worker":        {nil, time.Hour, []string{"service"}},
	} {
		w := newWorld(t)
		w.locate = func(context.Context, func(tefca.Facility) error) error { return c.err }
		w.verified(t, attemptID, "x")
		w.pass(c.late)
		wantCounted(t, name, func(ctx context.Context) {
			expect.NoError(t, w.worker.Process(ctx, tenant, attemptID))
		}, c.want...)
	}
}

// TestChosenFacilitiesAreCountedOnce checks that an attempt counts as one sign-in, however many facilities are chosen.
func TestChosenFacilitiesAreCountedOnce(t *testing.T) {
	t.Parallel()
	failing := func(err error) func() (records.Content, error) {
		return func() (records.Content, error) { return records.Content{}, err }
	}
	for name, c := range map[string]struct {
		one, two error
		want     string
	}{
		"one connected":               {tefca.ErrTooLarge, nil, "connected"},
		"both connected":              {nil, nil, "connected"},
		"both refused":                {tefca.ErrRefused, tefca.ErrRefused, "portal"},
		"one failed by the service":   {errTrouble, tefca.ErrRefused, "service"},
		"other failed by the service": {tefca.ErrRefused, errTrouble, "service"},
	} {
		w := newWorld(t)
		w.read["one"], w.read["two"] = failing(c.one), failing(c.two)
		w.located(t, attemptID, "x", "one", "two", "three")
		w.choose(t, attemptID, "one", "two")
		process := func(ctx context.Context) { _ = w.worker.Process(ctx, tenant, attemptID) }
		wantCounted(t, name, process, c.want)
		w.choose(t, attemptID, "three")
		wantCounted(t, name+", another", process)
	}
}
