package flow_test

import (
	"testing"
	"testing/synctest"
)

func TestStartOmitsPKCEWhenPlatformRejectsChallenge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.profile.NoChallenge = true
		if _, err := w.starter().Start(t.Context(), request(t)); err != nil {
			t.Fatal(err)
		}
		attempt := w.attempts[w.states[hash(w.asked.State)].AttemptID]
		if w.asked.Challenge != "" || !attempt.NoChallenge {
			t.Errorf("challenge %q, pinned: %t", w.asked.Challenge, attempt.NoChallenge)
		}
	})
}
