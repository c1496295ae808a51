package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
)

const (
	wellID = "e5000000-0000-4000-8000-000000000001"
	downID = "e5000000-0000-4000-8000-000000000002"
	newID  = "e5000000-0000-4000-8000-000000000003"
)

// fareIn publishes three endpoints: a healthy one whose discovery document refers to an untrusted host, an unreachable
// one, and one that has not been probed.
func fareIn(t *testing.T, in stored) {
	t.Helper()
	made := record.Catalog{Endpoints: map[string]record.Endpoint{}}
	for id, name := range map[string]string{wellID: "Maple Hospital", downID: "Cedar Clinic", newID: "Alder Practice"} {
		made.Endpoints[id] = record.Endpoint{
			ID: id, Name: name, Status: record.Active,
			FHIRBase: "https://" + id + ".example/r4", PlatformType: "smart",
		}
	}
	db, outputs := dynamodb.NewFromConfig(in.config), in.outputs
	version, err := snapshot.Snapshots{Files: blob.Bucket{
		Client: s3.NewFromConfig(in.config),
		Name:   outputs["CatalogBucket"],
	}}.Write(t.Context(), "live", made, time.Now())
	expect.NoError(t, err)
	expect.NoError(t, store.Catalog{DB: db, Table: outputs["CatalogTable"]}.MovePointer(t.Context(),
		ledger.Pointer{Mode: "live"}, ledger.Pointer{Mode: "live", Live: version, MovedAt: time.Now()}))
	rows, at := store.CatalogHealth{DB: db, Table: outputs["CatalogTable"]}, time.Now()
	expect.NoError(t, rows.SaveRecord(t.Context(),
		health.Record{EndpointID: wellID, Mode: "live", State: health.OK, Since: at, CheckedAt: at}))
	expect.NoError(t, rows.SaveRecord(t.Context(),
		health.Record{
			EndpointID: downID, Mode: "live", State: health.Down, Since: at, CheckedAt: at, Cause: "timeout",
			Failures: 7,
		}))
	expect.NoError(t, rows.SaveDiscoveredURLs(t.Context(), health.DiscoveredURLs{
		EndpointID: wellID, Mode: "live", SeenAt: at, Pins: catalog.Pins{Token: "https://login.example"},
		Untrusted: []catalog.Departure{{Role: "token", To: "https://login.example"}},
		Bundle:    "https://maple.example/brands.json",
	}))
}

func TestCatalogHealthFiltersEndpointsByStatusAndCause(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	if got := done("catalog", "health", "-mode", "live"); fmt.Sprint(got["states"], got["summary"]) != "map[]" {
		t.Errorf("of a stack without a catalogue: %v", got)
	}
	in := openStored(t, outputs)
	fareIn(t, in)
	all := done("catalog", "health", "-mode", "live")
	if got, want := fmt.Sprint(all["states"], all["causes"], all["endpoints"], all["abroad"]),
		"map[down:1 ok:1 unknown:1] map[timeout:1] <nil> <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if other := done("catalog", "health", "-mode", "test"); fmt.Sprint(other["states"]) != "map[]" {
		t.Errorf("of the other mode: %v", other)
	}
	down, _ := done("catalog", "health", "-mode", "live", "-state", "down")["endpoints"].([]any)
	if told := fmt.Sprint(down); len(down) != 1 || !strings.Contains(told, downID) ||
		!strings.Contains(told, "class:timeout") || !strings.Contains(told, "name:Cedar Clinic") {
		t.Errorf("down: %v", down)
	}
	abroad, _ := done("catalog", "health", "-mode", "live", "-abroad")["abroad"].([]any)
	if told := fmt.Sprint(abroad); len(abroad) != 1 || !strings.Contains(told, "token:https://login.example") ||
		!strings.Contains(told, "endpoint approve -id "+wellID) {
		t.Errorf("abroad: %v", abroad)
	}
	// The report omits hosts that an operator has already pinned.
	expect.NoError(t, store.Portals(in.control).SaveEndpoint(t.Context(),
		catalog.Endpoint{ID: wellID, Mode: "live", Pins: catalog.Pins{Token: "https://login.example"}}))
	if got := done("catalog", "health", "-mode", "live", "-abroad")["abroad"]; fmt.Sprint(got) != "[]" {
		t.Errorf("approved, and still told: %v", got)
	}
	bundles, _ := done("catalog", "health", "-mode", "live", "-bundles")["bundles"].([]any)
	if told := fmt.Sprint(bundles); len(bundles) != 1 ||
		!strings.Contains(told, "bundle:https://maple.example/brands.json") || !strings.Contains(told, "endpoints:1 ") {
		t.Errorf("bundles: %v", bundles)
	}
	done("catalog", "source", "set", "-id", "maple", "-mode", "live", "-format", "brands", "-url",
		"https://maple.example/brands.json")
	if got := done("catalog", "health", "-mode", "live", "-bundles")["bundles"]; fmt.Sprint(got) != "[]" {
		t.Errorf("a source, and still told: %v", got)
	}
	for wrong, args := range map[string][]string{
		"state must be": {"-state", "ill"}, "mode must be": {"-mode", "prod"},
		"-limit must be": {"-limit", "0"},
	} {
		if _, err := ctl(t, outputs, append([]string{"catalog", "health"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), wrong) {
			t.Errorf("%v: got %v", args, err)
		}
	}
}
