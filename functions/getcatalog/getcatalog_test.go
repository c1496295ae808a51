package getcatalog_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/functions/getcatalog"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	public   = keyedtest.PublicA
	live     = keyedtest.LiveA
	brandID  = "b0000000-0000-4000-8000-000000000001"
	mergedID = "b0000000-0000-4000-8000-000000000002"
	brokenID = "b0000000-0000-4000-8000-000000000003"
	portalID = "d0000000-0000-4000-8000-000000000001"
	endpoint = "e0000000-0000-4000-8000-000000000001"
)

type records struct{}

func missing(mode, id string, known ...string) error {
	if id == brokenID {
		return errors.New("trouble at 10.0.0.7")
	}
	for _, one := range known {
		if mode == "test" && id == one {
			return nil
		}
	}
	return fault.Missing("Record not found.")
}

func (records) Brand(_ context.Context, mode, id string) (record.Brand, error) {
	return record.Brand{
		ID: brandID, LastUpdated: keyedtest.Moment(), Name: "Alder", BrandWebsite: "https://a.example",
		LogoURI: "https://a.example/logo.svg", Aliases: []string{"A"},
		Locations: []record.Location{{City: "C", State: "NY", PostalCode: "10001", Country: "US"}},
		PortalIDs: []string{portalID}, BrandIDs: []string{mergedID},
		NPIs: []string{"1234567893"}, SortName: "alder", PlatformType: "smart", Category: "prov",
	}, missing(mode, id, brandID, mergedID)
}

func (records) Portal(_ context.Context, mode, id string) (record.Portal, error) {
	return record.Portal{ID: id, LastUpdated: keyedtest.Moment(), Name: "Portal", EndpointIDs: []string{endpoint}},
		missing(mode, id, portalID)
}

func (records) Endpoint(_ context.Context, mode, id string) (record.Endpoint, health.Status, error) {
	return record.Endpoint{
		ID: id, LastUpdated: keyedtest.Moment(), Status: record.Active, ConnectionType: record.ConnectionType,
		PlatformType: "smart", FHIRVersion: "4.0.1", Name: "FHIR",
		FHIRBase: "https://fhir.example/base",
	}, health.Status{State: health.OK, CheckedAt: keyedtest.Moment()}, missing(mode, id, endpoint)
}

type facilities struct{}

func (facilities) Facility(mode org.Mode, id string) (tefca.Facility, bool) {
	known := mode == org.Test && id == "urn:oid:2.999.1.1"
	return tefca.Facility{ID: id, Name: "Alder", City: "Madison", State: "WI"}, known
}

func TestGetCatalogReturnsRecord(t *testing.T) {
	t.Parallel()
	brand := `{"success":true,"data":{"id":"` + brandID +
		`","last_updated":"2026-03-04T05:06:07Z","name":"Alder","brand_website":"https://a.example",` +
		`"logo_uri":"https://a.example/logo.svg","aliases":["A"],"description":"","locations":[{"city":"C",` +
		`"state":"NY","postal_code":"10001","country":"US"}],` +
		`"portal_ids":["` + portalID + `"],"brand_ids":["` + mergedID +
		`"],"npis":["1234567893"],"hidden":false,"sort_name":"alder","platform_type":"smart","category":"prov"}}`
	portal := `{"success":true,"data":{"id":"` + portalID +
		`","last_updated":"2026-03-04T05:06:07Z","name":"Portal","portal_website":"","logo_uri":"",` +
		`"description":"","endpoint_ids":["` + endpoint + `"]}}`
	server := `{"success":true,"data":{"id":"` + endpoint +
		`","last_updated":"2026-03-04T05:06:07Z","status":"active","connection_type":"hl7-fhir-rest",` +
		`"platform_type":"smart","fhir_version":"4.0.1","name":"FHIR","health":{"state":"ok",` +
		`"checked_at":"2026-03-04T05:06:07Z"}}}`
	unknown := keyedtest.FailureBody("svc_not_found", "Record not found.")
	one := keyedtest.FailureBody("svc_invalid_request",
		"Exactly one of brand_id, portal_id, endpoint_id and tefca_directory_id is required.")
	for name, c := range map[string]struct {
		method, query string
		status        int
		want          string
	}{
		"a brand":               {query: public + "&brand_id=" + brandID, status: 200, want: brand},
		"in capitals":           {query: public + "&brand_id=" + strings.ToUpper(brandID), status: 200, want: brand},
		"with its mode":         {query: public + "&api_mode=test&brand_id=" + brandID, status: 200, want: brand},
		"a merged brand":        {query: public + "&brand_id=" + mergedID, status: 200, want: brand},
		"a portal":              {query: public + "&portal_id=" + portalID, status: 200, want: portal},
		"an endpoint":           {query: public + "&endpoint_id=" + endpoint, status: 200, want: server},
		"of another kind":       {query: public + "&brand_id=" + portalID, status: 404, want: unknown},
		"of the other mode":     {query: live + "&brand_id=" + brandID, status: 404, want: unknown},
		"no UUID":               {query: public + "&brand_id=..%2Fbases", status: 404, want: unknown},
		"no TEFCA directory id": {query: public + "&tefca_directory_id=" + brandID, status: 404, want: unknown},
		"a TEFCA directory id": {
			query: public + "&tefca_directory_id=urn:oid:2.999.1.1", status: 200,
			want: `{"success":true,"data":{"tefca_directory_id":"urn:oid:2.999.1.1","name":"Alder",` +
				`"platform_type":"tefca","locations":[{"city":"Madison","state":"WI"}]}}`,
		},
		"none": {query: public, status: 400, want: one},
		"two":  {query: public + "&brand_id=" + brandID + "&portal_id=" + portalID, status: 400, want: one},
		"one twice": {
			query: public + "&brand_id=a&brand_id=b", status: 400,
			want: keyedtest.FailureBody("svc_invalid_request", "brand_id must not be repeated."),
		},
		"a mode that is not its": {
			query: public + "&api_mode=live&brand_id=" + brandID, status: 400,
			want: keyedtest.FailureBody("svc_invalid_request", "api_mode must match the mode of public_id."),
		},
		"a stranger": {
			query: "x&brand_id=" + brandID, status: 401,
			want: keyedtest.FailureBody("svc_unauthorized_client", "public_id is unknown."),
		},
		"our own failure": {
			query: public + "&brand_id=" + brokenID, status: 500,
			want: keyedtest.FailureBody("svc_server_error", "Something went wrong on our side. Please try again."),
		},
		"POST": {
			method: http.MethodPost, query: public, status: 405,
			want: keyedtest.FailureBody("svc_method_not_allowed",
				"This method is not allowed for this URL. Allowed methods: GET, HEAD, OPTIONS."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := getcatalog.New(getcatalog.Deps{
				API: keyedtest.NewAPI(), Auth: browsertest.Auth(), Records: records{},
				Facilities: facilities{},
			})
			r := httptest.NewRequest(cmp.Or(c.method, http.MethodGet), getcatalog.Route+"?public_id="+c.query, http.NoBody)
			r.Header.Set("Origin", browsertest.Origin)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != c.status || got != c.want {
				t.Errorf("got %d %s\nwant %d %s", w.Code, got, c.status, c.want)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != browsertest.Origin && got != "*" {
				t.Errorf("CORS: %q", got)
			}
		})
	}
}
