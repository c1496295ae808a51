package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
)

// nowhere is a FHIR base URL that the network guard rejects without sending a request (RFC 5737).
const nowhere = "https://192.0.2.1/r4"

// newStack starts an embedded AWS server with the project's template and returns the path of the stack's outputs file.
// It sets environment variables as an operator would, so tests that use it must not run in parallel.
func newStack(t *testing.T) string {
	t.Helper()
	return newStackAt(t, "")
}

// newStackAt is like newStack but takes the service's base URL.
func newStackAt(t *testing.T, baseURL string) string {
	t.Helper()
	outputs, _ := newRecordedStack(t, baseURL)
	return outputs
}

type recording struct {
	mu     sync.Mutex
	sent   []byte
	faults *faults.ByHand // injected AWS faults
}

func (r *recording) note(t *testing.T, request *http.Request) {
	t.Helper()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Error(err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(append(append(r.sent, request.Header.Get("X-Amz-Target")+" "...), body...), '\n')
}

func (r *recording) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.sent)
}

// anyServer is the deployed template's placeholder for a test server's URL on this machine.
const anyServer = "http://127.0.0.1:65535"

// templates caches parsed templates by PublicBaseUrl, because parsing a template is slow. The cache needs no lock,
// because tests that use a stack don't run in parallel.
var templates = map[string]*template.Template{}

// deployed returns the template of the stack that has the given public URL.
func deployed(t *testing.T, baseURL string) *template.Template {
	t.Helper()
	if found := templates[baseURL]; found != nil {
		return found
	}
	loaded, err := template.Load("../../template.yaml", template.Options{
		BaseURL: anyServer, StackName: "ctl", Parameters: map[string]string{"PublicBaseUrl": baseURL},
	})
	if err != nil {
		t.Fatal(err)
	}
	templates[baseURL] = loaded
	return loaded
}

// newRecordedStack is like newStack but also returns a recording of all requests to the embedded AWS server.
func newRecordedStack(t *testing.T, baseURL string) (string, *recording) {
	t.Helper()
	var cloud *aws.Cloud
	sent, file := &recording{faults: faults.NewByHand()}, filepath.Join(t.TempDir(), "outputs.json")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.note(t, r)
		if strings.Contains(r.Header.Get("Authorization"), "/us-east-1/cloudformation/aws4_request") {
			describeStacks(w, r, file)
			return
		}
		cloud.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	cloud, err := aws.New(aws.Options{URL: server.URL, Middleware: []wire.Middleware{sent.faults.Middleware()}})
	if err != nil {
		t.Fatal(err)
	}
	loaded := deployed(t, baseURL)
	if err = provision.Apply(t.Context(), cloud.Config("provision"), loaded); err != nil {
		t.Fatal(err)
	}
	outputs, err := json.Marshal(loaded.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(file, bytes.ReplaceAll(outputs, []byte(anyServer), []byte(server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "operator",
		"AWS_SECRET_ACCESS_KEY": "local",
		"AWS_CA_BUNDLE":         "", "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	return file, sent
}

func outputsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var outputs map[string]string
	if err := json.Unmarshal(body, &outputs); err != nil {
		t.Fatal(err)
	}
	return outputs
}

// to returns streams with empty input that write results to out.
func to(out io.Writer) streams {
	return streams{input: strings.NewReader(""), out: out, said: io.Discard}
}

func ctl(t *testing.T, outputs string, args ...string) (map[string]any, error) {
	t.Helper()
	return ctlWith(t, outputs, "", args...)
}

func ctlWith(t *testing.T, outputs, input string, args ...string) (map[string]any, error) {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"-outputs", outputs}, args...),
		streams{input: strings.NewReader(input), out: &out, said: io.Discard}); err != nil {
		if out.Len() > 0 {
			t.Errorf("%v printed %s although it failed", args, out.String())
		}
		return nil, err
	}
	var printed map[string]any
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
		t.Fatalf("%v printed %s: %v", args, out.String(), err)
	}
	return printed, nil
}

func doer(t *testing.T, outputs string) func(args ...string) map[string]any {
	t.Helper()
	return func(args ...string) map[string]any {
		t.Helper()
		printed, err := ctl(t, outputs, args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return printed
	}
}

func TestOrganisationCommandsCreateUsableOrganisation(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-name", "Alder Clinic App", "-plan", "paid")["id"].(string)
	for _, step := range []struct{ args, want []string }{
		{[]string{"show"}, nil},
		{
			[]string{"set", "-email", "ops@app.example", "-email", "on-call@app.example"},
			[]string{"ops@app.example", "on-call@app.example"},
		},
		{[]string{"set", "-name", "Alder", "-email", "ops@app.example"}, []string{"ops@app.example"}},
		{[]string{"show"}, []string{"ops@app.example"}},
		{[]string{"set", "-without", "emails"}, nil},
		{[]string{"show"}, nil},
	} {
		got := done(slices.Concat([]string{"organisation"}, step.args, []string{"-org", id})...)["emails"]
		if fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("with %v the addresses are %v, want %v", step.args, got, step.want)
		}
	}
	credential := done("credential", "create", "-org", id, "-mode", "test", "-redirect", "https://app.example/return")
	publicID, _ := credential["public_id"].(string)
	if key, _ := credential["private_key"].(string); !strings.HasPrefix(publicID, "public_test_") ||
		!strings.HasPrefix(key, "private_test_") {
		t.Errorf("the credential is %v", credential)
	}
	done("credential", "add-key", "-public-id", publicID)
	if _, err := ctl(t, outputs, "credential", "add-key", "-public-id", publicID); err == nil {
		t.Error("a third live key was made")
	}
	done("credential", "revoke", "-yes", "-public-id", publicID, "-all", "-allow-none")
	hook := done("webhook", "create", "-org", id, "-mode", "test", "-url", "https://app.example/hook", "-type",
		"patient.connection_success")
	if types, _ := hook["types"].([]any); len(types) != 4 {
		t.Errorf("the webhook is %v", hook)
	}
	if event := done("webhook", "simulate", "-type", "webhook.test", "-org", id, "-mode",
		"test")["event_id"]; event == "" {
		t.Error("the test event has no id")
	}
	done("endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-client-id", "client", "-scope",
		"patient/*.rs",
		"-platform", "sandbox", "-mode", "test", "-name", "Alder Hospital")
	done("endpoint", "create", "-mode", "test", "-fhir-base", nowhere+"/two", "-unpinned", "-client-id", "client",
		"-platform", "epic",
		"-mode", "test", "-name", "Maple Hospital")
	if shown := done("platform", "show", "-platform", "epic"); shown["name"] != "Epic" || shown["unverified"] == nil {
		t.Errorf("the platform is %v", shown)
	}
	var listed bytes.Buffer
	if err := run(t.Context(), []string{"-outputs", outputs, "platform", "show"}, to(&listed)); err != nil ||
		!strings.Contains(listed.String(), `"private_key_jwt"`) {
		t.Errorf("the platforms are %s (%v)", listed.String(), err)
	}
	listed.Reset()
	if err := run(t.Context(), []string{"-outputs", outputs, "organisation", "list"}, to(&listed)); err != nil ||
		strings.Count(listed.String(), id) != 2 {
		t.Errorf("the list is %s (%v), want the organisation in both modes", listed.String(), err)
	}
}

func TestCommandsRejectInvalidInputWithoutOutput(t *testing.T) {
	outputs := newStack(t)
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, args := range [][]string{
		{},
		{"organisation"},
		{"organisation", "destroy"},
		{"organisation", "create"},
		{"organisation", "create", "-name", "X", "-plan", "gold"},
		{"organisation", "create", "-name", "X", "-website", "http://plain.example"},
		{"organisation", "create", "-name", "X", "-email", "nobody"},
		{"organisation", "create", "-name", "X", "-email", "Alder <ops@app.example>"},
		{"organisation", "set", "-org", unknown, "-email", "ops@app.example"},
		{"organisation", "set", "-org", unknown, "-email", "ops@app.example", "-without", "emails"},
		{"webhook", "set", "-org", unknown, "-id", unknown, "-no-types"},
		{"webhook", "disable", "-org", unknown, "-id", unknown},
		{"credential", "create", "-org", "nobody", "-redirect", "https://app.example/return"},
		{"credential", "create", "-org", unknown, "-redirect", "https://app.example/return"},
		{"credential", "create", "-org", unknown, "-mode", "live", "-redirect", "http://127.0.0.1/return"},
		{"credential", "add-key", "-public-id", "public_test_" + unknown},
		{"credential", "revoke", "-yes", "-public-id", "x", "-all"},
		{"webhook", "create", "-org", unknown, "-mode", "live", "-url", "http://127.0.0.1/hook"},
		{"webhook", "create", "-org", unknown, "-mode", "test", "-url", "https://app.example/hook", "-type", "no.such.type"},
		{"endpoint", "create", "-name", "No base"},
		{
			"endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-client-id", "c", "-platform", "epc",
			"-name", "X",
		},
		{
			"endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-client-id", "c", "-platform", "epic",
			"-name", "X",
			"-access", "write",
		},
		{
			"endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-client-id", "c", "-platform", "epic",
			"-name", "X",
			"-access", "rs", "-scope", "openid",
		},
		{"platform", "show", "-platform", "nobody"},
		{"endpoint", "set", "-id", unknown, "-override", "authorize: {aud: none}"},
		{"endpoint", "show"},
		{"endpoint", "approve", "-id", unknown},
		{"registration", "show", "-callback", "-mode", "test", "-fhir-base", "no address"},
		{"organisation", "create", "-name", "X", "unexpected arguments"},
		{"keys", "jwks", "-pem"},
	} {
		if _, err := ctl(t, outputs, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
	if _, err := ctl(t, filepath.Join(t.TempDir(), "missing.json"), "organisation", "list"); err == nil {
		t.Error("a missing outputs file was accepted")
	}
}
