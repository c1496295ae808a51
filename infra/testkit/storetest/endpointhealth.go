package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/health/rounds"
	"recordbridge/shared/words/fault"
)

// EndpointHealth stores the health of the catalogue's endpoints.
type EndpointHealth interface {
	rounds.Records
	DiscoveredURLs(ctx context.Context, mode string) ([]health.DiscoveredURLs, error)
}

// EndpointHealths tests an implementation of EndpointHealth.
func EndpointHealths(t *testing.T, open func(testing.TB) EndpointHealth) {
	t.Helper()
	run(t, open, map[string]func(subject[EndpointHealth]){
		"the rounds are one's until their time is over": roundsOfOne,
		"of many who begin at once one makes the rounds": func(c subject[EndpointHealth]) {
			won := expect.Winners(c.t, 16, func(ctx context.Context, _ int) error {
				_, err := c.store.Begin(ctx, now(), now().Add(time.Minute))
				return err
			})
			if won != 1 {
				c.t.Errorf("%d of 16", won)
			}
		},
		"a record is replaced as it was seen":                               recordAsSeen,
		"an endpoint is forgotten as it was seen, with its discovered URLs": forgotten,
		"discovered URLs are replaced by later ones":                        latestDiscovery,
		"a summary's pointer is moved by one who saw it":                    healthPointerAsSeen,
		"a mode has records, discovered URLs and a pointer apart":           healthOfMode,
	})
}

const aHealthy = "e1000000-0000-4000-8000-000000000001"

func roundsOfOne(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	until := now().Add(time.Minute)
	first, err := s.Begin(t.Context(), now(), until)
	expect.NoError(t, err)
	if _, err = s.Begin(t.Context(), until, until.Add(time.Minute)); !errors.Is(err, fault.Conflict) {
		t.Errorf("another one began: %v", err)
	}
	second, err := s.Begin(t.Context(), until.Add(time.Microsecond), until.Add(time.Minute))
	expect.NoError(t, err)
	if first != 1 || second != 2 {
		t.Errorf("runs %d and %d", first, second)
	}
}

func wholeRecord() health.Record {
	return health.Record{
		EndpointID: aHealthy, Mode: "live", State: health.Down, Since: now(), CheckedAt: now().Add(time.Second),
		Cause: "timeout", Failures: 4,
		FailingAt: now().Add(-time.Hour), NextAt: now().Add(time.Hour), Token: "0a1b", Seen: "2c3d",
	}
}

func recordAsSeen(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	want := wholeRecord()
	expect.NoError(t, s.SaveRecord(t.Context(), want))
	if err := s.SaveRecord(t.Context(), want); !errors.Is(err, fault.Conflict) {
		t.Errorf("made twice: %v", err)
	}
	want.Rev = 1
	records := func() []health.Record {
		all, err := s.Records(t.Context(), "live")
		expect.NoError(t, err)
		return all
	}
	if diff := cmp.Diff([]health.Record{want}, records()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	next := health.Record{EndpointID: aHealthy, Mode: "live", State: health.OK, NextAt: now(), Rev: 1}
	expect.NoError(t, s.SaveRecord(t.Context(), next))
	if err := s.SaveRecord(t.Context(), want); !errors.Is(err, fault.Conflict) {
		t.Errorf("an old one was saved: %v", err)
	}
	next.Rev = 2
	if diff := cmp.Diff([]health.Record{next}, records()); diff != "" {
		t.Errorf("the next (-want +got):\n%s", diff)
	}
}

func forgotten(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	gone := wholeRecord()
	expect.NoError(t, s.SaveRecord(t.Context(), gone))
	expect.NoError(t, s.SaveDiscoveredURLs(t.Context(),
		health.DiscoveredURLs{EndpointID: gone.EndpointID, Mode: gone.Mode, SeenAt: now(), Pins: catalog.Pins{Issuer: "i"}}))
	expect.Conflict(t, "another revision", s.Forget(t.Context(), gone))
	gone.Rev = 1
	expect.NoError(t, s.Forget(t.Context(), gone))
	records, err := s.Records(t.Context(), gone.Mode)
	expect.NoError(t, err)
	discovered, err := s.DiscoveredURLs(t.Context(), gone.Mode)
	if expect.NoError(t, err); len(records)+len(discovered) > 0 {
		t.Errorf("left: %v, %v", records, discovered)
	}
}

func latestDiscovery(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	first := health.DiscoveredURLs{
		EndpointID: aHealthy, Mode: "live", SeenAt: now(),
		//nolint:gosec // G101: a pin is an origin, which everybody may know
		Pins: catalog.Pins{
			Issuer: "i", Authorization: "https://a.example", Token: "https://a.example", Keys: "https://k.example",
		},
		Untrusted: []catalog.Departure{{Role: "token", To: "https://t.example"}}, Bundle: "https://a.example/brands.json",
	}
	later := health.DiscoveredURLs{
		EndpointID: aHealthy, Mode: "live", SeenAt: now().Add(time.Hour),
		Pins: catalog.Pins{Issuer: "j"},
	}
	for _, want := range []health.DiscoveredURLs{first, later} {
		expect.NoError(t, s.SaveDiscoveredURLs(t.Context(), want))
		all, err := s.DiscoveredURLs(t.Context(), "live")
		expect.NoError(t, err)
		if len(all) != 1 || all[0].Sum() != want.Sum() || !all[0].SeenAt.Equal(want.SeenAt) ||
			len(all[0].Untrusted) != len(want.Untrusted) {
			t.Errorf("got %+v, want %+v", all, want)
		}
	}
	if err := s.SaveDiscoveredURLs(t.Context(), first); !errors.Is(err, fault.Conflict) {
		t.Errorf("an older one took its place: %v", err)
	}
}

func healthPointerAsSeen(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	first, err := s.Pointer(t.Context(), "live")
	expect.NoError(t, err)
	if diff := cmp.Diff(health.Pointer{Mode: "live"}, first); diff != "" {
		t.Errorf("of a new stack (-want +got):\n%s", diff)
	}
	want := health.Pointer{Mode: "live", Version: "20260304T050607Z-0102030405060708", States: "0a0b", MadeAt: now()}
	expect.NoError(t, s.MovePointer(t.Context(), want))
	if err = s.MovePointer(t.Context(), want); !errors.Is(err, fault.Conflict) {
		t.Errorf("moved twice: %v", err)
	}
	got, err := s.Pointer(t.Context(), "live")
	expect.NoError(t, err)
	want.Rev = 1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func healthOfMode(c subject[EndpointHealth]) {
	t, s := c.t, c.store
	expect.NoError(t, s.SaveRecord(t.Context(), wholeRecord()))
	expect.NoError(t, s.SaveDiscoveredURLs(t.Context(),
		health.DiscoveredURLs{EndpointID: aHealthy, Mode: "live", SeenAt: now()}))
	expect.NoError(t, s.MovePointer(t.Context(), health.Pointer{Mode: "live", Version: "v", MadeAt: now()}))
	records, err := s.Records(t.Context(), "test")
	expect.NoError(t, err)
	discovered, err := s.DiscoveredURLs(t.Context(), "test")
	expect.NoError(t, err)
	pointer, err := s.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	if len(records)+len(discovered) != 0 || pointer.Version != "" {
		t.Errorf("%v, %v, %v", records, discovered, pointer)
	}
}
