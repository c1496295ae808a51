package e2e_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

func TestSeededSandboxPinsMatchDiscoveryFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		seeded, err := s.operator.Endpoints.Show(t.Context(), s.seeded.Sandbox.EndpointID)
		if err != nil || seeded.Pins.Token == "" || !strings.HasPrefix(s.seeded.BaseURL, seeded.Pins.Token) {
			t.Errorf("pinned to %+v (%v)", seeded.Pins, err)
		}
		if changes, err := s.operator.Endpoints.Approve(t.Context(), seeded.ID, operator.Approval{}); err != nil ||
			len(changes) > 0 {
			t.Errorf("its discovery says otherwise: %v (%v)", changes, err)
		}
	})
}

func TestUnknownVendorCanBeConnectedThroughDiscovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		made, err := s.operator.Endpoints.Create(t.Context(), operator.NewEndpoint{
			Endpoint: catalog.Endpoint{
				Name: "Hazel Hospital", FHIRBase: baseURL + "/sandbox/with/ah-practice,refresh-needs-scope/fhir",
				PlatformType: "smart",
				Mode:         string(org.Test), BrandID: ids.Random(), PortalID: ids.Random(),
			},
			Registration: catalog.Registration{ClientID: sandbox.DefaultClientID},
		})
		expect.NoError(t, err)
		if made.Endpoint.Pins.Token != host || made.Note == "" {
			t.Errorf("made %+v", made)
		}
		at := s.seeded
		at.Sandbox.EndpointID = made.Endpoint.ID
		_, last := s.patient.browser().open(connectURL(at), crashPersona, "approve")
		result := last.Query()
		if got := result.Get("platform_type"); got != "smart" {
			t.Fatalf("the application got %v", result)
		}
		<-time.After(2 * time.Hour) // forces a refresh, for which this portal requires the scope parameter
		s.org.startExport(result.Get("org_connection_id"))
		s.clock.finish(60)
		s.org.checkDownload(crashPersona)
	})
}
