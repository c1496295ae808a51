package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
)

// Sources stores the rows of published institution lists.
type Sources interface {
	intake.Rows

	RemoveSource(ctx context.Context, source intake.Row) error
}

// SourceRows tests an implementation of Sources.
func SourceRows(t *testing.T, open func(testing.TB) Sources) {
	t.Helper()
	run(t, open, map[string]func(subject[Sources]){
		"a source comes back as it was saved":            sourceComesBack,
		"a source is changed and removed as it was seen": sourceChangedAsSeen,
		"of many who make a source at once one makes it": sourceMadeByOne,
	})
}

func sourceRow(id string) intake.Row {
	version := &intake.Version{
		Key: "sources/" + id + "/1", Body: "ab", ETag: `"7"`, Modified: "Wed", Timestamp: now(), ReadAt: now(),
		Report: listing.Report{
			Listings: 2, Entries: 3,
			Problems: []listing.Problem{{Reason: listing.NoName, Count: 1, Lost: true, Keys: []string{"k"}}},
		},
		Diff: intake.Diff{Before: 1, After: 2, Added: intake.Changes{Count: 1, Names: []string{"Alder"}}},
	}
	return intake.Row{
		Source: intake.Source{
			ID: id, Name: "Alder's list", Mode: "test", URL: "https://alder.example/list", Format: listing.Brands,
			Every: time.Hour, Priority: 7,
			Brand: &listing.Identifier{System: "urn:ietf:rfc:3986", Value: "https://alder.example"},
		},
		State: intake.State{
			Accepted: version, Pending: version, Guards: []intake.Guard{intake.Shrunk}, Due: now().Add(time.Hour),
			CheckedAt: now(), Failures: 2,
			Reason: intake.BadStatus, UnconfirmedSince: now(), Unpublished: true,
		},
	}
}

func sourceComesBack(c subject[Sources]) {
	t, s := c.t, c.store
	_, err := s.Source(t.Context(), "alder")
	expect.NotFound(t, "a source that nobody has made", err)
	want := []intake.Row{sourceRow("alder"), sourceRow("birch")}
	for i := range want {
		want[i], err = s.SaveSource(t.Context(), want[i])
		expect.NoError(t, err)
	}
	got, err := s.Sources(t.Context())
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	one, err := s.Source(t.Context(), "birch")
	expect.NoError(t, err)
	if diff := cmp.Diff(want[1], one); diff != "" || one.Rev != 1 {
		t.Errorf("one (-want +got):\n%s", diff)
	}
}

func sourceChangedAsSeen(c subject[Sources]) {
	t, s := c.t, c.store
	first, err := s.SaveSource(t.Context(), sourceRow("alder"))
	expect.NoError(t, err)
	first.State.Failures = 3
	second, err := s.SaveSource(t.Context(), first)
	expect.NoError(t, err)
	_, err = s.SaveSource(t.Context(), first)
	expect.Conflict(t, "saving what has changed since", err)
	expect.Conflict(t, "removing what has changed since", s.RemoveSource(t.Context(), first))
	expect.NoError(t, s.RemoveSource(t.Context(), second))
	_, err = s.Source(t.Context(), "alder")
	expect.NotFound(t, "a source that was removed", err)
}

func sourceMadeByOne(c subject[Sources]) {
	if winners := expect.Winners(c.t, 8, func(ctx context.Context, _ int) error {
		_, err := c.store.SaveSource(ctx, sourceRow("alder"))
		return err
	}); winners != 1 {
		c.t.Errorf("%d made it", winners)
	}
}
