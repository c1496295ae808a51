package rounds

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/logx"
)

const (
	// hostsAtOnce is the maximum number of hosts probed concurrently. probeWithin is the timeout for each probe.
	hostsAtOnce = 16
	probeWithin = 10 * time.Second
	// reserve is the time set aside at the end of a run for storing its findings.
	reserve = 5 * time.Second
	// between is the pause between consecutive probes of the same host.
	between = time.Second
	// silentVisits is the number of consecutive unanswered probes after which a run skips the host's remaining
	// endpoints.
	silentVisits = 2
)

type result struct {
	*entry

	found health.Finding
	ended time.Time
}

func (r *Rounds) probeDue(ctx context.Context, now, until time.Time) error {
	hosts, due := r.due(now)
	results := r.visitHosts(ctx, hosts, until)
	believed := r.isServersFault(ctx, results, now)
	logx.Add(ctx, slog.Int("due", due), slog.Int("probed", len(results)), slog.Int("hosts", len(hosts)),
		slog.Bool("believed", believed))
	if !believed {
		return nil // all endpoints stay due for the next run
	}
	return r.write(ctx, results)
}

// visitHosts probes up to hostsAtOnce hosts concurrently, and the endpoints of each host one at a time.
func (r *Rounds) visitHosts(ctx context.Context, hosts [][]*entry, until time.Time) []result {
	var group errgroup.Group
	group.SetLimit(hostsAtOnce)
	found := make([][]result, len(hosts))
	for i, visits := range hosts {
		if r.late(until) {
			break
		}
		group.Go(func() error {
			found[i] = r.visitHost(ctx, visits, until)
			return nil
		})
	}
	_ = group.Wait() // probe failures are findings, not errors
	var all []result
	for _, some := range found {
		all = append(all, some...)
	}
	return all
}

func (r *Rounds) visitHost(ctx context.Context, visits []*entry, until time.Time) []result {
	var (
		results []result
		silent  int
	)
	for n, e := range visits {
		if r.late(until) || n > 0 && pause(ctx, between) != nil {
			break
		}
		found := r.ask(ctx, e.Endpoint)
		if ctx.Err() != nil {
			break // the run's context is done, so the probe is inconclusive
		}
		results = append(results, result{entry: e, found: found, ended: r.Now()})
		if silent++; !found.Silent {
			silent = 0
		}
		if silent == silentVisits || found.Busy {
			break
		}
	}
	return results
}

func (r *Rounds) ask(ctx context.Context, e health.Endpoint) health.Finding {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	return r.Prober.Probe(ctx, e)
}

func (r *Rounds) late(until time.Time) bool { return until.Sub(r.Now()) < probeWithin+reserve }

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pause between probes: %w", ctx.Err())
	}
}

// isServersFault reports whether the servers, rather than the local network, caused a run's failures. If no server
// responded, isServersFault checks the local network by probing a previously healthy server on another host. If there
// is no such server, it blames the local network only if at least two previously healthy hosts failed to respond.
func (r *Rounds) isServersFault(ctx context.Context, results []result, now time.Time) bool {
	asked, wereWell := map[string]bool{}, map[string]bool{}
	for _, one := range results {
		if !one.found.Silent {
			return true
		}
		host := hostOf(one.Base)
		asked[host] = true
		if one.record.State == health.OK {
			wereWell[host] = true
		}
	}
	if len(results) == 0 {
		return true
	}
	for _, w := range r.states {
		for i := range w.entries {
			e := w.entries[(i+int(now.Unix()/60))%len(w.entries)] // the entry that is tried first changes every minute
			if e.record.State == health.OK && !asked[hostOf(e.Base)] && r.Admits(e.Base) {
				return !r.ask(ctx, e.Endpoint).Silent
			}
		}
	}
	return len(wereWell) < 2
}
