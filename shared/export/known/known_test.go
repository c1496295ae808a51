package known_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export/known"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const day = 24 * time.Hour

// after returns what is known about a server after the lessons of the given days, counted from now.
func after(t *testing.T, lessons map[int]known.Lesson, days ...int) known.Server {
	t.Helper()
	var server known.Server
	for _, at := range days {
		server, _ = server.Learn(lessons[at], now.Add(time.Duration(at)*day))
	}
	return server
}

func TestIsEmptyReturnsFalseOnceResourceIsFound(t *testing.T) {
	t.Parallel()
	lessons := map[int]known.Lesson{
		0: {Empty: []string{"Flag"}, Found: []string{"Goal"}}, 1: {Found: []string{"Flag"}},
		2: {Empty: []string{"Flag", "Goal"}},
	}
	for _, c := range []struct {
		days       []int
		at         int
		flag, goal bool
	}{
		{days: nil, at: 0},
		{days: []int{0}, at: 0, flag: true},
		{days: []int{0}, at: 31},
		{days: []int{0, 1}, at: 1},
		{days: []int{0, 1, 2}, at: 3},
		{days: []int{0, 1, 2}, at: 31, flag: true, goal: true},
	} {
		server := after(t, lessons, c.days...)
		at := now.Add(time.Duration(c.at) * day)
		if got := server.IsEmpty("Flag", at); got != c.flag {
			t.Errorf("after %v, on day %d: Flag empty %v, want %v", c.days, c.at, got, c.flag)
		}
		if got := server.IsEmpty("Goal", at); got != c.goal {
			t.Errorf("after %v, on day %d: Goal empty %v, want %v", c.days, c.at, got, c.goal)
		}
	}
}

func TestInFlightUsesLearnedLoadUntilItExpires(t *testing.T) {
	t.Parallel()
	lessons := map[int]known.Lesson{
		0: {Load: known.Experience{Handled: 8}}, 1: {Load: known.Experience{Trouble: true, Limit: 3}},
		2: {Load: known.Experience{Handled: 0}},
		3: {Load: known.Experience{Trouble: true}},
	}
	for name, c := range map[string]struct {
		days         []int
		at           int
		begin, limit int
	}{
		"nothing is known":                      {},
		"it bore eight":                         {days: []int{0}, at: 6, begin: 8},
		"that was long ago":                     {days: []int{0}, at: 7},
		"it refused a fourth":                   {days: []int{0, 1}, at: 1, begin: 3, limit: 3},
		"too few requests say nothing":          {days: []int{0, 1, 2}, at: 1, begin: 3, limit: 3},
		"bearing three renews no limit":         {days: []int{1, 2}, at: 2, begin: 3},
		"it had trouble":                        {days: []int{0, 3}, at: 3},
		"trouble without a limit keeps a limit": {days: []int{1, 3}, at: 1, limit: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin, limit := after(t, lessons, c.days...).InFlight(now.Add(time.Duration(c.at) * day))
			if begin != c.begin || limit != c.limit {
				t.Errorf("begins with %d, limit %d; want %d, %d", begin, limit, c.begin, c.limit)
			}
		})
	}
}

func TestServerHintsExpireWithAgeOrNewRelease(t *testing.T) {
	t.Parallel()
	refused := after(t,
		map[int]known.Lesson{0: {Release: "EHR 1", Batch: new(false), Attaches: new(true), Pages: known.Pages{Size: 300}}}, 0)
	size := func(s known.Server, at time.Time) int { size, _ := s.PageSize(at); return size }
	if refused.Batches(now.Add(29*day)) || !refused.Batches(now.Add(30*day)) {
		t.Error("a refused batch does not count for 30 days")
	}
	if size(refused, now) != 300 || size(refused, now.Add(7*day)) != 0 {
		t.Error("the size of a page does not count for a week")
	}
	for days, want := range map[int]bool{29: true, 30: false} {
		if _, isKnown := refused.AttachesProvenance(now.Add(time.Duration(days) * day)); isKnown != want {
			t.Errorf("the trial of _revinclude after %d days: known is %t", days, isKnown)
		}
	}
	next := refused.Of("EHR 2")
	if _, isKnown := next.AttachesProvenance(now); isKnown {
		t.Error("another release has the trial of the one before")
	}
	if !next.Batches(now) || size(next, now) != 0 {
		t.Errorf("another release has the ways of the one before: %+v", next)
	}
	if same := refused.Of("EHR 1"); !cmp.Equal(same, refused) {
		t.Errorf("the same release: %+v", same)
	}
}

func TestLearnReportsUnchangedPropertiesOncePerDay(t *testing.T) {
	t.Parallel()
	lesson := known.Lesson{
		Release: "EHR 1", Load: known.Experience{Handled: 8}, Found: []string{"Goal"}, Empty: []string{"Flag"},
		Batch: new(true), Pages: known.Pages{Size: 300},
	}
	server, isNew := known.Server{}.Learn(lesson, now)
	if !isNew {
		t.Error("the first lesson is not new")
	}
	if again, changed := server.Learn(lesson, now.Add(23*time.Hour)); changed || !cmp.Equal(again, server) {
		t.Errorf("the same within a day is new: %+v", again)
	}
	if _, isNew = server.Learn(lesson, now.Add(day)); !isNew {
		t.Error("the same a day later is not stored, and would end")
	}
	for name, other := range map[string]known.Lesson{
		"release": {Release: "EHR 2"}, "trouble": {Release: "EHR 1", Load: known.Experience{Trouble: true}},
		"type":  {Release: "EHR 1", Found: []string{"Flag"}},
		"batch": {Release: "EHR 1", Batch: new(false)}, "pages": {Release: "EHR 1", Pages: known.Pages{Size: 100, Most: 100}},
	} {
		if _, isNew = server.Learn(other, now); !isNew {
			t.Errorf("%s is not new", name)
		}
	}
}

func TestReleaseOfReturnsVersionOrDate(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"EHR", "7", "2026-03-01", "EHR 7"},
		{"EHR", "", "2026-03-01T10:00:00Z", "EHR 2026-03-01"},
		{"", "", "2026", " 2026"},
		{"", "", "", " "},
	} {
		if got := known.ReleaseOf(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %q", c, got)
		}
	}
}
