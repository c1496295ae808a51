package e2e_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	catalogledger "recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
	"recordbridge/shared/store"
)

// TestAPatientConnectsToAnInstitutionOfAPublishedList: from the list to the connection, through production's wiring.
func TestAPatientConnectsToAnInstitutionOfAPublishedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { runPublishing(newStack(t, options{})) })
}

// runPublishing: a list is read and published, a patient connects to what it names, under our registration at its platform; and the endpoint
// then becomes no other without an operator.
func runPublishing(s *stack) {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := s.operator.Registrations.Set(ctx, org.Tenant{}, catalog.Place{Mode: "test", PlatformType: "sandbox"}, operator.Change{ClientID: new(sandbox.DefaultClientID)})
	must(s.t, err)
	server := baseURL + "/sandbox/with/no-total/fhir"
	s.published("Elm Clinic", server, "sandbox")
	// A publication that broke off before its snapshot was whole is given up.
	rows := store.Catalog{DB: store.NewClient(s.cloud.Config("operator")), Table: s.template.Outputs["CatalogTable"]}
	broken, err := rows.Publication(ctx, "test")
	must(s.t, err)
	broken.To, broken.Phase = catalogledger.NewVersion(time.Now(), "0102030405060708"), catalogledger.Writing
	_, err = rows.SavePublication(ctx, broken)
	must(s.t, err)
	s.sync()
	found, err := s.operator.Catalog.Search(ctx, "test", search.Query{Text: "elm clin", Size: 10})
	must(s.t, err)
	if found.Total != 1 {
		s.t.Fatalf("found %+v", found)
	}
	brand, err := s.operator.Catalog.Show(ctx, "test", found.Hits[0].ID)
	must(s.t, err)
	portal, err := s.operator.Catalog.Show(ctx, "test", brand.Brand.PortalIDs[0])
	must(s.t, err)
	at := s.seeded
	at.Sandbox.EndpointID = portal.Portal.EndpointIDs[0]
	_, last := s.browser().open(connectURL(at), crashPersona, "approve")
	result := last.Query()
	if result.Get("brand_id") != brand.Brand.ID || result.Get("portal_id") != portal.Portal.ID || result.Get("org_connection_id") == "" {
		s.t.Fatalf("the application got %v", result)
	}
	s.republished(at.Sandbox.EndpointID)
}

// published has catalogsync fetch and publish a list of one clinic, beside what is there.
func (s *stack) published(name, server, platform string) {
	s.t.Helper()
	list := `{"name":"` + name + `","url":"` + server + `"}` + "\n" + `{"name":"Ash Clinic","url":"https://fhir.ash.example/r4"}`
	s.inPlace = func(r *http.Request) *http.Response {
		if r.URL.Host != "lists.example" {
			return nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(list))}
	}
	_, err := s.operator.Catalog.SetSource(s.t.Context(), "vendor", func(source *intake.Source) {
		source.Name, source.Mode, source.URL, source.Format, source.Every = "A vendor", "test", "https://lists.example/r4", listing.LanternNDJSON, time.Hour
		source.Platform = platform
	})
	must(s.t, err)
	<-time.After(time.Second)
	s.sync()
}

// republished has the list call the platform another one. Patients are connected there, so that an operator is asked.
func (s *stack) republished(endpoint string) {
	s.t.Helper()
	ctx := s.t.Context()
	before, err := s.operator.Endpoints.Show(ctx, endpoint)
	must(s.t, err)
	s.published("Elm Clinics", before.FHIRBase, "smart")
	s.wantRow(ctx, before)
	report, err := s.operator.Catalog.Report(ctx, "test")
	must(s.t, err)
	if held := report.Publication.Question.Held; len(held) != 1 || held[0].EndpointID != endpoint {
		s.t.Errorf("an operator is asked %+v", report.Publication.Question)
	}
	if _, err = s.operator.Catalog.Approve(ctx, "test"); err != nil {
		s.t.Error(err)
	}
	if _, err = s.operator.Catalog.Publish(ctx, "test", false); err != nil {
		s.t.Error(err)
	}
	if after, err := s.operator.Endpoints.Show(ctx, endpoint); err != nil || after.PlatformType != "smart" {
		s.t.Errorf("approved, the row is %+v (%v)", after, err)
	}
}

// wantRow wants an endpoint to lead where it led before.
func (s *stack) wantRow(ctx context.Context, want catalog.Endpoint) {
	s.t.Helper()
	if got, err := s.operator.Endpoints.Show(ctx, want.ID); err != nil || got.FHIRBase != want.FHIRBase || got.PlatformType != want.PlatformType {
		s.t.Errorf("the row is %+v (%v), want %+v", got, err, want)
	}
}
