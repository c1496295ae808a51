package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	catalogledger "recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// TestPatientCanConnectToInstitutionFromPublishedList covers the path from a published list to a patient's connection,
// using the production wiring.
func TestPatientCanConnectToInstitutionFromPublishedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { runPublishing(newStack(t, options{})) })
}

// runPublishing imports and publishes a list, then connects a patient to the listed institution through the client
// registered with the institution's platform. A later change to the endpoint must require an operator's approval.
func runPublishing(s *stack) {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := s.operator.Registrations.Set(ctx, org.Tenant{}, catalog.Place{Mode: "test", PlatformType: "sandbox"},
		operator.Change{ClientID: new(sandbox.DefaultClientID)})
	expect.NoError(s.t, err)
	server := baseURL + "/sandbox/with/no-total/fhir"
	published(s, server, "sandbox", "Elm Clinic")
	// The next publication must abandon the incomplete snapshot of an interrupted publication.
	rows := store.Catalog{DB: store.NewClient(s.cloud.Config("operator")), Table: s.template.Outputs["CatalogTable"]}
	broken, err := rows.Publication(ctx, "test")
	expect.NoError(s.t, err)
	broken.To, broken.Phase = catalogledger.NewVersion(time.Now(), "0102030405060708"), catalogledger.Writing
	_, err = rows.SavePublication(ctx, broken)
	expect.NoError(s.t, err)
	s.catalog.sync()
	elm := s.catalog.institution("test", "elm clin")
	at := s.seeded
	at.Sandbox.EndpointID = elm.endpoint
	_, last := s.patient.browser().open(connectURL(at), crashPersona, "approve")
	result := last.Query()
	if result.Get("brand_id") != elm.brand || result.Get("portal_id") != elm.portal ||
		result.Get("org_connection_id") == "" {
		s.t.Fatalf("the application got %v", result)
	}
	republished(s, at.Sandbox.EndpointID)
}

// institution holds the IDs of an institution in a search result.
type institution struct{ brand, portal, endpoint string }

// institution returns the only result of a search.
func (s catalogs) institution(mode, typed string) institution {
	s.t.Helper()
	found, err := s.operator.Catalog.Search(s.t.Context(), mode, search.Query{Text: typed, Size: 10})
	expect.NoError(s.t, err)
	if found.Total != 1 {
		s.t.Fatalf("found %+v", found)
	}
	brand, err := s.operator.Catalog.Show(s.t.Context(), mode, found.Hits[0].ID)
	expect.NoError(s.t, err)
	portal, err := s.operator.Catalog.Show(s.t.Context(), mode, brand.Brand.PortalIDs[0])
	expect.NoError(s.t, err)
	return institution{brand.Brand.ID, portal.Portal.ID, portal.Portal.EndpointIDs[0]}
}

// TestConnectRejectsInstitutionWithoutEndpoint checks that connect accepts an endpoint only with one of its
// institutions, which may be hidden or identified by a former ID. For any other institution, another mode or mismatched
// IDs, both connect and the hosted page redirect with an error.
func TestConnectRejectsInstitutionWithoutEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		ctx := t.Context()
		_, err := s.operator.Registrations.Set(ctx, org.Tenant{}, catalog.Place{Mode: "test", PlatformType: "sandbox"},
			operator.Change{ClientID: new(sandbox.DefaultClientID)})
		expect.NoError(t, err)
		published(s, baseURL+"/sandbox/with/no-total/fhir", "sandbox", "Elm Clinic", "Oak Clinic", "Yew Clinic")
		elm, oak, yew, ash := s.catalog.institution("test", "elm clin"), s.catalog.institution("test", "oak clin"),
			s.catalog.institution("test", "yew clin"), s.catalog.institution("test", "ash clin")
		expect.NoError(t, s.operator.CatalogOverrides.Hide(ctx, "test", oak.brand))
		expect.NoError(t, s.operator.CatalogOverrides.Merge(ctx, "test", yew.brand, elm.brand))
		_, err = s.operator.Catalog.Publish(ctx, "test", false)
		expect.NoError(t, err)
		live := liveList(s, `{"name":"Fir Clinic","url":"https://fhir.fir.example/r4"}`)
		at := s.seeded
		at.Sandbox.EndpointID = elm.endpoint
		for name, c := range map[string]struct{ brand, portal, want string }{
			"a hidden one":         {oak.brand, oak.portal, oak.brand},
			"a merged one":         {yew.brand, elm.portal, elm.brand},
			"another institution":  {brand: ash.brand, portal: ash.portal},
			"another's portal":     {brand: elm.brand, portal: ash.portal},
			"another mode's":       {brand: live.brand, portal: live.portal},
			"what is no brand":     {brand: elm.portal, portal: elm.portal},
			"none, of several":     {},
			"the endpoint's row's": {brand: "META", portal: elm.portal},
		} {
			_, last := s.patient.browser().open(
				connectURL(at)+"&"+url.Values{"brand_id": {c.brand}, "portal_id": {c.portal}}.Encode(),
				crashPersona,
				"approve",
			)
			result := last.Query()
			if result.Get("brand_id") != c.want || (result.Get("org_connection_id") == "") != (c.want == "") ||
				(result.Get("error") == "svc_invalid_request") != (c.want == "") {
				t.Errorf("%s: the application got %v", name, result)
			}
		}
	})
}

func liveList(s *stack, list string) institution {
	s.t.Helper()
	_, err := s.operator.CatalogSources.Set(s.t.Context(), "live", func(source *intake.Source) {
		source.Name, source.Mode, source.Format = "A list", "live", listing.LanternNDJSON
	})
	expect.NoError(s.t, err)
	_, _, err = s.operator.CatalogSources.Import(s.t.Context(), "live", strings.NewReader(list))
	expect.NoError(s.t, err)
	_, err = s.operator.Catalog.Publish(s.t.Context(), "live", false)
	expect.NoError(s.t, err)
	return s.catalog.institution("live", "clinic")
}

// published adds a list of clinics that use a server, then runs catalogsync, which fetches and publishes all lists.
func published(s *stack, server, platform string, names ...string) {
	s.t.Helper()
	rows := append(make([]string, 0, 1+len(names)), `{"name":"Ash Clinic","url":"https://fhir.ash.example/r4"}`)
	for _, name := range names {
		rows = append(rows, `{"name":"`+name+`","url":"`+server+`"}`)
	}
	list := strings.Join(rows, "\n")
	s.intercept = func(r *http.Request) *http.Response {
		if r.URL.Host != "lists.example" {
			return nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(list))}
	}
	_, err := s.operator.CatalogSources.Set(s.t.Context(), "vendor", func(source *intake.Source) {
		source.Name, source.Mode, source.URL, source.Format, source.Every = "A vendor", "test", "https://lists.example/r4",
			listing.LanternNDJSON, time.Hour
		source.Platform = platform
	})
	expect.NoError(s.t, err)
	<-time.After(time.Second)
	s.catalog.sync()
}

// republished changes an endpoint's platform in the list. Because the endpoint has connected patients, the publication
// must wait for an operator's approval.
func republished(s *stack, endpoint string) {
	s.t.Helper()
	ctx := s.t.Context()
	before, err := s.operator.Endpoints.Show(ctx, endpoint)
	expect.NoError(s.t, err)
	published(s, before.FHIRBase, "smart", "Elm Clinics")
	wantRow(ctx, s, before)
	report, err := s.operator.Catalog.Report(ctx, "test")
	expect.NoError(s.t, err)
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

// wantRow checks that an endpoint's stored row still has the wanted URLs.
func wantRow(ctx context.Context, s *stack, want catalog.Endpoint) {
	s.t.Helper()
	if got, err := s.operator.Endpoints.Show(ctx, want.ID); err != nil || got.FHIRBase != want.FHIRBase ||
		got.PlatformType != want.PlatformType {
		s.t.Errorf("the row is %+v (%v), want %+v", got, err, want)
	}
}
