// Package usage measures how organisations use the service. The package converts events to counts, selects the days to
// count and computes monthly totals (docs/adr/0036-the-dashboard.md). The package does not depend on AWS.
package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Counts holds a tenant's counts for a single day or month.
type Counts struct {
	Connections      int64 `json:"connections"` // number of authorisations, including reauthorisations
	Rejections       int64 `json:"rejections"`  // number of patients who declined
	Revocations      int64 `json:"revocations"` // revocations detected by the service, not those requested by customers
	ExportsSucceeded int64 `json:"exports_succeeded"`
	ExportsFailed    int64 `json:"exports_failed"`
	Inquiries        int64 `json:"inquiries"`
	Deliveries       int64 `json:"deliveries"` // counted once per event and webhook, regardless of retries
}

// Month holds a tenant's usage in a calendar month (UTC), up to now.
type Month struct {
	Counts

	Month string `json:"month"` // the month, such as 2026-03
}

const (
	day    = "2006-01-02"
	months = "2006-01"
	// settled is the delay between the end of a day and the counting of its usage. Counting is delayed because the
	// event index lags behind the rows.
	settled = time.Hour
	// catchUp is the number of past days that Run can still count. Events expire after 15 days, so the events of
	// earlier days may be incomplete.
	catchUp = 14
	// page is the number of items to read at once, at most 100.
	page = 100
)

// Days stores the counts of completed days; store.UsageDays implements it.
type Days interface {
	// SaveUsage stores a tenant's counts for a day, such as 2026-03-04. It returns fault.Conflict if the day already
	// has counts.
	SaveUsage(ctx context.Context, tenant org.Tenant, day string, c Day, ends time.Time) error
	// Usage returns a tenant's daily counts from the day from to the day to, inclusive. The range is limited to 62
	// days.
	Usage(ctx context.Context, tenant org.Tenant, from, to string) (map[string]Counts, error)
	// ConnectionsByBrand returns a tenant's authorisations by brand ID, from the given day onwards.
	ConnectionsByBrand(ctx context.Context, tenant org.Tenant, from string) (map[string]int64, error)
	// SaveMostUsed replaces a tenant's list of most-used brands.
	SaveMostUsed(ctx context.Context, tenant org.Tenant, brandIDs []string, at time.Time) error
}

// Events returns a tenant's events after a cursor and before a given time, oldest first; store.EventLog implements it.
type Events interface {
	EventsAfter(ctx context.Context, last webhook.Event, before time.Time, limit int) ([]webhook.Event, bool, error)
}

// Deliveries returns the cursors of a tenant's deliveries, newest first; store.DeliveryLog implements it.
type Deliveries interface {
	DeliveriesBefore(ctx context.Context, tenant org.Tenant, before deliverylog.Place, from time.Time,
		limit int) ([]deliverylog.Place, bool, error)
}

// Tenants returns all tenants; store.Organisations implements it.
type Tenants interface {
	Tenants(ctx context.Context) ([]org.Tenant, error)
}

// Meter counts tenants' usage.
type Meter struct {
	Days       Days
	Events     Events
	Deliveries Deliveries
	Now        func() time.Time
}

// Month returns a tenant's usage in a month such as 2026-03. Usage includes the current day. Month returns
// fault.Invalid for an invalid month.
func (m Meter) Month(ctx context.Context, tenant org.Tenant, month string) (Month, error) {
	first, err := time.Parse(months, month)
	if err != nil {
		return Month{}, fault.BadRequest("A month must be written like 2026-03.").About("month")
	}
	now := m.Now().UTC()
	last := first.AddDate(0, 1, -1)
	counted, err := m.Days.Usage(ctx, tenant, first.Format(day), last.Format(day))
	if err != nil {
		return Month{}, fmt.Errorf("read usage: %w", err)
	}
	sum := Month{Month: month}
	for date := first; !date.After(last) && !date.After(now); date = date.AddDate(0, 0, 1) {
		c, isCounted := counted[date.Format(day)]
		if !isCounted && !date.Before(earliest(now)) {
			today, err := m.count(ctx, tenant, date)
			if err != nil {
				return Month{}, err
			}
			c = today.Counts
		}
		sum.add(c)
	}
	return sum, nil
}

// Run counts all tenants' completed days that have not yet been counted. Run stops shortly before the deadline of ctx,
// and the next run counts the remaining days. If counting fails for one tenant, Run continues with the others.
func (m Meter) Run(ctx context.Context, tenants Tenants) error {
	all, err := tenants.Tenants(ctx)
	if err != nil {
		return fmt.Errorf("list tenants: %w", err)
	}
	counted, failures, isCut := 0, []error(nil), false
	for _, tenant := range all {
		if isCut = m.isLate(ctx); isCut {
			break
		}
		days, err := m.finish(ctx, tenant)
		counted += days
		if err != nil {
			failures = append(failures, fmt.Errorf("tenant %s: %w", tenant.Key(), err))
		}
	}
	logx.Add(ctx, slog.Int("counted", counted), slog.Int("failed", len(failures)), slog.Bool("cut_short", isCut))
	return errors.Join(failures[:min(len(failures), 10)]...)
}

// isLate reports whether too little time remains to count another tenant's usage.
func (m Meter) isLate(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(m.Now()) < time.Minute
}

// finish counts usage for a tenant's uncounted days and returns the number of days counted.
func (m Meter) finish(ctx context.Context, tenant org.Tenant) (int, error) {
	now := m.Now().UTC()
	first := earliest(now)
	there, err := m.Days.Usage(ctx, tenant, first.Format(day), now.Format(day))
	if err != nil {
		return 0, fmt.Errorf("read usage: %w", err)
	}
	counted := 0
	for date := first; !date.AddDate(0, 0, 1).Add(settled).After(now); date = date.AddDate(0, 0, 1) {
		if _, isThere := there[date.Format(day)]; isThere {
			continue
		}
		c, err := m.count(ctx, tenant, date)
		if err != nil {
			return counted, err
		}
		// Save each day only once, because a later count would miss the events of connections that were erased in the
		// meantime.
		if err = m.Days.SaveUsage(ctx, tenant, date.Format(day), c, date.AddDate(0, 0, 1)); err != nil &&
			!errors.Is(err, fault.Conflict) {
			return counted, fmt.Errorf("save usage: %w", err)
		}
		counted++
	}
	if counted == 0 {
		return 0, nil
	}
	return counted, m.rank(ctx, tenant, now)
}

// earliest returns the first day for which all events are still stored.
func earliest(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -catchUp)
}

func (m Meter) count(ctx context.Context, tenant org.Tenant, date time.Time) (Day, error) {
	end := date.AddDate(0, 0, 1)
	var c Day
	last := webhook.Event{Tenant: tenant, CreatedAt: date}
	for more := true; more; {
		events, next, err := m.Events.EventsAfter(ctx, last, end, page)
		if err != nil {
			return Day{}, fmt.Errorf("read events: %w", err)
		}
		for _, e := range events {
			c.addEvent(e)
			last = e
		}
		more = next && len(events) > 0
	}
	before := deliverylog.Place{MadeAt: end}
	for more := true; more; {
		places, next, err := m.Deliveries.DeliveriesBefore(ctx, tenant, before, date, page)
		if err != nil {
			return Day{}, fmt.Errorf("read deliveries: %w", err)
		}
		c.Deliveries += int64(len(places))
		if more = next && len(places) > 0; more {
			before = places[len(places)-1]
		}
	}
	c.limitBrands()
	return c, nil
}

// addEvent counts an event unless it is simulated or repeats an earlier result.
func (c *Day) addEvent(e webhook.Event) {
	var told struct {
		Data json.RawMessage `json:"data"`
	}
	var data struct {
		TaskID  string `json:"task_id"`
		Status  string `json:"connection_status"`
		BrandID string `json:"brand_id"`
	}
	madeUp, err := json.Marshal(webhook.Example(e.Type))
	if err != nil || json.Unmarshal(e.Body, &told) != nil || bytes.Equal(told.Data, madeUp) ||
		json.Unmarshal(told.Data, &data) != nil {
		return
	}
	switch e.Type {
	case webhook.ConnectionSucceeded:
		if data.Status == "rejected" {
			c.Rejections++
		} else {
			c.Connections++
			c.addBrand(data.BrandID)
		}
	case webhook.AuthorizationEnded:
		c.Revocations++
	case webhook.ExportSucceeded:
		if e.ID == webhook.EventID(e.Tenant, e.Type, data.TaskID, 0) {
			c.ExportsSucceeded++
		}
	case webhook.ExportFailed:
		c.ExportsFailed++
	case webhook.SupportRequested, webhook.HealthSystemRequested:
		c.Inquiries++
	case webhook.TestEvent, webhook.ConnectionFailed, webhook.AuthorizationEnding, webhook.ExportProgressed:
	}
}

func (c *Counts) add(other Counts) {
	c.Connections += other.Connections
	c.Rejections += other.Rejections
	c.Revocations += other.Revocations
	c.ExportsSucceeded += other.ExportsSucceeded
	c.ExportsFailed += other.ExportsFailed
	c.Inquiries += other.Inquiries
	c.Deliveries += other.Deliveries
}
