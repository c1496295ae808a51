package e2e_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

// TestExportFormatsContainSameResourcesFromOutside requests part of a record in all formats, downloads every link and
// compares the files with their descriptions.
func TestExportFormatsContainSameResourcesFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		request := map[string]any{
			"org_connection_id": connectionID, "formats": []string{"outcome", "fhir_bundle", "jsonl_gz", "jsonl"},
			"resource_types": []string{"Observation", "Condition", "Practitioner"}, "since": "1990-01-01",
		}
		taskID := s.org.requestExport(t, request)
		if again := s.org.requestExport(t, request); again != taskID {
			t.Error("the same request opened another export")
		}
		s.webhooks.awaitEvents("patient.ehi_export_success", 1)
		files := s.org.checkFiles(t, taskID)
		s.org.checkManifest(t, taskID, connectionID, files)
		checkScanned(t, s)
		lines := string(files["jsonl"])
		if !strings.Contains(lines, `"resourceType":"Condition"`) || strings.Contains(lines, `"resourceType":"Encounter"`) {
			t.Errorf("the file holds %.300s", lines)
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(files["jsonl_gz"]))
		expect.NoError(t, err)
		plain, err := io.ReadAll(unpacked)
		expect.NoError(t, err)
		if string(plain) != lines {
			t.Error("the compressed file is another record")
		}
		var bundle struct{ Entry []json.RawMessage }
		expect.NoError(t, json.Unmarshal(files["fhir_bundle"], &bundle))
		if got, want := len(bundle.Entry), strings.Count(lines, "\n"); got != want {
			t.Errorf("the bundle has %d entries, want %d", got, want)
		}
		if other := s.org.requestExport(t, map[string]any{"org_connection_id": connectionID}); other == taskID {
			t.Error("a request without options got the export of a part")
		}
	})
}

// checkScanned checks that the secret scanners' patterns in SECURITY.md match every issued secret, including the
// download links of each format.
func checkScanned(t *testing.T, o *outside) {
	t.Helper()
	text, err := os.ReadFile("../../../SECURITY.md")
	expect.NoError(t, err)
	own := o.seeded.Organisations[0]
	secrets := map[string][]string{
		"private API key": {own.PrivateKey}, "webhook signing secret": {own.WebhookSecret},
		"download link": nil,
	}
	for _, link := range o.webhooks.exportEvent().DownloadLinks {
		secrets["download link"] = append(secrets["download link"], link.URL)
	}
	secrets["download link"] = append(secrets["download link"], o.webhooks.exportEvent().Manifest.URL)
	for name, values := range secrets {
		_, row, _ := strings.Cut(string(text), "| "+name+" | `")
		expression, _, _ := strings.Cut(row, "`")
		scanner, err := regexp.Compile(strings.ReplaceAll(expression, `\|`, "|"))
		expect.NoError(t, err)
		for _, value := range values {
			if expression == "" || !scanner.MatchString(value) {
				t.Errorf("SECURITY.md: %q does not find the %s %s", expression, name, value)
			}
		}
	}
}

func (o organisation) requestExport(t *testing.T, body map[string]any) string {
	t.Helper()
	got := o.org.request(http.MethodPost, "/bridge/fhir/ehi-export", body)
	if got.status != http.StatusOK {
		t.Fatalf("POST ehi-export answered %d %s", got.status, got.raw)
	}
	var task struct {
		ID string `json:"task_id"`
	}
	expect.NoError(t, json.Unmarshal(got.Data, &task))
	return task.ID
}

// checkFiles downloads the files in a task's result and returns them by export_type. Each file must have the stated
// size and digest, and the event's links must equal those in the task's result.
func (o organisation) checkFiles(t *testing.T, taskID string) map[string][]byte {
	t.Helper()
	var result struct {
		Links []struct {
			URL        string `json:"url"`
			ExportType string `json:"export_type"`
		} `json:"download_links"`
		Files []struct {
			Name   string `json:"file_name"`
			Bytes  int    `json:"bytes"`
			SHA256 string `json:"sha256"`
		}
		Scope struct{ Asked, Granted string }
	}
	expect.NoError(t,
		json.Unmarshal(o.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result", nil).Data, &result))
	if result.Scope.Asked == "" || result.Scope.Granted == "" || len(result.Files) != len(result.Links) {
		t.Fatalf("the result is %+v", result)
	}
	found := map[string][]byte{}
	for i, link := range o.webhooks.exportEvent().DownloadLinks {
		answer, _ := o.patient.browser().open(link.URL, "", "")
		if answer == nil || answer.status != http.StatusOK || answer.header.Get("Content-Type") != link.ContentType {
			t.Fatalf("%s answers %+v", link.ExportType, answer)
		}
		sum := sha256.Sum256(answer.body)
		file := result.Files[i]
		if link.URL != result.Links[i].URL || len(answer.body) != file.Bytes || hex.EncodeToString(sum[:]) != file.SHA256 ||
			!strings.Contains(link.URL, file.Name) {
			t.Errorf("%s: %d bytes with the digest %x, told were %+v", link.URL, len(answer.body), sum, file)
		}
		found[link.ExportType] = answer.body
	}
	return found
}
