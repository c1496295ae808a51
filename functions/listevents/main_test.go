package listevents_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/listevents"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/eventlog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func tenantA() org.Tenant { return keyedtest.Tenants()[keyedtest.PublicA] }

// log is an in-memory list of events. Each event becomes visible only when the log's clock reaches a given time.
type log struct {
	entries []entry
	now     time.Time
	fails   bool
	asked   []int // requested limits
}

type entry struct {
	webhook.Event

	visibleAt time.Time
}

func order(a, b webhook.Event) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

func (l *log) EventsAfter(_ context.Context, last webhook.Event, before time.Time,
	limit int,
) ([]webhook.Event, bool, error) {
	if l.fails {
		return nil, false, keyedtest.ErrTrouble
	}
	l.asked = append(l.asked, limit)
	var found []webhook.Event
	for _, e := range l.entries {
		if e.Tenant == last.Tenant && order(e.Event, last) > 0 && e.CreatedAt.Before(before) && !e.visibleAt.After(l.now) {
			found = append(found, e.Event)
		}
	}
	slices.SortFunc(found, order)
	return found[:min(limit, len(found))], len(found) > limit, nil
}

// add adds tenant A's event number n. The event is visible immediately and has a unique body.
func (l *log) add(n int, t webhook.Type, created time.Time) webhook.Event {
	return l.addOf(tenantA(), n, t, created, bodyOf(n))
}

func (l *log) addOf(tenant org.Tenant, n int, t webhook.Type, created time.Time, body string) webhook.Event {
	e := webhook.Event{ID: eventID(n), Tenant: tenant, Type: t, Body: []byte(body), CreatedAt: created}
	l.entries = append(l.entries, entry{Event: e})
	return e
}

func eventID(n int) string { return fmt.Sprintf("e0000000-0000-4000-8000-%012d", n) }

// bodyOf returns a body that would change if re-encoded, because it contains escapes and unordered fields.
func bodyOf(n int) string {
	return `{"id":"` + strconv.Itoa(n) + `","data":{"z":1,"a":"\u0026\u003cb\u003e é &<>\u2028"},"n":1.0}`
}

// plain implements eventlog.Cursors with plain-text cursors, which tests can construct and inspect.
type plain struct{ fails bool }

func (p plain) Seal(tenant org.Tenant, use, position string) (string, error) {
	if p.fails {
		return "", keyedtest.ErrTrouble
	}
	return strings.Join([]string{tenant.Key(), use, position}, "|"), nil
}

func (p plain) Open(tenant org.Tenant, use, text string) (string, error) {
	position, ok := strings.CutPrefix(text, tenant.Key()+"|"+use+"|")
	switch {
	case p.fails:
		return "", keyedtest.ErrTrouble
	case !ok:
		return "", fault.BadRequest("Anything.")
	}
	return position, nil
}

// plainCursor returns the cursor after one of tenant A's events.
func plainCursor(created time.Time, n int) string {
	return tenantA().Key() + "|events|" + created.UTC().Format(time.RFC3339Nano) + "#" + eventID(n)
}

// start returns the cursor before tenant A's first event.
func start() string { return tenantA().Key() + "|events|" }

func handler(l *log, cursors eventlog.Cursors, now func() time.Time) http.Handler {
	return listevents.New(listevents.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}},
		Events: eventlog.Reader{Log: l, Cursors: cursors, Now: now},
	})
}

type answer struct {
	status int
	size   int
	Data   struct {
		Events  []json.RawMessage `json:"events"`
		After   string            `json:"after"`
		HasMore bool              `json:"has_more"`
	} `json:"data"`
}

func get(tb testing.TB, h http.Handler, publicID string, query url.Values) answer {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, listevents.Route+"?"+query.Encode(), nil)
	r.SetBasicAuth(publicID, "key")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := answer{status: w.Code, size: w.Body.Len()}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		tb.Fatal(err)
	}
	return a
}

// readAll reads from a cursor to the end of the list, following the documented instructions for clients. It returns the
// events' bodies, the last cursor and the number of requests.
func readAll(tb testing.TB, h http.Handler, after string,
	query url.Values,
) (bodies []string, last string, requests int) {
	tb.Helper()
	for {
		q := url.Values{"after": {after}}
		maps.Copy(q, query)
		got := get(tb, h, keyedtest.PublicA, q)
		if got.status != http.StatusOK || got.Data.After == "" {
			tb.Fatalf("status %d, cursor %q", got.status, got.Data.After)
		}
		for _, body := range got.Data.Events {
			bodies = append(bodies, string(body))
		}
		after, requests = got.Data.After, requests+1
		if !got.Data.HasMore {
			return bodies, after, requests
		}
		if requests == 10_000 {
			tb.Fatal("the list has no end")
		}
	}
}
