package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// A webhook is slow if a recent response took longer than answersAtOnce. Attempts for a slow webhook have the usual
// timeout (docs/guide/webhooks.md, Retries), but the number of concurrent attempts is limited. Each attempt occupies
// one of a worker's connections, which all receivers share (docs/adr/0014-who-waits-works-on.md). Attempts are not
// counted, because a crash would leave a wrong count. To stay within the limit, attempts are spaced out, which doesn't
// delay a webhook that responds immediately.

const (
	// answersAtOnce is the maximum response time of a webhook that does not count as slow.
	answersAtOnce = time.Second
	// slowFor is the period for which a webhook counts as slow after a slow response.
	slowFor = 2 * time.Minute
	// slowAtOnce is the maximum number of concurrent attempts for a slow webhook.
	slowAtOnce = 50
	// longestAnswer is a webhook's maximum response time, and the assumed response time of a webhook that has not yet
	// responded.
	longestAnswer = 30 * time.Second
	// slowAhead limits how far ahead slots are reserved for a slow webhook, so that few attempts wait long once the
	// webhook is fast again.
	slowAhead = time.Minute
)

// isSlow reports whether a webhook recently responded slowly.
func (h Health) isSlow(now time.Time) bool { return now.Before(h.SlowUntil) }

// interval returns the time in the endpoint's rate that an attempt at now occupies.
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

// posted holds the result of a POST that was sent. The response counts, and the attempt must not be repeated.
type posted struct {
	answer Answer
	// unmarked is the error from marking a webhook as slow, or nil. The error is reported after the attempt is
	// recorded.
	unmarked error
}

// post sends the POST. A slow webhook is marked as slow before the response arrives, because other workers would
// otherwise assume that the webhook is fast. An error means that no POST was sent.
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

// markSlow records a webhook as slow with its response time, unless the same state is already recorded.
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
