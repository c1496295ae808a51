package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/words/secret/jws"
)

// newService returns a stack whose base URL serves the sandbox and the service's public keys. It returns the outputs
// file's path, the base URL and the sandbox option that registers the keys.
func newService(t *testing.T) (outputs, base, keys string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	base = "http://" + server.Listener.Addr().String() + "/v1"
	outputs = newStackAt(t, base)
	ehr, err := sandbox.New(sandbox.Deps{
		BaseURL: base + "/sandbox", Personas: persona.Builtin()[:1],
		Clients: []oauth.Client{{ID: sandbox.DefaultClientID, RedirectURIs: []string{base + "/bridge/callback/*"}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	stack, err := where{outputs: outputs}.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set, err := jws.NewKeyring(kms.ClientKeys(awskms.NewFromConfig(stack.Config)),
		strings.Split(stack.Outputs["ClientKeys"], ",")).JWKS(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	served := http.NewServeMux()
	served.Handle("/v1/sandbox/", ehr)
	served.HandleFunc("/v1/.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
	server.Config.Handler = served
	server.Start()
	t.Cleanup(server.Close)
	return outputs, base, "jwks:" + base64.RawURLEncoding.EncodeToString(text)
}

// tested runs "endpoint test" and returns each step's result, the output and the error.
func tested(t *testing.T, outputs string, args ...string) (results map[string]string, printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), append([]string{"-outputs", outputs, "endpoint", "test"}, args...), to(&out))
	var checks []struct{ Step, Result, Found string }
	if json.Unmarshal(out.Bytes(), &checks) != nil {
		t.Fatalf("%v printed %s (%v)", args, out.String(), err)
	}
	results = map[string]string{}
	for _, c := range checks {
		results[c.Step] = c.Result
	}
	return results, out.String(), err
}

func TestEndpointTestReportsEachStepResult(t *testing.T) {
	outputs, base, keys := newService(t)
	done := doer(t, outputs)
	const secret = "s3cret=of-the-sandbox"
	auth := func(input string, args ...string) string {
		made, err := ctlWith(t, outputs, input, append([]string{"client", "create"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := made["client_auth_id"].(string)
		return id
	}
	bySecret := auth(secret, "-method", "client_secret_basic", "-secret-file", "-", "-origin",
		strings.TrimSuffix(base, "/v1"))
	byKey := auth("", "-method", "private_key_jwt", "-algorithm", "ES384")
	for name, test := range map[string]struct {
		switches, auth string
		says           string // expected error message for a rejected client
	}{
		"a public client":               {"label:public", "", ""},
		"a secret":                      {"client-secret:" + secret, bySecret, ""},
		"a secret that is read raw":     {"basic-raw,client-secret:" + secret, bySecret, "basic: raw"},
		"an assertion under our keys":   {keys, byKey, ""},
		"an assertion that none checks": {"client-auth:private_key_jwt", byKey, "keys inline"},
	} {
		fhir := base + "/sandbox/with/" + test.switches + "/fhir"
		create := []string{
			"endpoint", "create", "-mode", "test", "-fhir-base", fhir, "-platform", "smart", "-name", "Alder Hospital",
			"-client-id", sandbox.DefaultClientID,
		}
		if test.auth != "" {
			create = append(create, "-client-auth", test.auth)
		}
		id, _ := done(create...)["endpoint_id"].(string)
		for _, named := range [][]string{{"-id", id}, {"-fhir-base", fhir}} {
			results, printed, err := tested(t, outputs, append(named, "-token-request")...)
			refused := test.says != ""
			if refused != (err != nil) || refused != (results["token_refresh"] == "failed") || results["authorize"] != "ok" ||
				!strings.Contains(printed, test.says) {
				t.Errorf("%s, %s: %v\n%s", name, named[0], err, printed)
			}
			if strings.Contains(strings.ReplaceAll(printed, test.switches, ""), secret) ||
				strings.Contains(printed, "eyJhbGciOi") {
				t.Errorf("%s: what proves our client is printed: %s", name, printed)
			}
		}
	}
}

func TestEndpointTestAcceptsUnregisteredFHIRBase(t *testing.T) {
	outputs, base, _ := newService(t)
	done := doer(t, outputs)
	results, printed, err := tested(t, outputs, "-mode", "test", "-fhir-base", base+"/sandbox/fhir")
	if err != nil || results["registration"] != "warning" || results["token_refresh"] != "skipped" ||
		!strings.Contains(printed, "platform sandbox") {
		t.Errorf("without a registration: %v\n%s", err, printed)
	}
	done("registration", "set", "-mode", "test", "-platform", "sandbox", "-client-id", sandbox.DefaultClientID)
	results, printed, err = tested(t, outputs, "-mode", "test", "-fhir-base", base+"/sandbox/fhir", "-token-request")
	if err != nil || results["registration"] != "ok" || results["token_refresh"] != "ok" || results["authorize"] != "ok" {
		t.Errorf("with its platform's registration: %v\n%s", err, printed)
	}
	organisation, _ := done("organisation", "create", "-name", "Alder Clinic App")["id"].(string)
	done("registration", "set", "-mode", "test", "-platform", "sandbox", "-client-id", "not-registered-there", "-org",
		organisation)
	results, printed, err = tested(t, outputs, "-mode", "test", "-fhir-base", base+"/sandbox/fhir", "-token-request",
		"-org", organisation)
	if err == nil || results["token_refresh"] != "failed" || results["authorize"] != "warning" ||
		!strings.Contains(printed, "the organisation's own, for the platform") {
		t.Errorf("with the organisation's own: %v\n%s", err, printed)
	}
	if results, printed, err = tested(t, outputs, "-mode", "test", "-fhir-base",
		nowhere); err == nil || results["address"] != "failed" ||
		results["authorize"] != "skipped" {
		t.Errorf("an address that the guard refuses: %v\n%s", err, printed)
	}
	if results, printed, err = tested(t, outputs, "-fhir-base", "http://ehr.example/r4", "-mode", "live"); err == nil ||
		results["address"] != "failed" {
		t.Errorf("http in live mode: %v\n%s", err, printed)
	}
	if _, _, err = tested(t, outputs, "-mode", "test", "-fhir-base", "ehr.example"); err == nil ||
		!strings.Contains(err.Error(), "failed checks: 1") {
		t.Errorf("no address: %v", err)
	}
	id, _ := done("endpoint", "create", "-mode", "test", "-fhir-base", base+"/sandbox/fhir", "-name",
		"Alder Hospital")["endpoint_id"].(string)
	for want, args := range map[string][]string{
		"set -id for an existing endpoint": {},
		"-platform can be used only with":  {"-id", id, "-platform", "smart"},
		"test that endpoint with -id":      {"-fhir-base", base + "/sandbox/fhir", "-platform", "smart"},
		"is in test mode":                  {"-id", id, "-mode", "live"},
		"not found":                        {"-id", "00000000-0000-4000-8000-000000000000"},
		"there are athena":                 {"-mode", "test", "-fhir-base", nowhere, "-platform", "epc"},
	} {
		if _, err := ctl(t, outputs, append([]string{"endpoint", "test"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
