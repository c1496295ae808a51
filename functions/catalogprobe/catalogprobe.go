// Package catalogprobe implements the Lambda function that runs every minute and probes the live catalogue's endpoints
// that are due. A probe determines whether patients can sign in. The function stores each endpoint's health
// (docs/adr/0030-health-of-endpoints.md). Package shared/catalog/health/rounds decides which requests are sent and
// when.
package catalogprobe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/health/rounds"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/words/fault"
)

// New returns the scheduled function's handler.
func New(r *rounds.Rounds) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error { return r.Run(ctx) }
}

// Catalogs implements rounds.Catalogs by reading the published catalogue.
type Catalogs struct {
	Pointers interface {
		Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
	}
	Snapshots interface {
		Endpoints(ctx context.Context, mode string, v ledger.Version) (map[string]record.Endpoint, error)
	}
}

// Live implements rounds.Catalogs. Live omits endpoints that are inactive or removed, because patients are never
// redirected to them.
func (c Catalogs) Live(ctx context.Context, mode, known string) (rounds.Catalog, error) {
	p, err := c.Pointers.Pointer(ctx, mode)
	if err != nil {
		return rounds.Catalog{}, fmt.Errorf("read pointer: %w", err)
	}
	live := rounds.Catalog{Version: string(p.Live), Published: p.MovedAt}
	if p.Live == "" || live.Version == known {
		return live, nil
	}
	all, err := c.Snapshots.Endpoints(ctx, mode, p.Live)
	if errors.Is(err, fault.NotFound) {
		return rounds.Catalog{}, fmt.Errorf("snapshot %s has gone: %w", p.Live, err)
	}
	if err != nil {
		return rounds.Catalog{}, fmt.Errorf("read endpoints: %w", err)
	}
	for id, e := range all {
		if e.Status == record.Active && e.RemovedAt == nil {
			live.Endpoints = append(live.Endpoints, health.Endpoint{
				ID: id, Mode: mode, Base: e.FHIRBase,
				Platform: e.PlatformType,
			})
		}
	}
	return live, nil
}

// Observer implements rounds.Observer using the stored counts of token refreshes.
type Observer struct {
	State interface {
		Breaker(ctx context.Context, endpoint string) (refresh.Breaker, error)
		Counts(ctx context.Context, endpoint string, since time.Time) (answered, refused int, err error)
	}
}

// Failing implements rounds.Observer.
func (o Observer) Failing(ctx context.Context, token string) (bool, error) {
	b, err := o.State.Breaker(ctx, token)
	if err != nil {
		return false, fmt.Errorf("read breaker: %w", err)
	}
	return b.Tripped(), nil
}

// Answered implements rounds.Observer. Refused token requests count as responses.
func (o Observer) Answered(ctx context.Context, token string, since time.Time) (int, error) {
	answered, _, err := o.State.Counts(ctx, token, since)
	if err != nil {
		return 0, fmt.Errorf("read counts: %w", err)
	}
	return answered, nil
}

// Scope selects the endpoints to probe.
type Scope string

// Probe scopes.
const (
	All     Scope = "all"
	Private Scope = "private" // probes only endpoints on localhost or at explicitly allowed private addresses
)

// Admits returns a function that reports whether a base URL is within the scope.
func (s Scope) Admits(ranges []netip.Prefix) func(base string) bool {
	return func(base string) bool {
		if s != Private {
			return true
		}
		u, err := url.Parse(base)
		if err != nil {
			return false
		}
		if strings.EqualFold(u.Hostname(), "localhost") {
			return true
		}
		address, err := netip.ParseAddr(u.Hostname())
		return err == nil && slices.ContainsFunc(ranges,
			func(allowed netip.Prefix) bool { return allowed.Contains(address.Unmap()) })
	}
}
