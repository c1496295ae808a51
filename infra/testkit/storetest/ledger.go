package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/ledger"
)

// Ledger stores the catalogue's records outside its snapshots.
type Ledger interface {
	Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
	MovePointer(ctx context.Context, seen, next ledger.Pointer) error
	Publication(ctx context.Context, mode string) (ledger.Publication, error)
	SavePublication(ctx context.Context, p ledger.Publication) (ledger.Publication, error)
	Overrides(ctx context.Context, mode string) ([]ledger.Override, error)
	PutOverride(ctx context.Context, mode string, o ledger.Override) error
	DropOverride(ctx context.Context, mode string, o ledger.Override) error
}

// Ledgers tests an implementation of Ledger.
func Ledgers(t *testing.T, open func(testing.TB) Ledger) {
	t.Helper()
	run(t, open, map[string]func(subject[Ledger]){
		"a pointer is moved by one who has seen it":        pointerMovedAsSeen,
		"a publication goes on from where it was seen":     publicationSavedAsSeen,
		"an override takes the place of its kind":          overrideInPlace,
		"an override is taken back once":                   overrideDroppedOnce,
		"a mode has a ledger of its own":                   ledgerOfMode,
		"of many who move a pointer at once one moves it":  pointerMovedByOne,
		"of many who begin at once one begins to publish":  publicationBegunByOne,
		"an override that says the same again is no other": overrideOnce,
	})
}

const (
	liveVersion = ledger.Version("20260304T050607Z-0102030405060708")
	nextVersion = ledger.Version("20260304T050608Z-0a02030405060708")
)

func pointerMovedAsSeen(c subject[Ledger]) {
	t, s := c.t, c.store
	first, err := s.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	if diff := cmp.Diff(ledger.Pointer{Mode: "test"}, first); diff != "" {
		t.Errorf("of a new stack (-want +got):\n%s", diff)
	}
	want := ledger.Pointer{Mode: "test", Live: liveVersion, MovedAt: now(), Kept: []ledger.Version{liveVersion}}
	expect.NoError(t, s.MovePointer(t.Context(), first, want))
	seen, err := s.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	want.Rev = 1
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	next := ledger.Pointer{
		Mode: "test", Live: nextVersion, MovedAt: now().Add(time.Minute),
		Kept: []ledger.Version{liveVersion, nextVersion},
	}
	expect.Conflict(t, "moving one that has moved", s.MovePointer(t.Context(), first, next))
	expect.NoError(t, s.MovePointer(t.Context(), seen, next))
	expect.Conflict(t, "moving it back unseen", s.MovePointer(t.Context(), seen, want))
}

func publicationSavedAsSeen(c subject[Ledger]) {
	t, s := c.t, c.store
	first, err := s.Publication(t.Context(), "test")
	expect.NoError(t, err)
	if diff := cmp.Diff(ledger.Publication{Mode: "test"}, first); diff != "" {
		t.Errorf("of a new stack (-want +got):\n%s", diff)
	}
	want := first
	want.From, want.To, want.Phase, want.Done, want.Approved, want.Paused = liveVersion, nextVersion, ledger.Rows,
		7, "q-7", true
	want.PinnedThrough = now()
	want.Question = ledger.Question{
		ID: "q-8", Asked: now(), Whole: true, Because: []string{"too many"},
		Held: []ledger.Held{{EndpointID: "e", What: "address"}},
		Diff: ledger.Diff{Brands: ledger.Changes{Before: 3, After: 1, Removed: 2, Names: []string{"Alder"}}},
	}
	saved, err := s.SavePublication(t.Context(), want)
	expect.NoError(t, err)
	read, err := s.Publication(t.Context(), "test")
	expect.NoError(t, err)
	want.Rev = 1
	for _, got := range []ledger.Publication{saved, read} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	_, err = s.SavePublication(t.Context(), first)
	expect.Conflict(t, "saving what has gone on since", err)
	ended := read
	ended.From, ended.To, ended.Phase, ended.Done, ended.Question, ended.Paused = "", "", "", 0, ledger.Question{}, false
	_, err = s.SavePublication(t.Context(), ended)
	expect.NoError(t, err)
	read, err = s.Publication(t.Context(), "test")
	expect.NoError(t, err)
	want = ledger.Publication{Mode: "test", Approved: "q-7", PinnedThrough: now(), Rev: 2}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
}

func pointerMovedByOne(c subject[Ledger]) {
	winners := expect.Winners(c.t, 8, func(ctx context.Context, _ int) error {
		return c.store.MovePointer(ctx, ledger.Pointer{Mode: "live"}, ledger.Pointer{Mode: "live", Live: liveVersion})
	})
	if winners != 1 {
		c.t.Errorf("%d moved it", winners)
	}
}

func publicationBegunByOne(c subject[Ledger]) {
	winners := expect.Winners(c.t, 8, func(ctx context.Context, _ int) error {
		_, err := c.store.SavePublication(ctx, ledger.Publication{Mode: "live", To: liveVersion, Phase: ledger.Writing})
		return err
	})
	if winners != 1 {
		c.t.Errorf("%d began", winners)
	}
}

func overrideInPlace(c subject[Ledger]) {
	t, s := c.t, c.store
	for _, o := range []ledger.Override{
		{Kind: ledger.Name, ID: "b", Value: "Alder"},
		{Kind: ledger.Alias, ID: "b", Value: "Alder #1"},
		{Kind: ledger.Hide, ID: "a"},
		{Kind: ledger.Name, ID: "b", Value: "Alder Hospital"},
		{Kind: ledger.Alias, ID: "b", Value: "The Alder"},
	} {
		expect.NoError(t, s.PutOverride(t.Context(), "test", o))
	}
	wantOverrides(c, "test",
		ledger.Override{Kind: ledger.Alias, ID: "b", Value: "Alder #1"},
		ledger.Override{Kind: ledger.Alias, ID: "b", Value: "The Alder"},
		ledger.Override{Kind: ledger.Hide, ID: "a"}, ledger.Override{Kind: ledger.Name, ID: "b", Value: "Alder Hospital"})
}

func overrideOnce(c subject[Ledger]) {
	hide := ledger.Override{Kind: ledger.Hide, ID: "a"}
	expect.NoError(c.t, c.store.PutOverride(c.t.Context(), "test", hide))
	expect.Conflict(c.t, "hiding it again", c.store.PutOverride(c.t.Context(), "test", hide))
}

func overrideDroppedOnce(c subject[Ledger]) {
	t, s := c.t, c.store
	alias := ledger.Override{Kind: ledger.Alias, ID: "b", Value: "Alder"}
	expect.NoError(t, s.PutOverride(t.Context(), "test", alias))
	expect.Conflict(t, "dropping another alias",
		s.DropOverride(t.Context(), "test", ledger.Override{Kind: ledger.Alias, ID: "b", Value: "Ald"}))
	expect.NoError(t, s.DropOverride(t.Context(), "test", alias))
	expect.Conflict(t, "dropping it again", s.DropOverride(t.Context(), "test", alias))
	wantOverrides(c, "test")
}

func ledgerOfMode(c subject[Ledger]) {
	t, s := c.t, c.store
	expect.NoError(t, s.MovePointer(t.Context(), ledger.Pointer{Mode: "test"},
		ledger.Pointer{Mode: "test", Live: liveVersion}))
	expect.NoError(t, s.PutOverride(t.Context(), "test", ledger.Override{Kind: ledger.Hide, ID: "a"}))
	_, err := s.SavePublication(t.Context(), ledger.Publication{Mode: "test", To: liveVersion})
	expect.NoError(t, err)
	wantOverrides(c, "live")
	p, err := s.Pointer(t.Context(), "live")
	expect.NoError(t, err)
	under, err := s.Publication(t.Context(), "live")
	expect.NoError(t, err)
	if p.Live != "" || under.To != "" {
		t.Errorf("the other mode has %+v and %+v", p, under)
	}
}

func wantOverrides(c subject[Ledger], mode string, want ...ledger.Override) {
	c.t.Helper()
	got, err := c.store.Overrides(c.t.Context(), mode)
	expect.NoError(c.t, err)
	if diff := cmp.Diff(append([]ledger.Override{}, want...), got); diff != "" {
		c.t.Errorf("overrides of %s (-want +got):\n%s", mode, diff)
	}
}
