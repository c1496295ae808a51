package publish_test

import (
	"fmt"
	"testing"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
)

func TestPublishIgnoresUntrustedDiscoveryWhenPinning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(4, nil)
	w.publish(t)
	approved := w.rows[server(2)]
	approved.Pins.Token = "https://approved.example"
	w.rows[server(2)] = approved
	own := w.rows[server(3)]
	own.Published = false
	w.rows[server(3)] = own
	for i := range 4 {
		home := catalog.Pins{Token: fmt.Sprintf("https://fhir%d.example", i)}
		w.seen = append(w.seen, health.DiscoveredURLs{EndpointID: server(i), Mode: "test", SeenAt: noon, Pins: home})
	}
	w.seen[1].Untrusted = []catalog.Departure{{Role: "token", To: "https://abroad.example"}}
	w.seen = append(w.seen, health.DiscoveredURLs{
		EndpointID: server(99), Mode: "test", SeenAt: noon,
		Pins: catalog.Pins{Token: "https://gone.example"},
	})
	for i := range 4 { // A discovery in one mode does not apply to the other mode's rows.
		w.seen = append(w.seen, health.DiscoveredURLs{
			EndpointID: server(i), Mode: "live", SeenAt: noon,
			Pins: catalog.Pins{Token: "https://live.example"},
		})
	}
	if out := w.publish(t); out.Pinned != 1 || w.rows[server(0)].Pins.Token != "https://fhir0.example" {
		t.Errorf("pinned %d: %+v", out.Pinned, w.rows[server(0)])
	}
	if w.rows[server(1)].Pins != (catalog.Pins{}) || w.rows[server(2)].Pins != approved.Pins ||
		w.rows[server(3)].Pins != (catalog.Pins{}) {
		t.Errorf("rows %+v", w.rows)
	}
	before := w.writes
	w.seen[0].Pins.Token = "https://moved.example"
	if again := w.publish(t); again.Pinned != 0 || w.writes != before ||
		w.rows[server(0)].Pins.Token != "https://fhir0.example" {
		t.Errorf("again: %d writes, row %+v", w.writes-before, w.rows[server(0)])
	}
}
