package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// A slow webhook is one that was seen not to answer at once. Its attempts get as long as anybody's
// (docs/guide/webhooks.md, Retries), but only so many are under way at a time: each holds a connection of a worker, and
// those are all receivers' together (docs/adr/0014-who-waits-works-on.md). Nobody counts them, since a crash would
// leave a wrong count: they begin so far apart that they cannot be more. A webhook that answers at once costs nothing
// here.

const (
	// answersAtOnce is how long a webhook may take without being a slow one.
	answersAtOnce = time.Second
	// slowFor is how long it is one after it was seen last.
	slowFor = 2 * time.Minute
	// slowAtOnce is how many attempts at a slow webhook are under way at a time.
	slowAtOnce = 50
	// longestAnswer is what a webhook may take at most, and so what is expected of one that has not answered yet.
	longestAnswer = 30 * time.Second
	// slowAhead is how far ahead places are given for a slow webhook, so that little waits long
	// when it is a fast one again.
	slowAhead = time.Minute
)

// isSlow reports whether a webhook was seen lately not to answer at once.
func (h Health) isSlow(now time.Time) bool { return now.Before(h.SlowUntil) }

// interval is the time that one attempt at now takes up of the endpoint's rate.
func (s Subscription) interval(now time.Time) time.Duration {
	rate := s.Rate
	if rate <= 0 {
		rate = defaultRate
	}
	agreed := time.Second / time.Duration(rate)
	if !s.Health.isSlow(now) {
		return agreed
	}
	return max(agreed, s.Health.Answers/slowAtOnce)
}

// posted is a POST that was made: its answer counts, and the attempt must not be made again.
type posted struct {
	answer Answer
	// unmarked is the error of marking a slow webhook, or nil. It is reported after the attempt is recorded.
	unmarked error
}

// post makes the POST. It marks a webhook as slow before the answer comes, since until then other workers take it for a
// fast one. An error means that no POST was made.
func (w Worker) post(ctx context.Context, s Subscription, header map[string]string, body []byte) (posted, error) {
	began := w.Now()
	marked := make(chan error, 1)
	timer := time.AfterFunc(answersAtOnce, func() {
		expected := s.Health.Answers
		if expected == 0 {
			expected = longestAnswer
		}
		marked <- w.markSlow(ctx, s, expected)
	})
	answer, err := w.Poster.Post(ctx, s.URL, header, body)
	made := posted{answer: answer, unmarked: nil}
	isSlow := !timer.Stop()
	if isSlow {
		made.unmarked = <-marked
	}
	if err != nil {
		return posted{}, fmt.Errorf("post webhook: %w", err)
	}
	if isSlow && made.unmarked == nil {
		made.unmarked = w.markSlow(context.WithoutCancel(ctx), s, w.Now().Sub(began))
	}
	return made, nil
}

// markSlow notes that a webhook takes so long to answer, unless it is known already.
func (w Worker) markSlow(ctx context.Context, s Subscription, takes time.Duration) error {
	now, known := w.Now(), s.Health.Answers
	isKnown := s.Health.SlowUntil.Sub(now) > slowFor/2 && takes <= 2*known && known <= 2*takes
	if isKnown {
		return nil
	}
	err := w.Health.MarkSlow(ctx, s.Tenant, s.ID, now.Add(slowFor), takes)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("mark a slow webhook: %w", err)
	}
	return nil
}
