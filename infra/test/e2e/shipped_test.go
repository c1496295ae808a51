package e2e_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/catalog/us"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/record"
)

// These constants match the endpoint's values in sandbox.yaml.
const (
	replacedBrand = "0a1b0000-5a4d-4b0c-8000-000000000001"
	hiddenBrand   = "0a1b0000-5a4d-4b0c-8000-000000000002"
)

// TestNewStackListsConnectableInstitutions checks that a patient can connect to the institutions in make run's initial
// catalogue.
func TestNewStackListsConnectableInstitutions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{catalog: shipped.Sandbox})
		t.Cleanup(synctest.Wait) // waits for searches that are still loading files into the test's folder
		if first := s.catalog.first("sandbox hosp"); first.ID != s.seeded.Sandbox.BrandID {
			t.Errorf("the sandbox is %s, and %s is found", s.seeded.Sandbox.BrandID, first.ID)
		}
		heart, children := s.catalog.first("sandbox heart"), s.catalog.first("sandbox childrens")
		eye := s.catalog.first("sandbox eye")
		shared := heart.Source.Portals[0]
		if heart.ID == children.ID || shared.ID != children.Source.Portals[0].ID || shared.Name != "MySandbox" {
			t.Errorf("one portal of two institutions is wanted: %+v, %+v", heart, children)
		}
		for _, hit := range s.catalog.search(map[string]any{"query": "sandbox staff"}).Hits.Hits {
			if hit.ID == hiddenBrand {
				t.Errorf("found %+v, which is hidden", hit)
			}
		}
		for asked, want := range map[string]string{
			hiddenBrand:   "Sandbox Staff Clinic",
			replacedBrand: "Sandbox General Medical Center",
		} {
			got := s.call(http.MethodGet, "/bridge/catalog?public_id="+s.seeded.Organisations[0].PublicID+"&brand_id="+
				asked, "", "", nil)
			var brand record.Brand
			if got.status != http.StatusOK || json.Unmarshal(got.Data, &brand) != nil || brand.Name != want {
				t.Errorf("%s: %d %s, want %s", asked, got.status, got.raw, want)
			}
		}
		connectAt(s, children.ID, shared)
		if len(eye.Source.Portals) != 2 {
			t.Fatalf("two portals are wanted of %+v", eye)
		}
		for _, portal := range eye.Source.Portals {
			connectAt(s, eye.ID, portal)
		}
		vendor := s.catalog.first("epic sandbox")
		_, last := s.patient.browser().open(chosenURL(s, vendor.ID, vendor.Source.Portals[0]), crashPersona, "approve")
		if said := last.Query().Get("error_description"); said != "This institution can't be connected yet." {
			t.Errorf("without a client there, the application got %v", last.Query())
		}
	})
}

// connectAt connects an institution's patient at the portal's only endpoint.
func connectAt(s *stack, brand string, portal record.Portal) {
	s.t.Helper()
	_, last := s.patient.browser().open(chosenURL(s, brand, portal), crashPersona, "approve")
	got := last.Query()
	if got.Get("brand_id") != brand || got.Get("portal_id") != portal.ID || got.Get("org_connection_id") == "" {
		s.t.Errorf("at %s the application got %v", portal.Name, got)
	}
}

func chosenURL(s *stack, brand string, portal record.Portal) string {
	at := s.seeded
	at.Sandbox.EndpointID = portal.EndpointIDs[0]
	return connectURL(at) + "&" + url.Values{"brand_id": {brand}, "portal_id": {portal.ID}}.Encode()
}

// TestSoakSearchFindsSyntheticHospitalDespiteTypo searches for a misspelt name in a catalogue as large as the real US
// catalogue.
func TestSoakSearchFindsSyntheticHospitalDespiteTypo(t *testing.T) {
	t.Parallel()
	if !isSoak() {
		t.Skip("publishes a country's catalogue: run make soak")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{catalog: shipped.US})
		t.Cleanup(synctest.Wait)
		name := syntheticHospital(t)
		if first := s.catalog.first(name[:2] + name[3:]); first.Source.Name != name {
			t.Errorf("%s is looked for, %s found", name, first.Source.Name)
		}
		if first := s.catalog.first("sandbox hospital"); first.ID != s.seeded.Sandbox.BrandID {
			t.Errorf("the sandbox is found as %+v", first)
		}
	})
}

// syntheticHospital returns the name of a hospital in the list, without suffixes.
func syntheticHospital(t *testing.T) string {
	t.Helper()
	for lines := bufio.NewScanner(us.NewList()); lines.Scan(); {
		var row struct{ Name string }
		expect.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		if strings.HasSuffix(row.Name, " Memorial Hospital") && !strings.Contains(row.Name, " - ") {
			return row.Name
		}
	}
	t.Fatal("there is no hospital in it")
	return ""
}
