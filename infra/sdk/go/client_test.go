package recordbridge_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	recordbridge "recordbridge/infra/sdk/go"
	"recordbridge/infra/sdk/go/api"
)

func TestClientSendsKeyPairAndReturnsConnection(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 2)
	base := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		name, key, _ := r.BasicAuth()
		asked <- r.Method + " " + r.URL.Path + " " + name + ":" + key
		respond(w, http.StatusOK, success(map[string]any{
			"kind": "portal", "org_connection_id": id, "org_id": id, "platform_type": "epic", "api_mode": "test",
			"status": "authorized", "catalog_brand_id": id, "catalog_portal_id": id, "catalog_endpoint_id": id,
		}))
	})
	client, _ := clientOf(t, base)
	for method, call := range map[string]func() (api.Connection, error){
		http.MethodGet:    func() (api.Connection, error) { return client.GetConnection(t.Context(), uuid.MustParse(id)) },
		http.MethodDelete: func() (api.Connection, error) { return client.Disconnect(t.Context(), uuid.MustParse(id)) },
	} {
		connection, err := call()
		if err != nil {
			t.Fatal(err)
		}
		value, err := connection.ValueByDiscriminator()
		portal, ok := value.(api.PortalConnection)
		if err != nil || !ok || portal.Status != api.PortalConnectionStatusAuthorized {
			t.Errorf("%s: connection %#v, error %v", method, value, err)
		}
		if got, want := <-asked, method+" /bridge/org_connection/"+id+" public_test_1:key"; got != want {
			t.Errorf("request %q, want %q", got, want)
		}
	}
}

func TestDeleteFilesDeletesFiles(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	base := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		asked <- r.Method + " " + r.URL.EscapedPath()
		respond(w, http.StatusOK, success(map[string]any{"task_id": "t/1", "status": "success"}))
	})
	client, _ := clientOf(t, base)
	if err := client.DeleteFiles(t.Context(), "t/1"); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "DELETE /bridge/fhir/ehi-export/t%2F1/files" {
		t.Errorf("request %q", got)
	}
}

func TestClientReturnsErrorOfAPIWhenRequestIsRejected(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		respond(w, http.StatusNotFound, map[string]any{
			"success": false, "error": "svc_not_found", "error_description": "Not found.", "request_id": "r",
		})
	})
	client, _ := clientOf(t, base)
	_, err := client.GetExport(t.Context(), "t")
	want := recordbridge.Error{Code: "svc_not_found", Message: "Not found.", Status: http.StatusNotFound, RequestID: "r"}
	if failure := new(recordbridge.Error); !errors.As(err, &failure) || *failure != want {
		t.Errorf("error %#v, want %#v", err, want)
	}
}

func TestClientReturnsStatusWhenResponseIsNotJSON(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { http.Error(w, "<html>", http.StatusForbidden) })
	client, _ := clientOf(t, base)
	for _, err := range client.Events(t.Context(), "") {
		if failure := new(recordbridge.Error); !errors.As(err, &failure) || failure.Status != http.StatusForbidden {
			t.Errorf("error %#v", err)
		}
	}
}

func TestClientRepeatsRequestWhenFailureIsTransient(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request, count int) {
		switch count {
		case 0:
			w.Header().Set("Retry-After", "3")
			respond(w, http.StatusTooManyRequests, map[string]any{})
		case 1:
			hangUp(w)
		case 2:
			respond(w, http.StatusInternalServerError, map[string]any{})
		default:
			if r.ContentLength == 0 {
				t.Error("the repeated request has no body")
			}
			respond(w, http.StatusOK, success(map[string]any{"task_id": "t", "status": "pending"}))
		}
	})
	client, waited := clientOf(t, base)
	task, err := client.CreateExport(t.Context(), api.CreateExportRequest{OrgConnectionId: uuid.MustParse(id)})
	if err != nil || task != (api.Task{TaskId: "t", Status: api.TaskStatusPending}) {
		t.Fatalf("task %v, error %v", task, err)
	}
	list := waited.list
	if len(list) != 3 || list[0] != 3*time.Second || list[1] < time.Second || list[1] >= 2*time.Second {
		t.Errorf("pauses %v", list)
	}
}

func TestClientReturnsErrorWhenFailureLasts(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		respond(w, http.StatusServiceUnavailable, map[string]any{"error": "svc_unavailable", "error_description": "Busy."})
	})
	client, waited := clientOf(t, base)
	_, err := client.GetExport(t.Context(), "t")
	if failure := new(recordbridge.Error); !errors.As(err, &failure) || failure.Code != "svc_unavailable" {
		t.Errorf("error %v", err)
	}
	if len(waited.list) != 4 {
		t.Errorf("pauses %v", waited.list)
	}
}

func TestClientReturnsErrorWhenRequestedPauseIsTooLong(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "121")
		respond(w, http.StatusTooManyRequests, map[string]any{"error": "svc_rate_limited", "error_description": "Wait."})
	})
	client, waited := clientOf(t, base)
	_, err := client.GetExport(t.Context(), "t")
	if failure := new(recordbridge.Error); !errors.As(err, &failure) || failure.Code != "svc_rate_limited" {
		t.Errorf("error %v", err)
	}
	if len(waited.list) != 0 {
		t.Errorf("pauses %v", waited.list)
	}
}

func TestEventsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	asked := make(chan [2]string, 3)
	base := serve(t, func(w http.ResponseWriter, r *http.Request, count int) {
		asked <- [2]string{r.URL.Query().Get("after"), r.URL.Query().Get("types")}
		page, events := strconv.Itoa(count), []map[string]any{}
		if count != 1 {
			for _, part := range []string{"a", "b"} {
				events = append(events, map[string]any{"id": page + part, "type": "webhook.later"})
			}
		}
		respond(w, http.StatusOK, success(map[string]any{"events": events, "after": "cursor" + page, "has_more": count < 2}))
	})
	client, _ := clientOf(t, base)
	var found [][2]string
	types := []api.EventType{api.EventTypeWebhookTest, api.EventTypePatientEhiExportSuccess}
	for event, err := range client.Events(t.Context(), "start", types...) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, [2]string{event.ID, event.After})
	}
	want := [][2]string{{"0a", "start"}, {"0b", "cursor0"}, {"2a", "cursor1"}, {"2b", "cursor2"}}
	if !slices.Equal(found, want) {
		t.Errorf("events %v, want %v", found, want)
	}
	for _, after := range []string{"start", "cursor0", "cursor1"} {
		if got := <-asked; got != [2]string{after, "webhook.test,patient.ehi_export_success"} {
			t.Errorf("request %v, want after %q", got, after)
		}
	}
}
