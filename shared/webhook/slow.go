package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// A slow webhook is one that was seen not to respond at once. Its attempts have the usual time-out
// (docs/guide/webhooks.md, Retries), but the number under way at a time is limited, because each holds a worker's
// connection, and all receivers share these (docs/adr/0014-who-waits-works-on.md). They are not counted, since a crash
// would leave a wrong count; instead, they start far enough apart not to exceed the limit. A webhook that responds at
// once incurs no cost here.

const (
	// answersAtOnce is the response time up to which a webhook does not count as slow.
	answersAtOnce = time.Second
	// slowFor is the time for which a webhook counts as slow after a slow response.
	slowFor = 2 * time.Minute
	// slowAtOnce is the number of attempts to a slow webhook that may be under way at a time.
	slowAtOnce = 50
	// longestAnswer is the maximum response time of a webhook, and therefore the assumed one of a webhook that has not
	// responded yet.
	longestAnswer = 30 * time.Second
	// slowAhead is the time for which slots are reserved in advance for a slow webhook, so that few attempts wait long
	// once it is fast again.
	slowAhead = time.Minute
)

// isSlow reports whether a webhook recently responded slowly.
func (h Health) isSlow(now time.Time) bool { return now.Before(h.SlowUntil) }

// interval returns the time that one attempt at now takes up in the endpoint's rate.
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

// posted is a POST that was sent: its response counts, and the attempt must not be repeated.
type posted struct {
	answer Answer
	// unmarked is the error of marking a slow webhook, or nil. It is reported after the attempt is recorded.
	unmarked error
}

// post sends the POST. It marks a webhook as slow before the response arrives, because other workers assume until then
// that it is fast. An error means that no POST was sent.
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

// markSlow records a webhook's response time as slow, unless that is already known.
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
