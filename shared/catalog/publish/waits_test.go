package publish_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/manage/operator"
)

const hospitalNPI = "1234567893"

// lists is a world whose publisher composes the catalogue from accepted source lists.
type lists struct {
	*world

	objects memory.Files
}

func (l *lists) publisher() publish.Publisher {
	p := l.world.publisher()
	p.Compose, p.Lists = compose.Compose, publish.Accepted{Sources: l.ledger, Objects: &l.objects, Own: ownRows{}}
	p.Platform = func(base string) string {
		return map[string]string{"fhir.epic.example": "epic"}[catalog.Host(base)]
	}
	return p
}

func (l *lists) accept(t *testing.T, source intake.Source, all ...listing.Listing) {
	t.Helper()
	var packed bytes.Buffer
	expect.NoError(t, listing.Write(&packed, slices.Values(all)))
	l.objects.Put("sources/"+source.ID, packed.Bytes())
	source.Mode = "test"
	row, _ := l.ledger.Source(t.Context(), source.ID)
	row.Source, row.State.Accepted = source, &intake.Version{Key: "sources/" + source.ID}
	_, err := l.ledger.SaveSource(t.Context(), row)
	expect.NoError(t, err)
}

func (l *lists) publish(t *testing.T) publish.Outcome {
	t.Helper()
	out, err := l.publisher().Publish(t.Context(), "test")
	expect.NoError(t, err)
	l.now = l.now.Add(time.Hour)
	return out
}

func clinic(name, address string) listing.Listing {
	return listing.Listing{
		Key: name, Name: name,
		Portals: []listing.Portal{{Endpoints: []listing.Endpoint{{Address: address}}}},
	}
}

func (l *lists) rowAt(base string) catalog.Endpoint {
	for _, row := range l.rows {
		if row.FHIRBase == base {
			return row
		}
	}
	return catalog.Endpoint{}
}

func TestPublishSkipsRowForUnknownHospitalHost(t *testing.T) {
	t.Parallel()
	const evil = "https://fhir.evil.example/r4"
	l := &lists{world: newWorld(t)}
	hospital, hostile := clinic("Odo Hospital", "https://fhir.epic.example/odo"), clinic("Evil Clinic", evil)
	hospital.NPIs, hostile.NPIs = []string{hospitalNPI}, []string{hospitalNPI}
	l.accept(t, intake.Source{ID: "vendor", Priority: 70, Platform: "epic"}, hospital)
	l.publish(t)
	l.accept(t, intake.Source{ID: "hostile", Platform: "epic"}, hostile)
	out := l.publish(t)
	if len(out.Composed.Waiting) != 1 {
		t.Fatalf("waiting %+v", out.Composed.Waiting)
	}
	id, err := operator.EndpointID("test", evil)
	expect.NoError(t, err)
	l.seen = []health.DiscoveredURLs{{
		EndpointID: id, Mode: "test", SeenAt: l.now,
		Pins: catalog.Pins{Token: "https://fhir.evil.example"},
	}}
	l.publish(t)
	if got := l.rowAt(evil); got.ID != "" {
		t.Fatalf("the hostile server has the row %+v", got)
	}
	brand := l.rowAt("https://fhir.epic.example/odo").BrandID
	state, err := l.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	if state.Waits.Hosts != 1 || state.Waits.Servers != 1 || !state.Waits.Since.Equal(noon.Add(time.Hour)) {
		t.Errorf("waits %+v", state.Waits)
	}
	before := l.writes
	if again := l.publish(t); again.Published || l.writes != before || len(again.Composed.Waiting) != 1 {
		t.Errorf("again %d writes: %+v", l.writes-before, again.Composed.Waiting)
	}
	expect.NoError(t, l.ledger.PutOverride(t.Context(), "test",
		ledger.Override{Kind: ledger.Portal, ID: brand, Value: "fhir.evil.example"}))
	l.publish(t)
	if got := l.rowAt(evil); got.BrandID != brand || got.PlatformType != "smart" || !got.OwnRegistration {
		t.Errorf("let in, its row is %+v", got)
	}
	state, err = l.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	if state.Waits.Hosts != 1 { // The host's platform is still unconfirmed.
		t.Errorf("waits %+v", state.Waits)
	}
	expect.NoError(t, l.ledger.PutOverride(t.Context(), "test",
		ledger.Override{Kind: ledger.Platform, ID: "fhir.evil.example", Value: "epic"}))
	l.publish(t)
	if got := l.rowAt(evil); got.PlatformType != "epic" || got.OwnRegistration {
		t.Errorf("of platform epic by an operator's word, its row is %+v", got)
	}
	expect.NoError(t, l.ledger.PutOverride(t.Context(), "test",
		ledger.Override{Kind: ledger.Refuse, ID: "fhir.evil.example"}))
	l.publish(t)
	if got := l.rowAt(evil); got.Status != catalog.EndpointSuspended {
		t.Errorf("refused, its row is %+v", got)
	}
}

func TestPublishAssignsPlatformOnlyToKnownHost(t *testing.T) {
	t.Parallel()
	l := &lists{world: newWorld(t)}
	l.accept(t, intake.Source{ID: "vendor", Priority: 70, Platform: "epic"},
		clinic("Known Clinic", "https://fhir.epic.example/known"), clinic("Evil Clinic", "https://fhir.evil.example/r4"),
		clinic("Odd Clinic", "http://fhir.epic.example/odd"))
	l.accept(t, intake.Source{ID: "sandbox", Platform: "sandbox"}, clinic("Own Clinic", baseURL+"/sandbox/fhir"),
		clinic("Not ours", "https://sandbox.example/sandbox/fhir"))
	l.publish(t)
	for base, want := range map[string]string{
		"https://fhir.epic.example/known": "epic", "https://fhir.evil.example/r4": "smart",
		"http://fhir.epic.example/odd": "smart",
		baseURL + "/sandbox/fhir":      "sandbox", "https://sandbox.example/sandbox/fhir": "smart",
	} {
		if got := l.rowAt(base); got.PlatformType != want || got.OwnRegistration != (want == "smart") {
			t.Errorf("%s is of %q, registered alone: %v; want %s", base, got.PlatformType, got.OwnRegistration, want)
		}
	}
}

// TestPublishPreservesRegistrationOfOlderRows checks that rows without OwnRegistration keep their registration.
func TestPublishPreservesRegistrationOfOlderRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(2, nil)
	w.publish(t)
	older := w.rows[server(0)]
	older.OwnRegistration = false
	w.rows[server(0)] = older
	w.next = institutions(3, nil)
	w.publish(t)
	if w.rows[server(0)] != older || !w.rows[server(2)].OwnRegistration {
		t.Errorf("rows %+v", w.rows)
	}
}

func TestByHostGroupsAndSortsPendingHosts(t *testing.T) {
	t.Parallel()
	waiting := make([]compose.Wait, 0, 9)
	waiting = append(waiting, compose.Wait{
		Host: "a.example", Why: compose.NewHost, Source: "one", Brand: "Odo",
		BrandID: "id", Present: []string{"odo.example"},
	})
	for range 7 {
		waiting = append(waiting, compose.Wait{Host: "b.example", Why: compose.OfPlatform, Source: "two", Platform: "epic"})
	}
	waiting = append(waiting, compose.Wait{Host: "b.example", Why: compose.LowerPriority, Source: "one", IsKnown: true})
	got := publish.ByHost(waiting)
	if len(got) != 2 || got[0].Host != "b.example" || got[0].Servers != 8 || got[0].Because[compose.OfPlatform] != 7 ||
		len(got[0].First) != 5 ||
		!slices.Equal(got[0].Sources, []string{"one", "two"}) || !slices.Equal(got[0].Platforms, []string{"epic"}) ||
		got[1].First[0].Present[0] != "odo.example" {
		t.Errorf("%+v", got)
	}
}
