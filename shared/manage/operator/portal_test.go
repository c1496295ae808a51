package operator_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
)

const (
	base  = "https://fhir.hospital.example/r4"
	login = "https://login.hospital.example"
	us    = "https://ctl-api.execute-api.us-east-1.amazonaws.com/v1"
)

// fakeServers simulates a network of servers by mapping URLs to documents.
type fakeServers map[string]string

func (f fakeServers) Do(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, f[r.URL.String()]
	if body == "" {
		status = http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// at adds a server with a software name and a discovery document. The fields in changes override the document's
// defaults.
func (f fakeServers) at(t *testing.T, base, software string, changes map[string]any) {
	t.Helper()
	document := map[string]any{
		"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
		"code_challenge_methods_supported": []string{"S256"},
	}
	maps.Copy(document, changes)
	discovery, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	statement, err := json.Marshal(map[string]any{
		"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "software": map[string]string{"name": software},
	})
	if err != nil {
		t.Fatal(err)
	}
	f[base+"/.well-known/smart-configuration"], f[base+"/metadata"] = string(discovery), string(statement)
}

// elsewhere returns the changes that move a discovery document's authorization server to origin.
func elsewhere(origin string) map[string]any {
	return map[string]any{
		"issuer": origin + "/i", "authorization_endpoint": origin + "/authorize",
		"token_endpoint": origin + "/token", "jwks_uri": origin + "/keys",
	}
}

// institution returns a request to create a test-mode endpoint that uses a public client.
func institution(at string) operator.NewEndpoint {
	return operator.NewEndpoint{
		Endpoint:     catalog.Endpoint{FHIRBase: at, Mode: "test", Name: "Maple Hospital"},
		Registration: catalog.Registration{ClientID: "ours"},
	}
}

func auditRows(t *testing.T, log audit.Log, orgID string) []string {
	t.Helper()
	all, _, err := log.List(t.Context(), orgID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]string, 0, len(all))
	for _, row := range slices.Backward(all) {
		rows = append(rows, row.Action+" "+row.Target)
	}
	return rows
}

func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want an error with %q", err, word)
		}
	}
}
