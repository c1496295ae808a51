package listevents_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/listevents"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/secret"
)

const (
	second = time.Second
	day    = 24 * time.Hour
)

func ago(d time.Duration) time.Time { return keyedtest.Moment().Add(-d) }

func success(events, after string, hasMore bool) string {
	return fmt.Sprintf(`{"success":true,"data":{"events":[%s],"after":"%s","has_more":%v}}`, events, after, hasMore)
}

// few returns a log with events of different ages, including one from another organisation and one from the other mode.
func few() *log {
	l := &log{}
	l.add(5, webhook.TestEvent, ago(15*second-time.Microsecond)) // an event too recent to be listed
	l.add(4, webhook.ExportFailed, ago(15*second+time.Microsecond))
	l.add(3, webhook.ConnectionFailed, ago(time.Hour)) // an extension type
	l.add(2, webhook.ExportSucceeded, ago(time.Hour))
	l.add(1, webhook.ConnectionSucceeded, ago(15*day-second))
	l.add(0, webhook.TestEvent, ago(15*day+second)) // an event too old to be listed
	l.addOf(keyedtest.Tenants()[keyedtest.PublicB], 6, webhook.TestEvent, ago(time.Hour), `{"of":"B"}`)
	l.addOf(keyedtest.Tenants()[keyedtest.LiveA], 7, webhook.TestEvent, ago(time.Hour), `{"of":"live"}`)
	return l
}

func TestListEventsReturnsEventsOrError(t *testing.T) {
	t.Parallel()
	end := plainCursor(ago(15*second+time.Microsecond), 4)
	hour := plainCursor(ago(time.Hour), 3)
	all := bodyOf(1) + "," + bodyOf(2) + "," + bodyOf(4)
	noCursor := keyedtest.FailureBody("svc_invalid_request", "after is not a valid cursor for this list.")
	noLimit := keyedtest.FailureBody("svc_invalid_request", "limit must be an integer from 1 to 500.")
	noTypes := keyedtest.FailureBody("svc_invalid_request", "types must be a comma-separated list of event types.")
	for name, e := range map[string]keyedtest.Exchange{
		"all":                {Status: 200, Want: success(all, end, false)},
		"nothing sent":       {Path: "?after=&limit=&types=", Status: 200, Want: success(all, end, false)},
		"from the beginning": {Path: "?after=" + esc(start()), Status: 200, Want: success(all, end, false)},
		"a limit":            {Path: "?limit=2", Status: 200, Want: success(bodyOf(1)+","+bodyOf(2), hour, true)},
		"exactly the limit":  {Path: "?limit=3", Status: 200, Want: success(all, end, false)},
		"behind an event":    {Path: "?after=" + esc(hour), Status: 200, Want: success(bodyOf(4), end, false)},
		"nothing new":        {Path: "?after=" + esc(end), Status: 200, Want: success("", end, false)},
		"an event too old": {
			Path: "?after=" + esc(plainCursor(ago(40*day), 9)), Status: 200,
			Want: success(all, end, false),
		},
		"an event that has gone": {
			Path: "?after=" + esc(plainCursor(ago(time.Hour), 1)), Status: 200,
			Want: success(bodyOf(2)+","+bodyOf(4), end, false),
		},
		"a cursor from the future": {
			Path: "?after=" + esc(plainCursor(ago(-time.Hour), 1)), Status: 200,
			Want: success("", plainCursor(ago(-time.Hour), 1), false),
		},
		"an extension": {
			Path: "?types=patient.connection_failed", Status: 200,
			Want: success(bodyOf(3), end, false),
		},
		"two types": {
			Path: "?types=patient.ehi_export_failed,patient.connection_failed", Status: 200,
			Want: success(bodyOf(3)+","+bodyOf(4), end, false),
		},
		"a type twice": {
			Path: "?types=patient.ehi_export_failed,patient.ehi_export_failed", Status: 200,
			Want: success(bodyOf(4), end, false),
		},
		"a type without events": {Path: "?types=patient.authorization_revoked", Status: 200, Want: success("", end, false)},
		"another organisation": {
			User: keyedtest.PublicB, Status: 200,
			Want: success(`{"of":"B"}`, strings.Replace(plainCursor(ago(time.Hour), 6), tenantA().Key(),
				keyedtest.Tenants()[keyedtest.PublicB].Key(), 1), false),
		},
		"the other mode": {
			User: keyedtest.LiveA, Status: 200,
			Want: success(`{"of":"live"}`, strings.Replace(plainCursor(ago(time.Hour), 7), "test", "live", 1), false),
		},
		"no cursor":               {Path: "?after=x", Status: 400, Want: noCursor},
		"a cursor of another one": {Path: "?after=" + esc(hour), User: keyedtest.PublicB, Status: 400, Want: noCursor},
		"a cursor of test mode":   {Path: "?after=" + esc(hour), User: keyedtest.LiveA, Status: 400, Want: noCursor},
		"a cursor without a time": {Path: "?after=" + esc(start()+"x#y"), Status: 400, Want: noCursor},
		"a cursor without an id":  {Path: "?after=" + esc(start()+"2026-03-04T05:06:07Z"), Status: 400, Want: noCursor},
		"a cursor twice": {
			Path: "?after=x&after=x", Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "after must not be repeated."),
		},
		"no number":          {Path: "?limit=x", Status: 400, Want: noLimit},
		"a fraction":         {Path: "?limit=1.5", Status: 400, Want: noLimit},
		"a limit of none":    {Path: "?limit=0", Status: 400, Want: noLimit},
		"a limit below none": {Path: "?limit=-1", Status: 400, Want: noLimit},
		"the highest limit":  {Path: "?limit=500", Status: 200, Want: success(all, end, false)},
		"a higher limit":     {Path: "?limit=501", Status: 400, Want: noLimit},
		"an unknown type":    {Path: "?types=patient.unknown", Status: 400, Want: noTypes},
		"an empty type":      {Path: "?types=webhook.test,", Status: 400, Want: noTypes},
		"types twice": {
			Path: "?types=webhook.test&types=webhook.test", Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "types must not be repeated."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = listevents.Route + e.Path
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, listevents.Route, handler(few(), plain{}, keyedtest.Moment))
		})
	}
}

func esc(cursor string) string { return url.QueryEscape(cursor) }

func TestListEventsHidesInternalErrors(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.Handler{
		"the store":        handler(&log{fails: true}, plain{}, keyedtest.Moment),
		"a cursor to open": handler(few(), plain{fails: true}, keyedtest.Moment),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keyedtest.Exchange{
				Path: listevents.Route + "?after=" + esc(start()), User: keyedtest.PublicA, Status: 500,
				Want: keyedtest.ServerError,
			}.Check(t, listevents.Route, h)
		})
	}
	t.Run("a cursor to seal", func(t *testing.T) {
		t.Parallel()
		h := handler(few(), plain{fails: true}, keyedtest.Moment)
		keyedtest.Exchange{Path: listevents.Route, User: keyedtest.PublicA, Status: 500, Want: keyedtest.ServerError}.Check(t,
			listevents.Route, h)
	})
}

func TestListEventsRequiresKeyAndGet(t *testing.T) {
	t.Parallel()
	keyedtest.CheckReader(t, listevents.Route, listevents.Route, http.MethodPost, func() http.Handler {
		return handler(few(), plain{}, keyedtest.Moment)
	})
}

// TestListEventsReturnsCursorWhenEmpty checks that a client can continue from an empty list's cursor.
func TestListEventsReturnsCursorWhenEmpty(t *testing.T) {
	t.Parallel()
	l := &log{}
	h := handler(l, plain{}, keyedtest.Moment)
	first := get(t, h, keyedtest.PublicA, nil)
	if first.Data.After != start() || first.Data.HasMore || first.Data.Events == nil || len(first.Data.Events) != 0 {
		t.Fatalf("an empty list answers %+v", first.Data)
	}
	if again := get(t, h, keyedtest.PublicA,
		url.Values{"after": {first.Data.After}}); again.Data.After != first.Data.After {
		t.Errorf("the cursor is %q, want that which was sent", again.Data.After)
	}
	l.add(1, webhook.TestEvent, ago(time.Minute))
	if got, _, _ := readAll(t, h, first.Data.After, nil); !slices.Equal(got, []string{bodyOf(1)}) {
		t.Errorf("then it reads %q", got)
	}
}

// TestListEventsOmitsExtensionsUnlessRequested checks that the default list contains every type in
// docs/guide/webhook-reference.md except extensions. Clients must request extensions by name.
func TestListEventsOmitsExtensionsUnlessRequested(t *testing.T) {
	t.Parallel()
	for kind, isServed := range map[webhook.Type]bool{
		webhook.ExportSucceeded: true, webhook.ExportFailed: true, webhook.TestEvent: true,
		webhook.ConnectionSucceeded: true, webhook.AuthorizationEnded: true, webhook.HealthSystemRequested: true,
		webhook.SupportRequested: true,
		webhook.ConnectionFailed: false, webhook.AuthorizationEnding: false, webhook.ExportProgressed: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := &log{}
			l.add(1, kind, ago(time.Minute))
			h := handler(l, plain{}, keyedtest.Moment)
			if got := len(get(t, h, keyedtest.PublicA, nil).Data.Events); got == 1 != isServed {
				t.Errorf("%d events, want it served: %v", got, isServed)
			}
			if got := len(get(t, h, keyedtest.PublicA, url.Values{"types": {string(kind)}}).Data.Events); got != 1 {
				t.Errorf("asked for by its name: %d events", got)
			}
		})
	}
}

// TestListEventsPagesWithEncryptedCursors reads many pages with the real, encrypted cursors.
func TestListEventsPagesWithEncryptedCursors(t *testing.T) {
	t.Parallel()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	l, want := &log{}, make([]string, 0, 230)
	for n := range 230 {
		// Each creation time is shared by three consecutive events.
		l.add(n, webhook.TestEvent, ago(time.Hour).Add(time.Duration(n/3)*time.Microsecond))
		want = append(want, bodyOf(n))
	}
	h := handler(l, cursor.Sealer{Keys: ring}, keyedtest.Moment)
	for limit, requests := range map[string]int{"": 3, "7": 33, "115": 2, "229": 2, "230": 1, "500": 1} {
		got, last, n := readAll(t, h, "", url.Values{"limit": {limit}})
		if !slices.Equal(got, want) || n != requests {
			t.Errorf("limit %q: %d events in %d requests, want %d in %d", limit, len(got), n, len(want), requests)
		}
		if stranger := get(t, h, keyedtest.LiveA, url.Values{"after": {last}}); stranger.status != http.StatusBadRequest {
			t.Errorf("the other mode opens the cursor: %d", stranger.status)
		}
	}
	for _, limit := range l.asked {
		if limit < 1 || limit > 100 {
			t.Errorf("the store was asked for %d events at once, want at most 100", limit)
		}
	}
}

// TestListEventsLimitsResponseSize checks that a response stays below Lambda's limit but contains at least one event.
func TestListEventsLimitsResponseSize(t *testing.T) {
	t.Parallel()
	l, want := &log{}, make([]string, 0, 41)
	for n := range 40 {
		body := fmt.Sprintf(`{"n":%d,"text":"%s"}`, n, strings.Repeat("x", 390_000))
		l.addOf(tenantA(), n, webhook.TestEvent, ago(time.Hour).Add(time.Duration(n)*second), body)
		want = append(want, body)
	}
	huge := `"` + strings.Repeat("y", 4_100_000) + `"` // larger than any valid row
	l.addOf(tenantA(), 41, webhook.TestEvent, ago(time.Minute), huge)
	h := handler(l, plain{}, keyedtest.Moment)
	got, _, requests := readAll(t, h, "", nil)
	if !slices.Equal(got, append(want, huge)) || requests != 5 {
		t.Errorf("%d events in %d requests, want 41 in 5", len(got), requests)
	}
	first := get(t, h, keyedtest.PublicA, nil)
	if limit := 6 << 20 / 4 * 3; first.size > limit || len(first.Data.Events) != 10 || !first.Data.HasMore {
		t.Errorf("the first answer has %d events in %d bytes (at most %d)", len(first.Data.Events), first.size, limit)
	}
}

// TestListEventsLimitsReadsWhenSkippingTypes checks that each request makes a limited number of reads, even if it skips
// many events. The cursor must advance past the skipped events.
func TestListEventsLimitsReadsWhenSkippingTypes(t *testing.T) {
	t.Parallel()
	l := &log{}
	for n := range 2500 {
		l.add(n, webhook.ExportProgressed, ago(time.Hour))
	}
	l.add(2500, webhook.ExportSucceeded, ago(time.Hour))
	h := handler(l, plain{}, keyedtest.Moment)
	got, _, requests := readAll(t, h, "", nil)
	if !slices.Equal(got, []string{bodyOf(2500)}) || requests != 3 {
		t.Errorf("%d events in %d requests, want the one in 3", len(got), requests)
	}
	l.asked = nil
	if first := get(t, h, keyedtest.PublicA, nil); len(l.asked) != 10 || !first.Data.HasMore ||
		first.Data.After != plainCursor(ago(time.Hour), 999) {
		t.Errorf("the first request read %d times and ended at %q", len(l.asked), first.Data.After)
	}
}
