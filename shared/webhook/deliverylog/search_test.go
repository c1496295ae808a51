package deliverylog_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// foreign returns other tenants, including some whose keys resemble the start of a row's key.
func foreign() map[string]org.Tenant {
	return map[string]org.Tenant{
		"the other mode":           {Mode: org.Live, OrgID: tenant.OrgID},
		"another organisation":     {Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"},
		"no organisation":          {Mode: org.Test},
		"an organisation cut off":  {Mode: org.Test, OrgID: tenant.OrgID[:35]},
		"an id with the separator": {Mode: org.Test, OrgID: tenant.OrgID + "#DELIV"},
		"nobody":                   {},
	}
}

func TestSearchFindsMatchingDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.subscribe(t, tenant)
	w.emit(t, tenant, webhook.AuthorizationEnded) // one delivery
	w.now = noon.Add(time.Hour)
	second := w.subscribe(t, tenant)
	w.answer = webhook.Answer{Status: 500}
	failed := w.emit(t, tenant, webhook.TestEvent) // two deliveries
	w.now = noon.Add(2 * time.Hour)
	w.answer = webhook.Answer{Status: 200, Control: "abort-message"}
	w.emit(t, tenant, webhook.ExportProgressed) // No subscription receives this type, so no delivery is created.
	for name, c := range map[string]struct {
		query deliverylog.Query
		want  int
	}{
		"everything":                   {deliverylog.Query{}, 3},
		"a webhook":                    {deliverylog.Query{SubscriptionID: first.ID}, 2},
		"the other one":                {deliverylog.Query{SubscriptionID: second.ID}, 1},
		"no webhook":                   {deliverylog.Query{SubscriptionID: failed.ID}, 0},
		"a type":                       {deliverylog.Query{Type: webhook.AuthorizationEnded}, 1},
		"a type that nobody got":       {deliverylog.Query{Type: webhook.ExportProgressed}, 0},
		"delivered":                    {deliverylog.Query{Status: webhook.Delivered}, 1},
		"scheduled":                    {deliverylog.Query{Status: webhook.Scheduled}, 2},
		"held":                         {deliverylog.Query{Status: webhook.Held}, 0},
		"since a time":                 {deliverylog.Query{From: noon.Add(time.Hour)}, 2},
		"since shortly after it":       {deliverylog.Query{From: noon.Add(time.Hour + time.Microsecond)}, 0},
		"before a time":                {deliverylog.Query{To: noon.Add(time.Hour)}, 1},
		"before shortly after it":      {deliverylog.Query{To: noon.Add(time.Hour + time.Nanosecond)}, 3},
		"between":                      {deliverylog.Query{From: noon, To: noon.Add(time.Minute)}, 1},
		"between, the wrong way round": {deliverylog.Query{From: noon.Add(time.Hour), To: noon}, 0},
		"an event":                     {deliverylog.Query{ID: failed.ID}, 2},
		"an event in upper case":       {deliverylog.Query{ID: strings.ToUpper(failed.ID)}, 2},
		"an event and a webhook":       {deliverylog.Query{ID: failed.ID, SubscriptionID: second.ID}, 1},
		"an event and another type":    {deliverylog.Query{ID: failed.ID, Type: webhook.AuthorizationEnded}, 0},
		"an event and another time":    {deliverylog.Query{ID: failed.ID, To: noon}, 0},
		"no id":                        {deliverylog.Query{ID: "x#y"}, 0},
		"all of it": {deliverylog.Query{
			SubscriptionID: first.ID, Type: webhook.TestEvent,
			Status: webhook.Scheduled, From: noon,
		}, 1},
	} {
		got := w.follow(t, tenant, c.query, nothing)
		if len(got) != c.want {
			t.Errorf("%s: %d deliveries, want %d", name, len(got), c.want)
		}
		for _, e := range got {
			if byID := w.search(t, tenant, deliverylog.Query{ID: e.ID}); len(byID.Entries) != 1 ||
				!cmp.Equal(byID.Entries[0], e) {
				t.Errorf("%s: the delivery's own id finds %v, want %v", name, byID.Entries, e)
			}
		}
	}
}

func TestSearchRejectsInvalidQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, q := range map[string]deliverylog.Query{
		"a negative limit":       {Limit: -1},
		"a limit too large":      {Limit: 101},
		"a status of none":       {Status: "lost"},
		"a position of none":     {After: "x"},
		"a position without id":  {After: "2026-03-04T12:00:00.123456Z#"},
		"a position without end": {After: "2026-03-04T12:00:00.123456Z"},
	} {
		_, err := w.log.Search(t.Context(), tenant, q)
		wantInvalid(t, name, err)
	}
}

func TestSearchExcludesOtherTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	event := w.emit(t, tenant, webhook.TestEvent)
	own := w.search(t, tenant, deliverylog.Query{})
	if len(own.Entries) != 1 {
		t.Fatalf("the tenant itself sees %d deliveries", len(own.Entries))
	}
	place := noon.Add(time.Hour).Format("2006-01-02T15:04:05.000000Z") + "#" + own.Entries[0].ID
	for name, of := range foreign() {
		w.subscribe(t, of)
		for _, q := range []deliverylog.Query{
			{},
			{ID: event.ID},
			{ID: own.Entries[0].ID},
			{SubscriptionID: own.Entries[0].SubscriptionID},
			{Status: webhook.Delivered},
			{After: place},
		} {
			if got := w.search(t, of, q); len(got.Entries) != 0 || got.Next != "" {
				t.Errorf("%s sees %+v with %+v", name, got, q)
			}
		}
		wantMissing(t, name, w, of, own.Entries[0].ID)
	}
}

// TestExpiredDeliveriesAreHidden covers rows that DynamoDB hasn't deleted yet.
func TestExpiredDeliveriesAreHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	event := w.emit(t, tenant, webhook.TestEvent)
	own := w.search(t, tenant, deliverylog.Query{}).Entries
	for _, c := range []struct {
		age  time.Duration
		want int
	}{{15*day - time.Microsecond, 1}, {15 * day, 0}} {
		w.now = noon.Add(c.age)
		for _, q := range []deliverylog.Query{
			{},
			{ID: event.ID},
			{ID: own[0].ID},
			{Status: webhook.Delivered},
			{From: noon.Add(-day)},
		} {
			if got := w.search(t, tenant, q); len(got.Entries) != c.want || got.Next != "" {
				t.Errorf("after %s, %+v finds %d, want %d", c.age, q, len(got.Entries), c.want)
			}
		}
	}
	wantMissing(t, "an old delivery", w, tenant, own[0].ID)
}

// TestSearchLimitsReadsWithoutMatches checks that a search with few matches reads a limited number of rows and returns
// a cursor and the time back to which it searched. Two filters share one list, in which few deliveries match both.
func TestSearchLimitsReadsWithoutMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 620 {
		d := numbered(i, noon.Add(time.Duration(i)*time.Second))
		d.SubscriptionID, d.Status = "few", webhook.Held
		if i > 0 {
			d.SubscriptionID = "many"
		}
		expect.NoError(t, w.put(t.Context(), d, webhook.TestEvent))
	}
	w.now = noon.Add(time.Hour)
	q := deliverylog.Query{Status: webhook.Held, SubscriptionID: "few"}
	page := w.search(t, tenant, q)
	if len(page.Entries) != 0 || page.Next == "" || w.counts.read != 500 {
		t.Errorf("%d found, next %q after %d rows, want none after 500", len(page.Entries), page.Next, w.counts.read)
	}
	if want := noon.Add(120 * time.Second); !page.SearchedTo.Equal(want) {
		t.Errorf("searched back to %v, want %v", page.SearchedTo, want)
	}
	q.After = page.Next
	page = w.search(t, tenant, q)
	if len(page.Entries) != 1 || page.Next != "" || !page.SearchedTo.IsZero() {
		t.Errorf("the second page: %v", page)
	}
	for _, q := range []deliverylog.Query{{Limit: 10}, {Limit: 10, Status: webhook.Held}} {
		w.counts.read = 0
		if page = w.search(t, tenant, q); len(page.Entries) != 10 || w.counts.read != 10 || !page.SearchedTo.IsZero() {
			t.Errorf("%d rows were read for %d", w.counts.read, len(page.Entries))
		}
	}
}

// numbered returns a delivery with the given number, created at the given time. Consecutive numbers yield IDs in no
// particular order.
func numbered(i int, at time.Time) webhook.Delivery {
	return webhook.Delivery{
		ID: ids.Derive("numbered", strconv.Itoa(i)), Tenant: tenant, SubscriptionID: "s" + strconv.Itoa(i%3),
		Status:  webhook.Delivered,
		Attempt: 1, Fence: 1, Trigger: webhook.ByClock, NextAt: at, CreatedAt: at,
	}
}

// TestSearchPagesAreStableUnderInsertion checks that paging returns each existing delivery exactly once and in order
// while deliveries are being created, some at the same times.
func TestSearchPagesAreStableUnderInsertion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		checkPages(t, r)
	})
}

func checkPages(t *testing.T, r *rapid.T) {
	t.Helper()
	w := newWorld(t)
	w.now = noon.Add(time.Hour)
	var (
		made    int
		at      = rapid.IntRange(0, 6) // In whole seconds, many deliveries have the same time.
		present = map[string]bool{}
	)
	add := func(ctx context.Context, second int) string {
		made++
		d := numbered(made, noon.Add(time.Duration(second)*time.Second))
		if err := w.put(ctx, d, webhook.TestEvent); err != nil {
			t.Error(err)
		}
		return d.ID
	}
	for range rapid.IntRange(0, 30).Draw(r, "before") {
		present[add(t.Context(), at.Draw(r, "second"))] = true
	}
	seconds := rapid.SliceOfN(at, 0, 20).Draw(r, "meanwhile")
	q := deliverylog.Query{Limit: rapid.IntRange(1, 9).Draw(r, "limit")}
	if rapid.Bool().Draw(r, "filtered") {
		q.Status = webhook.Delivered
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for _, second := range seconds {
			add(t.Context(), second)
		}
	})
	got := w.follow(t, tenant, q, nothing)
	writer.Wait()
	shown := map[string]bool{}
	for i, e := range got {
		if shown[e.ID] {
			r.Errorf("%s is shown twice", e.ID)
		}
		shown[e.ID] = true
		if i > 0 && !isBefore(e, got[i-1]) {
			r.Errorf("%s at %s comes behind %s at %s", e.ID, e.CreatedAt, got[i-1].ID, got[i-1].CreatedAt)
		}
	}
	for id := range present {
		if !shown[id] {
			r.Errorf("%s is not shown", id)
		}
	}
	again := w.follow(t, tenant, deliverylog.Query{Limit: 100}, nothing)
	if len(again) != made {
		r.Errorf("%d deliveries are listed, want %d", len(again), made)
	}
}

func isBefore(a, b deliverylog.Entry) bool {
	return a.CreatedAt.Before(b.CreatedAt) || a.CreatedAt.Equal(b.CreatedAt) && a.ID < b.ID
}

func TestSearchOmitsCursorOnLastPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 6 {
		expect.NoError(t, w.put(t.Context(), numbered(i, noon.Add(time.Duration(i)*time.Second)), webhook.TestEvent))
	}
	w.now = noon.Add(time.Hour)
	all := idsOf(w.search(t, tenant, deliverylog.Query{}).Entries)
	for limit := 1; limit <= 7; limit++ {
		pages := 1
		got := w.follow(t, tenant, deliverylog.Query{Limit: limit}, func() { pages++ })
		if diff := cmp.Diff(all, idsOf(got)); diff != "" || pages != (6+limit-1)/limit {
			t.Errorf("limit %d: %d pages, deliveries (-want +got):\n%s", limit, pages, diff)
		}
	}
	got := w.search(t, tenant, deliverylog.Query{Limit: 2, To: noon.Add(3 * time.Second)})
	if diff := cmp.Diff(all[3:5], idsOf(got.Entries)); diff != "" {
		t.Errorf("before a time (-want +got):\n%s", diff)
	}
	got = w.search(t, tenant, deliverylog.Query{To: noon.Add(3 * time.Second), After: got.Next})
	if diff := cmp.Diff(all[5:], idsOf(got.Entries)); diff != "" || got.Next != "" {
		t.Errorf("the page behind it (-want +got):\n%s", diff)
	}
}

// failing is a store in which one kind of read fails.
type failing struct {
	deliverylog.Rows

	what string
}

var errTrouble = errors.New("trouble")

func (f failing) DeliveriesBefore(ctx context.Context, of org.Tenant, before deliverylog.Place, from time.Time,
	limit int,
) ([]deliverylog.Place, bool, error) {
	if f.what == "places" {
		return nil, false, errTrouble
	}
	return f.Rows.DeliveriesBefore(ctx, of, before, from, limit)
}

func (f failing) AreIndexed(ctx context.Context, of org.Tenant, from time.Time) (bool, error) {
	if f.what == "oldest" {
		return false, errTrouble
	}
	return f.Rows.AreIndexed(ctx, of, from)
}

func (f failing) Deliveries(ctx context.Context, of org.Tenant, ids []string) ([]webhook.Delivery, error) {
	if f.what == "deliveries" {
		return nil, errTrouble
	}
	return f.Rows.Deliveries(ctx, of, ids)
}

func (f failing) Events(ctx context.Context, of org.Tenant, ids []string) (map[string]webhook.Event, error) {
	if f.what == "events" {
		return nil, errTrouble
	}
	return f.Rows.Events(ctx, of, ids)
}

func (f failing) Attempts(ctx context.Context, of org.Tenant, id string, limit int) ([]webhook.Attempt, error) {
	if f.what == "attempts" {
		return nil, errTrouble
	}
	return f.Rows.Attempts(ctx, of, id, limit)
}

func TestReadFailureReturnsInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	w.emit(t, tenant, webhook.TestEvent)
	id := w.search(t, tenant, deliverylog.Query{}).Entries[0].ID
	oldest := w.log
	oldest.Rows = failing{Rows: w.log.Rows, what: "oldest"}
	if _, err := oldest.Search(t.Context(), tenant, deliverylog.Query{Status: webhook.Held}); !errors.Is(err, errTrouble) {
		t.Errorf("without the oldest delivery: %v", err)
	}
	for _, what := range []string{"places", "deliveries", "events", "attempts"} {
		log := w.log
		log.Rows = failing{Rows: w.log.Rows, what: what}
		_, searching := log.Search(t.Context(), tenant, deliverylog.Query{})
		_, showing := log.Show(t.Context(), tenant, id)
		if what != "attempts" && !errors.Is(searching, errTrouble) || what != "places" && !errors.Is(showing, errTrouble) {
			t.Errorf("without %s: %v, %v", what, searching, showing)
		}
	}
}
