package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// A webhook is slow if a recent response took longer than answersAtOnce. Attempts for a slow webhook have the usual
// timeout (docs/guide/webhooks.md, Retries), but the number of concurrent attempts is limited. The limit exists because
// each attempt occupies one of a worker's connections, which all receivers share (docs/adr/0014-who-waits-works-on.md).
// Attempts are spaced out rather than counted, because a count would be wrong after a crash.

const (
	// answersAtOnce is the longest response time that does not count as slow.
	answersAtOnce = time.Second
	// slowFor is the period for which a webhook counts as slow after a slow response.
	slowFor = 2 * time.Minute
	// slowAtOnce is the maximum number of concurrent attempts for a slow webhook.
	slowAtOnce = 50
	// longestAnswer is the maximum response time of a webhook. A webhook that has not yet responded is assumed to take
	// that long.
	longestAnswer = 30 * time.Second
	// slowAhead is the maximum time by which slots are reserved in advance for a slow webhook. It ensures that few
	// attempts wait long after the webhook has recovered.
	slowAhead = time.Minute
)

func (h Health) isSlow(now time.Time) bool { return now.Before(h.SlowUntil) }

// interval returns the time between two slots at the endpoint's rate, for an attempt made at now.
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

// posted is the result of a POST that was sent. The response to the POST counts, so the attempt must not be repeated.
type posted struct {
	answer Answer
	// unmarked is the error from marking a webhook as slow, if any. The error is reported after the attempt is
	// recorded.
	unmarked error
}

// post sends a POST to the webhook. The webhook is marked as slow before its response arrives, so that other workers
// also treat it as slow. If post returns an error, no POST was sent.
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

// markSlow records that a webhook is slow and how long it takes to respond, unless both are already recorded.
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
