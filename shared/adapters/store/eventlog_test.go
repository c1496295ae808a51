package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func (s stores) eventLog() store.EventLog {
	return store.EventLog{DB: s.db, Table: s.names["WorkTable"]}
}

// numbered returns event number n, which has a unique body.
func numbered(of org.Tenant, n int, created time.Time) webhook.Event {
	return webhook.Event{
		ID: fmt.Sprintf("e0000000-0000-4000-8000-%012d", n), Tenant: of, Type: webhook.ExportProgressed,
		Body: fmt.Appendf(nil, `{"n":%d,"text":"<é\u0026>"}`, n), CreatedAt: created,
	}
}

// addEvents stores n events of a tenant in random order, four per timestamp. It returns the events in list order.
func (s stores) addEvents(t *testing.T, of org.Tenant, n int, from time.Time) []webhook.Event {
	t.Helper()
	events := make([]webhook.Event, n)
	for i := range events {
		events[i] = numbered(of, i, from.Add(time.Duration(i/4)*time.Microsecond))
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		expect.NoError(t, s.events.CreateEvent(t.Context(), events[i]))
	}
	return events
}

// beginning returns a cursor before a tenant's first event.
func beginning(of org.Tenant) webhook.Event { return webhook.Event{Tenant: of} }

// follow reads all events after last, page by page, calling between after each page but the last.
func follow(t *testing.T, log store.EventLog, last webhook.Event, before time.Time, limit int,
	between func(),
) []webhook.Event {
	t.Helper()
	var all []webhook.Event
	for range 1000 {
		events, more, err := log.EventsAfter(t.Context(), last, before, limit)
		expect.NoError(t, err)
		if len(events) > limit || more && len(events) == 0 {
			t.Fatalf("a page of %d events, more to come: %v", len(events), more)
		}
		all = append(all, events...)
		if !more {
			return all
		}
		last = all[len(all)-1]
		between()
	}
	t.Fatal("the list has no end")
	return nil
}

func nothing() {}

func wantEvents(t *testing.T, what string, got, want []webhook.Event) {
	t.Helper()
	if same := slices.EqualFunc(got, want, sameEvent); !same {
		t.Errorf("%s: %d events, want %d; the first of them are %v and %v", what, len(got), len(want), ids(got), ids(want))
	}
}

func sameEvent(a, b webhook.Event) bool {
	return a.ID == b.ID && a.Tenant == b.Tenant && a.Type == b.Type && string(a.Body) == string(b.Body) &&
		a.CreatedAt.Equal(b.CreatedAt) && a.FannedOut == b.FannedOut
}

func ids(events []webhook.Event) []string {
	events = events[:min(len(events), 5)]
	all := make([]string, 0, len(events))
	for _, e := range events {
		all = append(all, e.ID[len(e.ID)-4:])
	}
	return all
}

func TestEventsAfterReturnsEachEventOnceInOrder(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := s.addEvents(t, tenant, 1000, now)
	for _, limit := range []int{7, 100} {
		got := follow(t, s.eventLog(), beginning(tenant), now.Add(time.Hour), limit, nothing)
		wantEvents(t, fmt.Sprintf("limit %d", limit), got, want)
	}
	got := follow(t, s.eventLog(), want[499], now.Add(time.Hour), 100, nothing)
	wantEvents(t, "behind an event in the middle", got, want[500:])
	got = follow(t, s.eventLog(), webhook.Event{Tenant: tenant, CreatedAt: want[400].CreatedAt}, want[500].CreatedAt,
		100, nothing)
	wantEvents(t, "behind a time, before another", got, want[400:500])
	events, more, err := s.eventLog().EventsAfter(t.Context(), beginning(tenant), now.Add(time.Hour), 400)
	if err != nil || len(events) != 100 || !more {
		t.Errorf("400 at once: %d events, %v, %v, want 100", len(events), more, err)
	}
}

// TestEventsAfterReturnsEventsStoredDuringRead stores events during a read. The reader must receive a new event that
// sorts after its cursor, but not one that sorts before it.
func TestEventsAfterReturnsEventsStoredDuringRead(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := s.addEvents(t, tenant, 20, now)
	passed, ahead := numbered(tenant, 100, now.Add(-time.Hour)), numbered(tenant, 101, now.Add(time.Minute))
	isFirst := true
	got := follow(t, s.eventLog(), beginning(tenant), now.Add(time.Hour), 6, func() {
		if isFirst {
			expect.NoError(t, s.events.CreateEvent(t.Context(), passed))
			expect.NoError(t, s.events.CreateEvent(t.Context(), ahead))
			isFirst = false
		}
	})
	wantEvents(t, "meanwhile", got, append(want, ahead))
}

func TestEventsAfterExcludesOtherTenants(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	s.fanOut(t, tenant)
	_, err := s.tasks.ClaimTask(t.Context(), tenant, taskID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	got := follow(t, s.eventLog(), beginning(tenant), now.Add(time.Hour), 10, nothing)
	// The tenant has two events: one for its connection and one stored by fanOut.
	if len(got) != 2 || !slices.ContainsFunc(got, func(e webhook.Event) bool { return e.ID == eventID && e.FannedOut }) {
		t.Errorf("the list holds %v", got)
	}
	for name, foreign := range foreignTenants() {
		if got := follow(t, s.eventLog(), beginning(foreign), now.Add(time.Hour), 10, nothing); len(got) != 0 {
			t.Errorf("%s reads %v", name, got)
		}
	}
}

// TestEventsAfterRespectsTimeBounds checks that the list includes events created at the start time, but none created
// before it or at the end time. Expired rows must not be listed, even if DynamoDB has not deleted them yet.
func TestEventsAfterRespectsTimeBounds(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	const day = 24 * time.Hour
	expired := numbered(tenant, 1, now.Add(-15*day-time.Microsecond))
	oldest := numbered(tenant, 2, now.Add(-15*day))
	newest := numbered(tenant, 3, now.Add(-time.Microsecond))
	tooNew := numbered(tenant, 4, now)
	for _, e := range []webhook.Event{expired, oldest, newest, tooNew} {
		expect.NoError(t, s.events.CreateEvent(t.Context(), e))
	}
	start := webhook.Event{Tenant: tenant, CreatedAt: now.Add(-15 * day)}
	wantEvents(t, "from a time", follow(t, s.eventLog(), start, now, 1, nothing), []webhook.Event{oldest, newest})
	for name, last := range map[string]webhook.Event{
		"behind the last":   newest,
		"behind the end":    tooNew,
		"behind the future": numbered(tenant, 5, now.Add(time.Hour)),
		"at the end itself": {Tenant: tenant, CreatedAt: now},
	} {
		if got, more, err := s.eventLog().EventsAfter(t.Context(), last, now, 10); err != nil || more || len(got) != 0 {
			t.Errorf("%s: %v, %v, %v, want nothing", name, got, more, err)
		}
	}
}

// late returns stores whose indexes lag by the given duration.
func late(t *testing.T, lag func() time.Duration) stores {
	t.Helper()
	made := tables.New(t)
	made.Cloud.DynamoDB().LagIndexes(func(string, string) time.Duration { return lag() })
	s := over(made.DB, made.Names())
	s.db = made.DB
	return s
}

// TestEventsAfterSkipsDeletedEvents checks that the reader skips the index entries of deleted events, even if they fill
// a page.
func TestEventsAfterSkipsDeletedEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lag time.Duration
		s := late(t, func() time.Duration { return lag })
		events := s.addEvents(t, tenant, 30, now)
		lag = time.Hour
		table := s.names["WorkTable"]
		for _, e := range events[5:26] {
			_, err := s.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: &table,
				Key: map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#EVENT#" + e.ID},
					"sk": &types.AttributeValueMemberS{Value: "META"},
				},
			})
			expect.NoError(t, err)
		}
		want := slices.Concat(events[:5], events[26:])
		wantEvents(t, "small pages", follow(t, s.eventLog(), beginning(tenant), now.Add(time.Hour), 4, nothing), want)
		wantEvents(t, "one page", follow(t, s.eventLog(), beginning(tenant), now.Add(time.Hour), 100, nothing), want)
		if got, more, err := s.eventLog().EventsAfter(t.Context(), events[4], events[26].CreatedAt, 100); err != nil ||
			more || len(got) != 0 {
			t.Errorf("only events that have gone: %v, %v, %v", got, more, err)
		}
	})
}

// TestEventsAfterReturnsEveryEventOnceDespiteConcurrentWriters checks that the reader receives every event once and in
// order. Writers store each event up to 1.5 seconds after its timestamp, and the index lags by up to 13 seconds. The
// reader polls for events that are older than 15 seconds.
func TestEventsAfterReturnsEveryEventOnceDespiteConcurrentWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		s := late(t, func() time.Duration { return time.Duration(random.IntN(13_000)) * time.Millisecond })
		var (
			writers sync.WaitGroup
			mu      sync.Mutex
			want    []webhook.Event
		)
		for w := range 4 {
			pace := rand.New(rand.NewPCG(5, uint64(w)))
			writers.Go(func() {
				for i := range 50 {
					// Timestamps are whole seconds, so events from different writers often have the same timestamp.
					e := numbered(tenant, i*4+(i+w)%4, time.Now().Truncate(time.Second))
					<-time.After(time.Duration(pace.IntN(500)) * time.Millisecond)
					if err := s.events.CreateEvent(t.Context(), e); err != nil {
						t.Error(err)
					}
					mu.Lock()
					want = append(want, e)
					mu.Unlock()
					<-time.After(time.Duration(pace.IntN(1000)) * time.Millisecond)
				}
			})
		}
		got := make([]webhook.Event, 0, 200)
		last := beginning(tenant)
		for range 60 {
			<-time.After(2 * time.Second)
			got = append(got, follow(t, s.eventLog(), last, time.Now().Add(-15*time.Second), 7, nothing)...)
			if len(got) > 0 {
				last = got[len(got)-1]
			}
		}
		writers.Wait()
		slices.SortFunc(want, func(a, b webhook.Event) int {
			if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
				return c
			}
			return slices.Compare([]byte(a.ID), []byte(b.ID))
		})
		wantEvents(t, "the reader", got, want)
	})
}

// meddled is a database client that lets a test control batch results.
type meddled struct {
	*dynamodb.Client

	query error
	batch func(in *dynamodb.BatchGetItemInput,
		next func() (*dynamodb.BatchGetItemOutput, error)) (*dynamodb.BatchGetItemOutput, error)
}

func (m meddled) Query(ctx context.Context, in *dynamodb.QueryInput,
	o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	if m.query != nil {
		return nil, m.query
	}
	return m.Client.Query(ctx, in, o...)
}

func (m meddled) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	return m.batch(in, func() (*dynamodb.BatchGetItemOutput, error) { return m.Client.BatchGetItem(ctx, in, o...) })
}

type batchCall = func() (*dynamodb.BatchGetItemOutput, error)

// TestEventLogRetriesUnprocessedKeys covers batches that DynamoDB processes only partly, because it is busy or the rows
// are large.
func TestEventLogRetriesUnprocessedKeys(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := s.addEvents(t, tenant, 20, now)
	table := s.names["WorkTable"]
	calls := 0
	some := func(in *dynamodb.BatchGetItemInput, next batchCall) (*dynamodb.BatchGetItemOutput, error) {
		calls++
		asked := in.RequestItems[table]
		if !awssdk.ToBool(asked.ConsistentRead) {
			t.Error("events are read from a replica that may be behind")
		}
		rest := asked
		read := min(len(asked.Keys), 6)
		asked.Keys, rest.Keys = asked.Keys[:read], asked.Keys[read:]
		in.RequestItems[table] = asked
		out, err := next()
		if len(rest.Keys) > 0 && out != nil {
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{table: rest}
		}
		return out, err
	}
	log := store.EventLog{DB: meddled{Client: s.db, batch: some}, Table: table}
	wantEvents(t, "in parts", follow(t, log, beginning(tenant), now.Add(time.Hour), 100, nothing), want)
	if calls != 4 {
		t.Errorf("%d calls, want 4", calls)
	}
}

func TestEventsAfterReturnsReadError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the fake clock measures the pauses between attempts
		s := late(t, func() time.Duration { return 0 })
		s.addEvents(t, tenant, 2, now)
		checkUnreadable(t, s)
	})
}

func checkUnreadable(t *testing.T, s stores) {
	t.Helper()
	table := s.names["WorkTable"]
	trouble := errors.New("trouble")
	calls := 0
	busy := func(in *dynamodb.BatchGetItemInput, _ batchCall) (*dynamodb.BatchGetItemOutput, error) {
		calls++
		return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
	}
	broken := func(*dynamodb.BatchGetItemInput, batchCall) (*dynamodb.BatchGetItemOutput, error) {
		return nil, trouble
	}
	for name, c := range map[string]struct {
		db   meddled
		want error
	}{
		"no index":   {meddled{Client: s.db, query: trouble}, trouble},
		"no rows":    {meddled{Client: s.db, batch: broken}, trouble},
		"never free": {meddled{Client: s.db, batch: busy}, fault.Unavailable},
	} {
		events, more, err := store.EventLog{DB: c.db, Table: table}.EventsAfter(t.Context(), beginning(tenant),
			now.Add(time.Hour), 10)
		if !errors.Is(err, c.want) || errors.Is(err, fault.NotFound) || len(events) != 0 {
			t.Errorf("%s: %v, %v, %v, want %v", name, events, more, err, c.want)
		}
	}
	if calls != 8 {
		t.Errorf("a busy table was asked %d times, want 8", calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	givesUp := func(in *dynamodb.BatchGetItemInput, next batchCall) (*dynamodb.BatchGetItemOutput, error) {
		cancel()
		return busy(in, next)
	}
	_, _, err := store.EventLog{DB: meddled{Client: s.db, batch: givesUp}, Table: table}.EventsAfter(ctx,
		beginning(tenant), now.Add(time.Hour), 10)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has left: %v, want context.Canceled", err)
	}
}
