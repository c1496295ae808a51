package usage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	other  = org.Tenant{Mode: org.Live, OrgID: "0b000000-0000-4000-8000-00000000000b"}
	now    = time.Date(2026, 3, 3, 15, 4, 5, 0, time.UTC)
)

// fixture holds an event log and the counts of its events. Tests can set its clock.
type fixture struct {
	meter usage.Meter
	days  store.UsageDays
	at    time.Time
	made  int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	made := tables.New(t)
	name := made.Name("WorkTable")
	f := &fixture{days: store.UsageDays{DB: made.DB, Table: name}, at: now}
	f.meter = usage.Meter{
		Days: f.days, Events: store.EventLog{DB: made.DB, Table: name},
		Deliveries: store.DeliveryLog{DB: made.DB, Table: name},
		Now:        func() time.Time { return f.at },
	}
	return f
}

func (*fixture) Tenants(context.Context) ([]org.Tenant, error) {
	return []org.Tenant{other, tenant}, nil
}

// tell stores an event and its delivery, both created at the given time.
func (f *fixture) tell(t *testing.T, of org.Tenant, at time.Time, kind webhook.Type, data any) {
	t.Helper()
	f.made++
	f.store(t, of, at, kind, fmt.Sprint("subject ", f.made), 0, data)
}

func (f *fixture) store(t *testing.T, of org.Tenant, at time.Time, kind webhook.Type, subject string,
	number int64, data any,
) {
	t.Helper()
	event, err := webhook.NewEvent(of, kind, subject, number, at, data)
	expect.NoError(t, err)
	expect.NoError(t, store.Events(f.days).CreateEvent(t.Context(), event))
	f.made++
	expect.NoError(t, store.Events(f.days).FanOut(t.Context(), event, []webhook.Delivery{{
		ID: fmt.Sprintf("d0000000-0000-4000-8000-%012d", f.made), Tenant: of, EventID: event.ID, SubscriptionID: "s",
		Status: webhook.Scheduled, CreatedAt: at,
	}}))
}

func (f *fixture) month(t *testing.T, month string) usage.Counts {
	t.Helper()
	m, err := f.meter.Month(t.Context(), tenant, month)
	expect.NoError(t, err)
	if m.Month != month {
		t.Errorf("asked for %s, got %s", month, m.Month)
	}
	return m.Counts
}

func (f *fixture) run(t *testing.T) {
	t.Helper()
	expect.NoError(t, f.meter.Run(t.Context(), f))
}

func connected(status string) webhook.ConnectionSuccess {
	return webhook.ConnectionSuccess{ConnectionStatus: status}
}

// tellAll stores one event of each counted type and some events that must not be counted.
func (f *fixture) tellAll(t *testing.T, at time.Time) {
	t.Helper()
	f.tell(t, tenant, at, webhook.ConnectionSucceeded, connected("authorized"))
	f.tell(t, tenant, at, webhook.ConnectionSucceeded, connected("rejected"))
	f.tell(t, tenant, at, webhook.AuthorizationEnded, webhook.AuthorizationRevoked{})
	f.tell(t, tenant, at, webhook.ExportFailed, webhook.ExportFailure{})
	f.tell(t, tenant, at, webhook.SupportRequested, map[string]string{"email": "a"})
	f.tell(t, tenant, at, webhook.HealthSystemRequested, map[string]string{"email": "a"})
	f.tell(t, tenant, at, webhook.TestEvent, webhook.Test{Hello: "world"})
	task := fmt.Sprintf("7a%030d", f.made)
	f.store(t, tenant, at, webhook.ExportSucceeded, task, 0, webhook.ExportSuccess{TaskID: task})
	f.store(t, tenant, at, webhook.ExportSucceeded, task, 1, webhook.ExportSuccess{TaskID: task}) // repeats a result
	f.tell(t, tenant, at, webhook.ConnectionSucceeded, webhook.Example(webhook.ConnectionSucceeded))
	f.tell(t, tenant, at, webhook.ExportSucceeded, webhook.Example(webhook.ExportSucceeded))
	f.tell(t, other, at, webhook.ConnectionSucceeded, connected("authorized"))
}

// ofOne returns the expected counts after one call to tellAll.
func ofOne() usage.Counts {
	return usage.Counts{
		Connections: 1, Rejections: 1, Revocations: 1, ExportsSucceeded: 1, ExportsFailed: 1, Inquiries: 2,
		Deliveries: 11,
	}
}

func times(n int64, c usage.Counts) usage.Counts {
	return usage.Counts{
		Connections: n * c.Connections, Rejections: n * c.Rejections, Revocations: n * c.Revocations,
		ExportsSucceeded: n * c.ExportsSucceeded,
		ExportsFailed:    n * c.ExportsFailed, Inquiries: n * c.Inquiries, Deliveries: n * c.Deliveries,
	}
}

func TestMonthSumsDaysIncludingToday(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	midnight := now.Truncate(24 * time.Hour)
	for _, at := range []time.Time{
		now, midnight, midnight.Add(-time.Microsecond), midnight.AddDate(0, 0, -2),
		midnight.AddDate(0, 0, -2).Add(-time.Second),
	} {
		f.tellAll(t, at)
	}
	for _, counted := range []bool{false, true, true} { // the second run changes nothing
		if counted {
			f.run(t)
		}
		if diff := cmp.Diff(times(4, ofOne()), f.month(t, "2026-03")); diff != "" {
			t.Errorf("March, counted: %t (-want +got):\n%s", counted, diff)
		}
		if diff := cmp.Diff(ofOne(), f.month(t, "2026-02")); diff != "" {
			t.Errorf("February, counted: %t (-want +got):\n%s", counted, diff)
		}
	}
	for _, empty := range []string{"2026-01", "2026-04"} {
		if got := f.month(t, empty); got != (usage.Counts{}) {
			t.Errorf("%s: %+v", empty, got)
		}
	}
	_, err := f.meter.Month(t.Context(), tenant, "March")
	if fault.Of(err).Field != "month" {
		t.Errorf("March: %v", err)
	}
}

// TestRunCountsDayThatSpansSeveralPages checks that Run counts a day whose events and deliveries span several pages.
func TestRunCountsDayThatSpansSeveralPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	yesterday := now.AddDate(0, 0, -1)
	for range 230 {
		f.tell(t, tenant, yesterday, webhook.ExportFailed, webhook.ExportFailure{})
	}
	f.run(t)
	if got := f.month(t, "2026-03"); got != (usage.Counts{ExportsFailed: 230, Deliveries: 230}) {
		t.Errorf("%+v", got)
	}
}

// TestRunCountsEachDayOnceAndCatchesUp checks that Run counts each day once, after its last events are indexed. Run
// must count missed days later if their events are still stored.
func TestRunCountsEachDayOnceAndCatchesUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	days := func() int {
		found, err := f.days.Usage(t.Context(), tenant, "2026-01-01", "2026-12-31")
		expect.NoError(t, err)
		return len(found)
	}
	f.at = time.Date(2026, 3, 3, 0, 59, 59, 0, time.UTC)
	f.run(t)
	if got := days(); got != 13 {
		t.Errorf("%d days before the last is settled, want 13", got)
	}
	f.at = f.at.Add(time.Second)
	f.run(t)
	if got := days(); got != 14 {
		t.Errorf("%d days, want 14", got)
	}
	f.tellAll(t, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)) // stored hours late; this doesn't occur in practice
	f.tellAll(t, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))
	f.at = f.at.AddDate(0, 0, 10)
	f.run(t)
	if got := days(); got != 24 {
		t.Errorf("%d days ten days later, want 24", got)
	}
	if diff := cmp.Diff(ofOne(), f.month(t, "2026-03")); diff != "" {
		t.Errorf("March (-want +got):\n%s", diff)
	}
}

var errTrouble = errors.New("trouble on our side")

// flawed is a store that fails to save one tenant's usage.
type flawed struct{ usage.Days }

func (f flawed) SaveUsage(ctx context.Context, of org.Tenant, day string, c usage.Day, ends time.Time) error {
	if of == other {
		return errTrouble
	}
	return f.Days.SaveUsage(ctx, of, day, c, ends)
}

func TestRunContinuesAfterOneTenantFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tellAll(t, now.AddDate(0, 0, -1))
	f.meter.Days = flawed{f.days}
	if err := f.meter.Run(t.Context(), f); !errors.Is(err, errTrouble) {
		t.Errorf("%v, want the trouble", err)
	}
	found, err := f.days.Usage(t.Context(), tenant, "2026-03-02", "2026-03-02")
	expect.NoError(t, err)
	if diff := cmp.Diff(map[string]usage.Counts{"2026-03-02": ofOne()}, found); diff != "" {
		t.Errorf("the other one's (-want +got):\n%s", diff)
	}
}

// nothing provides empty logs and a store that takes a second to save each day.
type nothing struct{ saved int }

func (*nothing) EventsAfter(context.Context, webhook.Event, time.Time, int) ([]webhook.Event, bool, error) {
	return nil, false, nil
}

func (*nothing) DeliveriesBefore(context.Context, org.Tenant, deliverylog.Place, time.Time,
	int,
) ([]deliverylog.Place, bool, error) {
	return nil, false, nil
}

func (*nothing) Usage(context.Context, org.Tenant, string, string) (map[string]usage.Counts, error) {
	return nil, nil
}

func (*nothing) ConnectionsByBrand(context.Context, org.Tenant, string) (map[string]int64, error) {
	return nil, nil
}

func (*nothing) SaveMostUsed(context.Context, org.Tenant, []string, time.Time) error { return nil }

func (n *nothing) SaveUsage(context.Context, org.Tenant, string, usage.Day, time.Time) error {
	n.saved++
	<-time.After(time.Second)
	return nil
}

func TestRunEndsBeforeDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &nothing{}
		meter := usage.Meter{Days: n, Events: n, Deliveries: n, Now: time.Now}
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
		defer cancel()
		if err := meter.Run(ctx, &fixture{}); err != nil || n.saved != 13 {
			t.Errorf("%v after %d days, want those of the first tenant alone", err, n.saved)
		}
	})
}
