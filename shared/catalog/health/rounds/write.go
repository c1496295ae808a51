package rounds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// savesAtOnce is the maximum number of findings stored concurrently.
	savesAtOnce = 8
	// observedFor is the period over which connections' results are considered.
	observedFor = time.Hour
	// summarizeEvery is the minimum time between two summaries for a mode. If only probe times have changed, the
	// minimum interval is confirmEvery.
	summarizeEvery = 5 * time.Minute
	confirmEvery   = time.Hour
)

// write stores a run's findings. If a finding cannot be stored, write continues with the others, and the endpoint
// remains due.
func (r *Rounds) write(ctx context.Context, results []result) error {
	var (
		group    errgroup.Group
		mu       sync.Mutex // guards the following fields
		kept     = map[*entry]health.Record{}
		failures []error
		told     = map[string]int{}
	)
	group.SetLimit(savesAtOnce)
	for _, one := range results {
		group.Go(func() error {
			next, err := r.keep(ctx, one)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures = append(failures, err)
				return nil
			}
			kept[one.entry] = next
			told[outcome(one.found)]++
			return nil
		})
	}
	_ = group.Wait() // failures are counted, not returned
	for e, next := range kept {
		before := cmp.Or(e.record.State, health.Unknown)
		r.states[e.Mode].remember(e, next)
		if before != next.State {
			logx.Note(ctx, "catalogprobe.endpoint", slog.String("mode", e.Mode), slog.String("endpoint_id", e.ID),
				slog.String("state", string(next.State)), slog.String("class", next.Cause))
		}
	}
	for what, count := range told {
		logx.Add(ctx, slog.Int(what, count))
		for range count {
			logx.Measure(ctx, metric.Count(metric.Probes, what))
		}
	}
	if len(failures) > 0 {
		logx.Add(ctx, slog.Int("unsaved", len(failures)))
		return fmt.Errorf("%d of %d findings: %w", len(failures), len(results), failures[0])
	}
	return nil
}

func outcome(f health.Finding) string {
	switch {
	case f.Busy:
		return "limited"
	case f.Cause != "":
		return "failed"
	}
	return "well"
}

func (r *Rounds) keep(ctx context.Context, one result) (health.Record, error) {
	observed, err := r.observe(ctx, one)
	if err != nil {
		return health.Record{}, err
	}
	next := one.record.After(one.found, observed, one.ended)
	if sum := one.found.DiscoveredURLs.Sum(); sum != "" && sum != next.Seen {
		if err := r.Records.SaveDiscoveredURLs(ctx, one.found.DiscoveredURLs); err != nil {
			return health.Record{}, fmt.Errorf("save discovered URLs: %w", err)
		}
		next.Seen = sum
	}
	if err := r.Records.SaveRecord(ctx, next); err != nil {
		return health.Record{}, fmt.Errorf("save record: %w", err)
	}
	next.Rev++
	return next, nil
}

func (r *Rounds) observe(ctx context.Context, one result) (health.Observed, error) {
	var seen health.Observed
	token, since := one.found.Token, one.ended.Add(-observedFor)
	if one.found.Cause != "" {
		token = one.record.Token
		if one.record.Failures > 0 && one.record.FailingAt.After(since) {
			since = one.record.FailingAt
		}
	}
	if token == "" || one.found.Busy {
		return seen, nil
	}
	if one.found.Cause == "" {
		failing, err := r.Observer.Failing(ctx, token)
		if err != nil || !failing {
			return seen, wrapped("observe breaker", err)
		}
		seen.Failing = true
	}
	answered, err := r.Observer.Answered(ctx, token, since)
	seen.Answered = answered
	return seen, wrapped("observe answers", err)
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// summarize writes a summary for each mode whose records have changed.
func (r *Rounds) summarize(ctx context.Context, now time.Time) error {
	var failures []error
	for _, w := range r.states {
		if w.entries == nil || now.Sub(w.summarized) < summarizeEvery {
			continue
		}
		if err := r.publish(ctx, w, now); err != nil {
			failures = append(failures, fmt.Errorf("summary of %s: %w", w.mode, err))
			continue
		}
		w.summarized = now
	}
	return errors.Join(failures...)
}

func (r *Rounds) publish(ctx context.Context, w *modeState, now time.Time) error {
	records := make([]health.Record, 0, len(w.entries))
	for _, e := range w.entries {
		records = append(records, e.record)
	}
	made := health.Summarize(records)
	p, err := r.Records.Pointer(ctx, w.mode)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	states := made.States()
	switch {
	case p.Version == "" && made.Len() == 0, p.States == states && now.Sub(p.MadeAt) < confirmEvery:
		return nil
	case p.Version != "" && made.Version(p.MadeAt) == p.Version:
		return nil // no endpoint has been probed since the last summary
	}
	p.Version, p.States, p.MadeAt = made.Version(now), states, now
	if err := r.Put(ctx, health.ObjectName(w.mode, p.Version), made.Bytes()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := r.Records.MovePointer(ctx, p); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	logx.Add(ctx, slog.String("summary_"+w.mode, p.Version))
	return nil
}
