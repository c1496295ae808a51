package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// cached slightly exceeds the period for which functions cache an organisation.
const cached = 31 * time.Second

// TestSuspensionStopsNewWorkAndKeepsData checks that a suspended organisation can't start new work but keeps its data
// (docs/operate/ctl.md, "Stop and remove").
func TestSuspensionStopsNewWorkAndKeepsData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		tenant := f.owner()
		patient := f.patient.browser()
		callback := patient.returning(f.patient.connectURL(), crashPersona)
		f.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": f.connectionID, "refresh": true})
		expect.NoError(t, f.operator.Suspensions.Suspend(t.Context(), tenant))
		<-time.After(cached)
		f.checkSuspended(t)

		// Work already in progress (the sign-in at the portal and the export) must still complete and send its events.
		_, last := patient.open(callback.String(), crashPersona, "approve")
		if last.Query().Get("org_connection_id") == "" {
			t.Errorf("the sign-in that had begun ended with %s", last.RawQuery)
		}
		f.clock.finish(5)
		sent := f.webhooks.events("patient.ehi_export_success")
		if len(sent) != 2 {
			t.Fatalf("%d exports were told, want both", len(sent))
		}
		var event struct{ Data exportData }
		expect.NoError(t, json.Unmarshal([]byte(sent[0].Body), &event))
		if found := f.org.download(event.Data.DownloadLinks[0].URL); len(found["Patient"]) != 1 {
			t.Errorf("the file that it was told of holds %v", found["Patient"])
		}
		if err := f.operator.Suspensions.Suspend(t.Context(), tenant); !errors.Is(err, fault.Conflict) {
			t.Errorf("suspending it again: %v", err)
		}
		if err := f.operator.Suspensions.Remove(t.Context(), tenant); !errors.Is(err, fault.Conflict) {
			t.Errorf("removing it with all that it has: %v", err)
		}

		expect.NoError(t, f.operator.Suspensions.Resume(t.Context(), tenant))
		<-time.After(cached)
		if got := f.org.request(http.MethodGet, "/bridge/org_connection/"+f.connectionID, nil); got.status != http.StatusOK {
			t.Errorf("its key after that: %d %s", got.status, got.Error)
		}
		f.patient.connect(crashPersona, "approve")
	})
}

// checkSuspended checks that every operation responds as it would to an unknown caller.
func (f fixture) checkSuspended(t *testing.T) {
	t.Helper()
	live := f.seeded.Organisations[1]
	if got := f.call(http.MethodGet, "/bridge/events", live.PublicID, live.PrivateKey,
		nil); got.status != http.StatusUnauthorized {
		t.Errorf("the live key answers %d", got.status)
	}
	publicID := "?public_id=" + url.QueryEscape(f.seeded.Organisations[0].PublicID)
	for path, got := range map[string]answer{
		"the connection": f.org.request(http.MethodGet, "/bridge/org_connection/"+f.connectionID, nil),
		"an export": f.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]string{"org_connection_id": f.connectionID}),
		"the events":       f.org.request(http.MethodGet, "/bridge/events", nil),
		"the widget's org": f.call(http.MethodGet, "/bridge/org"+publicID, "", "", nil),
		"an attempt": f.call(http.MethodPost, "/bridge/attempts"+publicID, "", "",
			map[string]string{"endpoint_id": f.seeded.Sandbox.EndpointID}),
	} {
		if got.status != http.StatusUnauthorized || got.Error != "svc_unauthorized_client" {
			t.Errorf("%s: got %d %s", path, got.status, got.Error)
		}
	}
	for _, address := range []string{f.patient.connectURL(), f.patient.reconnectURL(f.connectionID)} {
		if page, last := f.patient.browser().open(address, crashPersona, "approve"); page == nil ||
			page.status != http.StatusBadRequest {
			t.Errorf("%s ended at %s: %+v", address, last, page)
		}
	}
}

// TestDisabledEndpointKeepsConnectionsButRejectsNewOnes covers endpoints that an operator disables
// (docs/operate/ctl.md, "Stop and remove").
func TestDisabledEndpointKeepsConnectionsButRejectsNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		endpoints, id := f.operator.Endpoints, f.seeded.Sandbox.EndpointID
		if err := endpoints.Remove(t.Context(), id); !errors.Is(err, fault.Conflict) {
			t.Errorf("removing one that is not disabled: %v", err)
		}
		patient := f.patient.browser()
		callback := patient.returning(f.patient.connectURL(), crashPersona)
		expect.NoError(t, endpoints.Disable(t.Context(), id))

		for _, address := range []string{f.patient.connectURL(), f.patient.reconnectURL(f.connectionID)} {
			if _, last := f.patient.browser().open(address, crashPersona,
				"approve"); last.Query().Get("error") != "svc_invalid_request" {
				t.Errorf("%s ended at %s", address, last)
			}
		}
		attempt := f.call(http.MethodPost, "/bridge/attempts?public_id="+url.QueryEscape(f.seeded.Organisations[0].PublicID),
			"", "", map[string]string{"endpoint_id": id})
		if attempt.status != http.StatusBadRequest || attempt.Error != "svc_invalid_request" {
			t.Errorf("an attempt: %d %s", attempt.status, attempt.Error)
		}
		if _, last := patient.open(callback.String(), crashPersona, "approve"); last.Query().Get("org_connection_id") == "" {
			t.Errorf("the sign-in that had begun ended with %s", last.RawQuery)
		}
		<-time.After(2 * time.Hour) // lets the access token expire, so that it must be refreshed
		f.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": f.connectionID, "refresh": true})
		f.clock.finish(5)
		if sent := f.webhooks.events("patient.ehi_export_success"); len(sent) != 2 {
			t.Errorf("%d exports were told, want the one of the disabled endpoint, too", len(sent))
		}
		_, err := f.operator.Registrations.Remove(t.Context(), org.Tenant{}, catalog.Place{EndpointID: id, Mode: "test"})
		expect.NoError(t, err)
		if err = endpoints.Remove(t.Context(), id); !errors.Is(err, fault.Conflict) {
			t.Errorf("removing one with connections: %v", err)
		}
		expect.NoError(t, endpoints.Enable(t.Context(), id))

		client, err := f.operator.Clients.Create(t.Context(), org.Tenant{},
			catalog.ClientAuth{Method: catalog.AuthPrivateKey, Algorithm: "RS384"}, secret.Text{})
		expect.NoError(t, err)
		if err := f.operator.Clients.Remove(t.Context(), org.Tenant{}, client, false); !errors.Is(err, fault.Conflict) {
			t.Errorf("removing a client that connections may have been made with: %v", err)
		}
		expect.NoError(t, f.operator.Clients.Remove(t.Context(), org.Tenant{}, client, true))
	})
}
