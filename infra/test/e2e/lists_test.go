package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/platform/lambdarun"
)

// runLists imports a published list, then imports a changed version. A partial response from the server must leave the
// stored list unchanged.
func runLists(s *stack) {
	s.t.Helper()
	rows := store.Catalog{DB: store.NewClient(s.cloud.Config("operator")), Table: s.template.Outputs["CatalogTable"]}
	_, err := rows.SaveSource(s.t.Context(), intake.Row{Source: intake.Source{
		ID: "vendor", Name: "A vendor", Mode: "test", URL: "https://lists.example/r4", Format: listing.LanternNDJSON,
		Every: time.Hour,
	}})
	expect.NoError(s.t, err)
	list := `{"name":"Elm Clinic","url":"https://fhir.elm.example/r4"}`
	s.intercept = func(r *http.Request) *http.Response {
		if r.URL.Host != "lists.example" {
			return nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(list))}
	}
	for _, step := range []struct {
		more     string
		listings int
		reason   intake.Reason
	}{{"", 1, ""}, {"\n" + `{"name":"Oak Clinic","url":"https://fhir.oak.example/r4"}`, 2, ""}, {"<html>", 2, "is_page"}} {
		if list += step.more; step.reason != "" {
			list = step.more
		}
		s.catalog.sync()
		row, err := rows.Source(s.t.Context(), "vendor")
		expect.NoError(s.t, err)
		if row.State.Accepted == nil || row.State.Accepted.Diff.After != step.listings || row.State.Reason != step.reason {
			s.t.Fatalf("after %q: %+v", step.more, row.State)
		}
		<-time.After(2 * time.Hour)
	}
}

func (s catalogs) sync() {
	s.t.Helper()
	payload, err := json.Marshal(lambdarun.Tick{ID: "tick", Time: time.Now()})
	expect.NoError(s.t, err)
	_, err = s.Invoke(s.t.Context(), "CatalogSyncFunction", payload)
	expect.NoError(s.t, err)
}
