package runfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/runfile"
)

func TestWriteCreatesPrivateFileInDocumentedFormat(t *testing.T) {
	t.Parallel()
	full := runfile.Run{
		Stack: "sam local", Release: "1764420000-0.1.0-1a2b3c4d5e6f",
		BaseURL: "http://127.0.0.1:4566/v1", DashboardURL: "http://localhost:4566/v1/dashboard",
		ConsoleURL: "http://127.0.0.1:4566/_local", InboxURL: "http://127.0.0.1:4566/_local/inbox",
		AWS: runfile.AWS{
			EndpointURL: "http://127.0.0.1:4566", Region: "us-east-1", AccessKeyID: "operator", SecretAccessKey: "secret",
			Outputs: map[string]string{"WorkTable": "local-WorkTable"},
		},
		Sandbox: runfile.Sandbox{
			FHIRBaseURL: "http://127.0.0.1:4566/v1/sandbox/fhir", EndpointID: "e-1", BrandID: "b-1", PortalID: "p-1",
			Personas: []runfile.Persona{{ID: "alder", PatientID: "pat-1", Resources: 8}},
		},
		Organisations: []runfile.Organisation{{
			ID: "o-1", Name: "Alder Clinic App", Mode: "test", PublicID: "public_test_1", PrivateKey: "private_test_1",
			RedirectURI: "http://127.0.0.1:4566/_local/return", WebhookURL: "http://127.0.0.1:4566/_local/inbox/alder",
			WebhookSecret: "whsec_1",
		}},
	}
	for golden, run := range map[string]runfile.Run{"full.json": full, "empty.json": {}} {
		dir := filepath.Join(t.TempDir(), ".local")
		file := filepath.Join(dir, "run.json")
		for range 2 {
			if err := runfile.Write(file, run); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join("testdata", golden))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("got mode %o, want 600", got)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("got %v in the folder (%v), want run.json alone", left, err)
		}
	}
}

func TestWriteRemovesTemporaryFileOnFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "run.json")
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := runfile.Write(file, runfile.Run{}); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("got %v in the folder (%v), want the folder run.json alone", left, err)
	}
}
