package e2e_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/health"
	catalogledger "recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/words/ids"
)

// publish publishes a test-mode catalogue with the sandbox's endpoint and an internet endpoint that must never be
// called.
func publish(s *stack) (sandbox string) {
	s.t.Helper()
	outputs := s.template.Outputs
	sandbox = "e4000000-0000-4000-8000-000000000001"
	of := record.Endpoint{
		Status: record.Active, ConnectionType: record.ConnectionType, PlatformType: "sandbox",
		FHIRVersion: "4.0.1", Name: "Sandbox",
	}
	here, abroad := of, of
	here.ID, here.FHIRBase = sandbox, baseURL+"/sandbox/fhir"
	abroad.ID, abroad.FHIRBase = "e4000000-0000-4000-8000-000000000002", "https://fhir.hospital.example/r4"
	made := record.Catalog{Endpoints: map[string]record.Endpoint{here.ID: here, abroad.ID: abroad}}
	version, err := snapshot.Snapshots{Files: s.catalog.catalogFiles()}.Write(s.t.Context(), "test", made, time.Now())
	expect.NoError(s.t, err)
	next := catalogledger.Pointer{Mode: "test", Live: version, MovedAt: time.Now(), Kept: []catalogledger.Version{version}}
	expect.NoError(s.t, store.Catalog{DB: s.rows, Table: outputs["CatalogTable"]}.MovePointer(s.t.Context(),
		catalogledger.Pointer{Mode: "test"}, next))
	return sandbox
}

func (s catalogs) catalogFiles() blob.Bucket {
	return blob.Bucket{Client: s3.NewFromConfig(s.cloud.Config("test")), Name: s.template.Outputs["CatalogBucket"]}
}

func (s state) healthRows() store.CatalogHealth {
	return store.CatalogHealth{DB: s.rows, Table: s.template.Outputs["CatalogTable"]}
}

// checkHealth checks the health summary that searches use. The summary must contain the sandbox's state and omit
// endpoints that have not been probed.
func checkHealth(s *stack, endpoint string, want health.State) {
	s.t.Helper()
	p, err := s.state.healthRows().Pointer(s.t.Context(), "test")
	expect.NoError(s.t, err)
	body, err := s.catalog.catalogFiles().Open(s.t.Context(), health.ObjectName("test", p.Version))
	expect.NoError(s.t, err)
	document, err := io.ReadAll(body)
	expect.NoError(s.t, err)
	expect.NoError(s.t, body.Close())
	summary, err := health.ReadSummary(document)
	expect.NoError(s.t, err)
	if got := summary.Of(endpoint); got.State != want || got.CheckedAt.IsZero() || summary.Len() != 1 {
		s.t.Errorf("the endpoint is %s since %v, want %s; the summary knows of %d", got.State, got.CheckedAt, want,
			summary.Len())
	}
}

// runHealth probes a server while it is healthy, while its refreshes fail, while its discovery fails, and after it
// recovers.
func runHealth(s *stack) {
	s.t.Helper()
	sandbox := publish(s)
	expect.NoError(s.t, s.state.healthRows().SaveRecord(s.t.Context(),
		health.Record{EndpointID: ids.Derive("gone"), Mode: "test", CheckedAt: time.Now().Add(-31 * 24 * time.Hour)}))
	s.clock.advance(2)
	checkHealth(s, sandbox, health.OK)
	seen, err := s.state.healthRows().DiscoveredURLs(s.t.Context(), "test")
	expect.NoError(s.t, err)
	if len(seen) != 1 || seen[0].EndpointID != sandbox || seen[0].Pins.Token != host ||
		seen[0].Pins.Authorization != host || len(seen[0].Untrusted) != 0 {
		s.t.Errorf("its discovery leads to %+v", seen)
	}
	known, err := s.state.healthRows().Records(s.t.Context(), "test")
	expect.NoError(s.t, err)
	if len(known) != 1 {
		s.t.Fatalf("known are %+v, and not the sandbox alone", known)
	}
	state, token := store.EndpointState{DB: s.rows, Table: "test-FlowTable"}, known[0].Token
	failing := refresh.Breaker{Failures: 7, OpenUntil: time.Now().Add(48 * time.Hour)}
	expect.NoError(s.t, state.SaveBreaker(s.t.Context(), token, refresh.Breaker{}, failing))
	<-time.After(38 * time.Hour)
	s.clock.advance(1)
	checkHealth(s, sandbox, health.Degraded)

	s.ehr.answering(http.StatusServiceUnavailable, "text/plain", "", wellKnown, statements)
	<-time.After(26 * time.Hour)
	for range 5 {
		s.clock.pass(16 * time.Minute)
	}
	s.clock.pass(time.Hour)
	checkHealth(s, sandbox, health.Down)

	expect.NoError(s.t, state.SaveBreaker(s.t.Context(), token, failing, refresh.Breaker{}))
	s.intercept = nil
	s.clock.pass(4 * time.Hour)
	s.clock.advance(1)
	checkHealth(s, sandbox, health.OK)
}

func TestCatalogHealthTracksEndpointFailureAndRecovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { runHealth(newStack(t, options{})) })
}
