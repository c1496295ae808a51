package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/words/fault"
)

func TestRefreshAcceptsFirstVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	w.body, w.known = rows(0, 10), intake.Known{ETag: `W/"1"`, Modified: "Wed, 04 Mar 2026 05:00:00 GMT"}
	state, outcome := w.refresh(t)
	if outcome != intake.Accepted || !state.Unpublished || state.Accepted.ETag != `W/"1"` ||
		state.Accepted.Modified != w.known.Modified ||
		state.Due != w.now.Add(24*time.Hour) || state.CheckedAt != w.now || w.names(t, state.Accepted) == "" {
		t.Errorf("%s: %+v", outcome, state)
	}
	if d := state.Accepted.Diff; d.Before != 0 || d.After != 10 || d.Added.Count != 10 || len(d.Added.Names) != 10 {
		t.Errorf("%+v", d)
	}
}

func TestRefreshUpdatesTimestampsWhenListIsUnchanged(t *testing.T) {
	t.Parallel()
	for name, etag := range map[string]string{"by its ETag": `"1"`, "by its bytes": ""} {
		w := newWorld(source())
		w.body, w.known.ETag = rows(0, 10), etag
		before, _ := w.refresh(t)
		if err := w.intake().Published(t.Context(), w.rows["vendor"]); err != nil {
			t.Fatal(err)
		}
		puts := w.put
		w.now = w.now.Add(24 * time.Hour)
		state, outcome := w.refresh(t)
		if outcome != intake.Unchanged || w.put != puts || state.Unpublished || !cmp.Equal(state.Accepted, before.Accepted) ||
			state.Due != w.now.Add(24*time.Hour) {
			t.Errorf("%s: %s, %d objects, %+v", name, outcome, w.put-puts, state)
		}
		if got := w.asked[1].ETag; got != etag {
			t.Errorf("%s: asked for what is not %q", name, got)
		}
	}
}

func TestDiffListsAddedRemovedAndChangedListings(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	w.body = rows(0, 100)
	w.refresh(t)
	w.body = strings.Replace(rows(5, 130), `"name":"Clinic7"`, `"name":"Clinic7","fhir_version":"4.0.1"`, 1)
	state, outcome := w.refresh(t)
	d := state.Accepted.Diff
	if outcome != intake.Accepted || d.Before != 100 || d.After != 125 || d.Added.Count != 30 ||
		len(d.Added.Names) != 20 || d.Added.Names[0] != "Clinic100" ||
		d.Removed.Count != 5 || strings.Join(d.Removed.Names, " ") != "Clinic0 Clinic1 Clinic2 Clinic3 Clinic4" ||
		d.Changed.Count != 1 || d.Changed.Names[0] != "Clinic7" {
		t.Errorf("%s: %+v", outcome, d)
	}
}

func TestRefreshRequiresApprovalForSuspiciousList(t *testing.T) {
	t.Parallel()
	broken := strings.Repeat("oops\n", 6)
	for name, c := range map[string]struct {
		before, body string
		want         []intake.Guard
	}{
		"a fifth is gone":              {rows(0, 100), rows(0, 80), nil},
		"more than a fifth is gone":    {rows(0, 100), rows(0, 79), []intake.Guard{intake.Shrunk}},
		"ten times as many":            {rows(0, 10), rows(0, 100), nil},
		"a hundred times as many":      {rows(0, 10), rows(0, 1000), []intake.Guard{intake.Grew}},
		"a twentieth is unreadable":    {rows(0, 100), rows(0, 114) + broken, nil},
		"more than that is unreadable": {rows(0, 100), rows(0, 113) + broken, []intake.Guard{intake.Unreadable}},
		"everything is unreadable": {
			rows(0, 100), broken,
			[]intake.Guard{intake.Lapsed, intake.Shrunk, intake.Unreadable},
		},
		"unreadable at first": {"", broken + rows(0, 6), []intake.Guard{intake.Unreadable}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(source())
			accepted := "nothing"
			if c.before != "" {
				w.body = c.before
				state, _ := w.refresh(t)
				accepted = w.names(t, state.Accepted)
			}
			w.body = c.body
			state, outcome := w.refresh(t)
			if !cmp.Equal(state.Guards, c.want) || (outcome == intake.Waiting) != (c.want != nil) {
				t.Fatalf("%s: %q", outcome, state.Guards)
			}
			if c.want == nil {
				return
			}
			if got := w.names(t, state.Accepted); got != accepted || state.Pending == nil ||
				state.UnconfirmedSince.IsZero() != (c.before == "") {
				t.Errorf("%q is accepted, since %v", got, state.UnconfirmedSince)
			}
			again, outcome := w.refresh(t)
			if outcome != intake.Waiting || !cmp.Equal(again.Pending, state.Pending) ||
				again.UnconfirmedSince != state.UnconfirmedSince {
				t.Errorf("the same once more: %s, %+v", outcome, again)
			}
			row, err := w.intake().Approve(t.Context(), w.rows["vendor"])
			if s := row.State; err != nil || s.Pending != nil || s.Guards != nil || !s.Unpublished ||
				!s.UnconfirmedSince.IsZero() || w.names(t, s.Accepted) != w.names(t, state.Pending) {
				t.Errorf("approved: %+v, %v", s, err)
			}
			if _, err := w.intake().Approve(t.Context(), row); !errors.Is(err, fault.NotFound) {
				t.Errorf("approved nothing: %v", err)
			}
		})
	}
}

func TestRefreshDropsPendingVersionWhenListRecovers(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	for _, body := range []string{rows(0, 100), rows(0, 10), rows(0, 100)} {
		w.body = body
		w.refresh(t)
	}
	if s := w.rows["vendor"].State; s.Pending != nil || s.Guards != nil || !s.UnconfirmedSince.IsZero() || !s.Unpublished {
		t.Errorf("%+v", s)
	}
}

// failure is an error with a class, like the errors of safehttp and fetch.
type failure string

func (f failure) Error() string          { return string(f) }
func (f failure) Failure() (string, int) { return string(f), 0 }

func TestRefreshKeepsAcceptedVersionAndReasonOnFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure error
		body    string
		want    intake.Reason
	}{
		"a private address":  {failure: failure("blocked_address"), want: "blocked_address"},
		"a status":           {failure: failure("bad_status"), want: intake.BadStatus},
		"the time is over":   {failure: fmt.Errorf("read: %w", context.DeadlineExceeded), want: intake.OutOfTime},
		"a page":             {body: "<!doctype html><title>Sign in", want: "is_page"},
		"nothing":            {body: "\n", want: "empty"},
		"an older timestamp": {body: dated("2025-01-01T00:00:00Z", "A", "B"), want: intake.Older},
		"half a bundle":      {body: dated("2027-01-01T00:00:00Z", "A")[:90], want: "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source()
			s.Format = listing.Endpoints
			w := newWorld(s)
			w.body = dated("2026-01-01T00:00:00Z", "A")
			before, _ := w.refresh(t)
			if err := w.intake().Published(t.Context(), w.rows["vendor"]); err != nil {
				t.Fatal(err)
			}
			w.failure, w.body = c.failure, c.body
			began := w.now
			state, outcome := w.refresh(t)
			if outcome != intake.Failed || state.Reason != c.want || state.UnconfirmedSince != began || !state.Unpublished ||
				!cmp.Equal(state.Accepted, before.Accepted) {
				t.Fatalf("%s: %+v", outcome, state)
			}
			for _, minutes := range []int{30, 60, 120, 240, 480, 960, 1440, 1440} {
				w.now = w.now.Add(time.Hour)
				if state, _ = w.refresh(t); state.Due != w.now.Add(time.Duration(minutes)*time.Minute) ||
					state.UnconfirmedSince != began {
					t.Fatalf("after %d failures it is due in %v, unconfirmed since %v", state.Failures, state.Due.Sub(w.now),
						state.UnconfirmedSince)
				}
			}
			w.failure, w.body = nil, dated("2026-01-01T00:00:00Z", "A")
			if state, outcome = w.refresh(t); outcome != intake.Unchanged || state.Reason != "" || state.Failures != 0 ||
				!state.UnconfirmedSince.IsZero() || !state.Unpublished {
				t.Errorf("afterwards %s: %+v", outcome, state)
			}
		})
	}
}

func dated(at string, names ...string) string {
	entries := make([]string, 0, len(names))
	for _, name := range names {
		entries = append(entries,
			fmt.Sprintf(`{"resource":{"resourceType":"Endpoint","id":%q,"name":%q,"address":"https://fhir.example/%s"}}`,
				name, name, name))
	}
	return `{"resourceType":"Bundle","timestamp":"` + at + `","entry":[` + strings.Join(entries, ",") + `]}`
}

func TestRefreshJittersWaits(t *testing.T) {
	t.Parallel()
	for random, want := range map[float64]time.Duration{
		0:        216 * time.Minute / 10 * 60,
		0.999999: 264 * time.Minute / 10 * 60,
	} {
		w := newWorld(source())
		w.body = rows(0, 1)
		in := w.intake()
		in.Random = func() float64 { return random }
		row, _, err := in.Refresh(t.Context(), w.rows["vendor"])
		if got := row.State.Due.Sub(w.now); err != nil || got.Round(time.Minute) != want {
			t.Errorf("with %v after %v, want %v (%v)", random, got, want, err)
		}
	}
}

func TestRefreshReturnsInternalFailureWithoutChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	w.body = rows(0, 10)
	w.refresh(t)
	saved := w.saved
	w.body = rows(0, 11)
	clear(w.objects) // simulate a missing object that the row still references
	if _, _, err := w.intake().Refresh(t.Context(), w.rows["vendor"]); !errors.Is(err, fault.NotFound) ||
		w.saved != saved {
		t.Errorf("%v", err)
	}
	w.failure = fmt.Errorf("stopped: %w", context.Canceled)
	if _, _, err := w.intake().Refresh(t.Context(), w.rows["vendor"]); !errors.Is(err, context.Canceled) ||
		w.saved != saved {
		t.Errorf("%v", err)
	}
	fresh := newWorld(source())
	fresh.body, fresh.clash = rows(0, 10), true
	if _, _, err := fresh.intake().Refresh(t.Context(), fresh.rows["vendor"]); !errors.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

func TestTakeAcceptsListFromFile(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	row, outcome, err := w.intake().Take(t.Context(), w.rows["vendor"], strings.NewReader(rows(0, 3)))
	if err != nil || outcome != intake.Accepted || w.names(t, row.State.Accepted) != "Clinic0 Clinic1 Clinic2" ||
		len(w.asked) != 0 {
		t.Errorf("%s: %+v, %v", outcome, row.State, err)
	}
	_, _, err = w.intake().Take(t.Context(), row, brokenReader{})
	if !errors.Is(err, errBroken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

var _ io.Reader = brokenReader{}

func TestRefreshImportsOnlyBrandOfOwnList(t *testing.T) {
	t.Parallel()
	s := source()
	s.Format, s.Brand = listing.Brands, &listing.Identifier{System: "urn:ietf:rfc:3986", Value: "https://elm.example"}
	w := newWorld(s)
	organization := func(id, name, website, partOf string) string {
		return fmt.Sprintf(
			`{"resource":{"resourceType":"Organization","id":%q,"name":%q,"identifier":[{"system":"urn:ietf:rfc:3986",`+
				`"value":%q}],"partOf":{"reference":"Organization/%s"},"endpoint":[{"reference":"Endpoint/e"}]}}`,
			id, name, website, partOf)
	}
	w.body = `{"resourceType":"Bundle","entry":[` + strings.Join([]string{
		organization("ward", "Ward", "https://ward.example", "kids"),
		organization("elm", "Elm", "https://www.elm.example", "x"),
		organization("kids", "Kids", "https://kids.example", "elm"), organization("oak", "Oak", "https://oak.example", "x"),
		`{"resource":{"resourceType":"Endpoint","id":"e","address":"https://fhir.elm.example"}}`,
	}, ",") + `]}`
	state, _ := w.refresh(t)
	if got := w.names(t, state.Accepted); got != "Ward Elm Kids" {
		t.Errorf("took %q", got)
	}
	if vendor := (intake.Source{Priority: 999}); s.Rank() <= vendor.Rank() {
		t.Error("a vendor's list goes before what a brand says of itself")
	}
}

func TestDueSortsSourcesByTimeOverdue(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*intake.Source){
		"":         func(*intake.Source) {},
		"id":       func(s *intake.Source) { s.ID = "A b" },
		"name":     func(s *intake.Source) { s.Name = "" },
		"mode":     func(s *intake.Source) { s.Mode = "both" },
		"format":   func(s *intake.Source) { s.Format = "xml" },
		"url":      func(s *intake.Source) { s.URL = "http://lists.example" },
		"every":    func(s *intake.Source) { s.Every = time.Minute },
		"priority": func(s *intake.Source) { s.Priority = 1000 },
		"brand":    func(s *intake.Source) { s.Brand = &listing.Identifier{Value: "x"} },
	} {
		s := source()
		spoil(&s)
		if err := s.Check(); (err == nil) != (field == "") || err != nil && fault.Of(err).Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	at := func(id string, due time.Duration, url string) intake.Row {
		s := source()
		s.ID, s.URL = id, url
		return intake.Row{Source: s, State: intake.State{Due: time.Unix(0, 0).Add(due)}}
	}
	due := intake.Due([]intake.Row{
		at("late", 2, "u"), at("not-yet", 11, "u"), at("first", 1, "u"), at("by-hand", 0, ""),
		at("now", 10, "u"),
	}, time.Unix(0, 10))
	ids := make([]string, 0, len(due))
	for _, row := range due {
		ids = append(ids, row.Source.ID)
	}
	if got := strings.Join(ids, " "); got != "first late now" {
		t.Errorf("due are %s", got)
	}
}

// hostile returns a list that maximises the size of the row describing it.
func hostile() string {
	long := strings.Repeat("\\u0026", 290)
	entries := make([]string, 0, 200)
	for i := range 100 {
		entries = append(entries,
			fmt.Sprintf(
				`{"resource":{"resourceType":"Organization","id":"%03d%s","name":"%d %s",
			"endpoint":[{"reference":"Endpoint/e"},{"reference":"Endpoint/x"}],
			"identifier":[{"system":"http://hl7.org/fhir/sid/us-npi","value":"1"}],"alias":["\u0000"],
			"telecom":[{"system":"url","value":"javascript:1"}],"partOf":{"reference":"Organization/y"},
			"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/organization-brand",
				"extension":[{"url":"brandBundle","valueUrl":"https://own.example/?%s"}]}]}}`,
				i, long, i, long, strings.Repeat("\\u0026", 470)),
			`{"resource":{"resourceType":"Organization","id":"n`+long+`","name":""}}`)
	}
	return `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Endpoint","id":"e",` +
		`"address":"https://fhir.example"}},` + strings.Join(entries, ",") + `]}`
}

func TestStateFitsIntoRowAtItsLimits(t *testing.T) {
	t.Parallel()
	s := source()
	s.Format = listing.Brands
	w := newWorld(s)
	w.body = hostile()
	state, outcome := w.refresh(t)
	text, err := json.Marshal(state)
	const halfARow = 200_000 // the row contains both the accepted and the pending version
	if err != nil || outcome != intake.Waiting || len(state.Pending.Report.Problems) < 5 ||
		len(state.Pending.Report.OwnLists) != 20 || len(text) > halfARow {
		t.Errorf("%s: %d bytes, %+v, %v", outcome, len(text), state.Pending.Report.Problems, err)
	}
}

func TestRefreshRejectsNotModifiedForUnconditionalRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	w.known.ETag = "x"
	in := w.intake()
	in.Lists = unchanged{}
	row, outcome, err := in.Refresh(t.Context(), w.rows["vendor"])
	if err != nil || outcome != intake.Failed || row.State.Reason != "empty" || row.State.Accepted != nil {
		t.Errorf("%s: %+v, %v", outcome, row.State, err)
	}
}

type unchanged struct{}

func (unchanged) Fetch(context.Context, string, intake.Known) (intake.Answer, error) {
	return intake.Answer{IsUnchanged: true}, nil
}
