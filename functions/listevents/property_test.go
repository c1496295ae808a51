package listevents_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/webhook"
)

// reading simulates a reader and concurrent writers in virtual time.
type reading struct {
	log   *log
	http  http.Handler
	after string
	got   []string
}

func newReading() *reading {
	r := &reading{log: &log{now: keyedtest.Moment()}}
	r.http = handler(r.log, plain{}, func() time.Time { return r.log.now })
	return r
}

func (r *reading) write(lag time.Duration) {
	n := len(r.log.entries)
	r.log.addOf(tenantA(), (n*7919)%10_007, webhook.TestEvent, r.log.now, bodyOf(n)) // IDs are not in chronological order
	r.log.entries[n].visibleAt = r.log.now.Add(lag)
}

// poll sends one request and keeps the returned cursor for the next request.
func (r *reading) poll(tb testing.TB, limit int) {
	tb.Helper()
	got := get(tb, r.http, keyedtest.PublicA, url.Values{"after": {r.after}, "limit": {strconv.Itoa(limit)}})
	for _, body := range got.Data.Events {
		r.got = append(r.got, string(body))
	}
	r.after = got.Data.After
}

// due returns the bodies of all events whose age is at least the given duration, in list order.
func (r *reading) due(age time.Duration) []string {
	var events []webhook.Event
	for _, e := range r.log.entries {
		if e.CreatedAt.Before(r.log.now.Add(-age)) {
			events = append(events, e.Event)
		}
	}
	slices.SortFunc(events, order)
	bodies := make([]string, 0, len(events))
	for _, e := range events {
		bodies = append(bodies, string(e.Body))
	}
	return bodies
}

// TestListEventsReturnsEveryEventOlderThanDelay creates events that become visible up to 15 seconds later, in any
// order, while a reader polls at random times. At any time, the events that the reader has received must be a prefix of
// the list, without duplicates. After polling to the end of the list, the reader must have received every event that is
// at least 15 seconds old.
func TestListEventsReturnsEveryEventOlderThanDelay(t *testing.T) {
	t.Parallel()
	script := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
		return [2]int{rapid.IntRange(0, 3).Draw(t, "move"), rapid.IntRange(0, 15_000).Draw(t, "much")}
	}), 1, 80)
	rapid.Check(t, func(rt *rapid.T) {
		r := newReading()
		for _, step := range script.Draw(rt, "script") {
			switch move, much := step[0], step[1]; move {
			case 0, 1:
				r.write(time.Duration(much) * time.Millisecond)
			case 2:
				r.log.now = r.log.now.Add(time.Duration(much%4000) * time.Millisecond)
			case 3:
				r.poll(t, 1+much%9)
				if want := r.due(15 * time.Second); len(r.got) > len(want) || !slices.Equal(r.got, want[:len(r.got)]) {
					rt.Fatalf("read %q, of %q", r.got, want)
				}
			}
		}
		for _, last := range []time.Duration{0, 16 * time.Second} {
			r.log.now = r.log.now.Add(last)
			bodies, after, _ := readAll(t, r.http, r.after, url.Values{"limit": {"3"}})
			r.got, r.after = append(r.got, bodies...), after
			if want := r.due(15 * time.Second); !slices.Equal(r.got, want) {
				rt.Fatalf("read %q, want %q", r.got, want)
			}
		}
	})
}

// TestListEventsMissesEventVisibleAfterDelay shows that TestListEventsReturnsEveryEventOlderThanDelay can detect missed
// events. A reader misses an event that becomes visible more than 15 seconds after its creation.
func TestListEventsMissesEventVisibleAfterDelay(t *testing.T) {
	t.Parallel()
	r := newReading()
	r.write(20 * time.Second)
	r.log.now = r.log.now.Add(time.Second)
	r.write(0)
	for range 5 {
		r.log.now = r.log.now.Add(17 * time.Second)
		r.poll(t, 10)
	}
	if want := r.due(15 * time.Second)[1:]; !slices.Equal(r.got, want) {
		t.Errorf("read %q, want only the second event %q", r.got, want)
	}
}
