package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
)

type manifest struct {
	Version      int    `json:"version"`
	TaskID       string `json:"task_id"`
	OrgID        string `json:"org_id"`
	Mode         string `json:"mode"`
	ConnectionID string `json:"org_connection_id"`
	Server       struct {
		FHIRBase string `json:"fhir_base"`
		Version  string `json:"fhir_version"`
	} `json:"server"`
	Options struct {
		Since   string   `json:"since"`
		Types   []string `json:"resource_types"`
		Formats []string `json:"formats"`
	} `json:"options"`
	Files []struct {
		Name        string `json:"name"`
		ContentType string `json:"content_type"`
		Bytes       int    `json:"bytes"`
		SHA256      string `json:"sha256"`
		Resources   int    `json:"resources"`
	} `json:"files"`
	Counts   map[string]int    `json:"counts"`
	Complete bool              `json:"complete"`
	Missing  map[string]string `json:"missing"`
}

// checkManifest verifies the manifest of the latest export with the published keys, and recomputes its figures from the
// downloaded files.
func (o organisation) checkManifest(t *testing.T, taskID, connectionID string, files map[string][]byte) {
	t.Helper()
	data := o.webhooks.exportEvent()
	got, _ := o.patient.browser().open(data.Manifest.URL, "", "")
	if got == nil || got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("the manifest's link answers %+v", got)
	}
	o.checkSignature(t, data.Manifest.Signature, got.body)
	var read manifest
	expect.NoError(t, json.Unmarshal(got.body, &read))
	if read.Version != 1 || read.TaskID != taskID || read.OrgID != data.OrgID || read.Mode != "test" ||
		read.ConnectionID != connectionID || read.Server.FHIRBase == "" || read.Server.Version == "" ||
		read.Options.Since != "1990-01-01T00:00:00Z" || len(read.Options.Types) != 3 || len(read.Options.Formats) != 4 ||
		read.Complete != (len(read.Missing) == 0) {
		t.Errorf("the manifest is %s", got.body)
	}
	counts, total := countLines(t, files["jsonl"])
	if diff := cmp.Diff(counts, read.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if len(read.Files) != len(files) {
		t.Fatalf("the manifest lists %+v", read.Files)
	}
	for i, link := range data.DownloadLinks {
		file, body := read.Files[i], files[link.ExportType]
		sum, want := sha256.Sum256(body), total
		if link.ExportType == "outcome" {
			want = 0
		}
		if file.Bytes != len(body) || file.SHA256 != hex.EncodeToString(sum[:]) || file.Resources != want ||
			file.ContentType != link.ContentType {
			t.Errorf("%s: %d bytes with the digest %x and %d resources, the manifest lists %+v", link.ExportType, len(body),
				sum, want, file)
		}
	}
	var result struct {
		Manifest struct{ URL, Signature string }
	}
	expect.NoError(t,
		json.Unmarshal(o.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result", nil).Data, &result))
	if diff := cmp.Diff(data.Manifest.Signature, result.Manifest.Signature); diff != "" ||
		result.Manifest.URL != data.Manifest.URL {
		t.Errorf("the result's manifest is %+v, the event's %+v", result.Manifest, data.Manifest)
	}
}

// countLines counts the resources in an NDJSON file, by type and in total.
func countLines(t *testing.T, file []byte) (counts map[string]int, total int) {
	t.Helper()
	counts = map[string]int{}
	for line := range bytes.Lines(file) {
		var resource struct{ ResourceType string }
		expect.NoError(t, json.Unmarshal(line, &resource))
		counts[resource.ResourceType]++
		total++
	}
	return counts, total
}

// checkSignature verifies a manifest's signature. No key may both sign manifests and authenticate our client, so a
// signature of one kind can't serve as the other.
func (o organisation) checkSignature(t *testing.T, signature string, body []byte) {
	t.Helper()
	published := func(path string) (keys jose.JSONWebKeySet) {
		expect.NoError(t, json.Unmarshal(o.call(http.MethodGet, path, "", "", nil).raw, &keys))
		return keys
	}
	own, clients := published("/.well-known/manifest-jwks.json"), published("/.well-known/jwks.json")
	signed, err := jose.ParseDetached(signature, body, []jose.SignatureAlgorithm{jose.ES384})
	expect.NoError(t, err)
	header := signed.Signatures[0].Protected
	keys := own.Key(header.KeyID)
	if len(own.Keys) != 1 || len(keys) != 1 || header.ExtraHeaders["typ"] != "recordbridge-manifest+jws" {
		t.Fatalf("the header %+v names none of the keys %+v", header, own.Keys)
	}
	if _, err = signed.Verify(keys[0]); err != nil {
		t.Errorf("the signature does not verify: %v", err)
	}
	changed := bytes.Replace(body, []byte(`"version":1`), []byte(`"version":2`), 1)
	signed, err = jose.ParseDetached(signature, changed, []jose.SignatureAlgorithm{jose.ES384})
	expect.NoError(t, err)
	if _, err = signed.Verify(keys[0]); err == nil {
		t.Error("the signature verifies for a changed manifest")
	}
	if len(clients.Keys) == 0 || len(clients.Key(header.KeyID)) != 0 {
		t.Errorf("the client keys are %+v", clients.Keys)
	}
}
