package webhook_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

var errOutbox = errors.New("the outbox fails")

// steps is an outbox that remembers what was done, and fails at one of its steps.
type steps struct {
	done []string
	fail string
}

func (s *steps) Notify(context.Context, webhook.Notice) error { return s.step("store") }

func (s *steps) NudgeNotice(context.Context, org.Tenant, string) error { return s.step("nudge") }

func (s *steps) step(name string) error {
	s.done = append(s.done, name)
	if name == s.fail {
		return errOutbox
	}
	return nil
}

func TestANoticeIsStoredAndThenNudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fail string
		err  error
		done []string
	}{
		{"", nil, []string{"store", "nudge"}},
		{"store", errOutbox, []string{"store"}},
		{"nudge", nil, []string{"store", "nudge"}}, // the sweeper does it; a webhook is disabled all the same
	} {
		s := &steps{fail: test.fail}
		err := webhook.Outbox{Rows: s, Nudger: s}.Notify(t.Context(), webhook.Notice{})
		if !errors.Is(err, test.err) || !slices.Equal(s.done, test.done) {
			t.Errorf("failing at %q: %v after %q", test.fail, err, s.done)
		}
	}
}

func TestANoticeShowsNoSecretOfAURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://user:secret@alder.example:8443/a%2Fb/c?key=secret#secret": "https://alder.example:8443/a%2Fb/c",
		"https://alder.example": "https://alder.example",
		"://secret":             "",
	} {
		if got := webhook.Created(webhook.Subscription{URL: given}).URL; got != want {
			t.Errorf("%s is shown as %q, want %q", given, got, want)
		}
	}
}
