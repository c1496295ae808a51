package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// quirk describes a portal's unusual behaviour and the expected result of connecting to it.
type quirk struct {
	with     string // the sandbox's switches
	platform string // "" means sandbox
	override string // settings that override the platform's profile
	authID   string // ID of the client authentication; "" for a public client
	refused  string // error code that the application receives; "" if the connection succeeds
	later    bool   // whether the export starts after the access token has expired
	failed   export.Reason
}

func quirks() []quirk {
	return []quirk{
		{with: "discovery-relative"},
		{with: "discovery-missing,iss:missing"},
		{with: "discovery-missing"}, // succeeds because the issuer in the response is a prefix of the server's URLs
		{with: "discovery-missing,iss:wrong", refused: "svc_invalid_request"},
		{with: "discovery-html,iss:missing"},
		{with: "token-moves:1", later: true},
		{with: "hostile:no-issuer"}, // equivalent to discovery-missing
		{with: "hostile:no-issuer,iss:wrong", refused: "svc_invalid_request"},
		{with: "hostile:other-issuer", refused: "svc_server_error"},
		{with: "hostile:other-sign-in", refused: "svc_server_error"},
		{with: "hostile:other-token", refused: "svc_server_error"},
		{with: "hostile:this-service", refused: "svc_server_error"},
		{with: "aud:required"},
		{with: "aud:none,nonce-required", override: "authorize: {aud: none, nonce: true}"},
		{with: "aud:none", platform: "quest"},
		{with: "aud:trimmed", platform: "eclinicalworks"},
		{with: "nonce-required,id-token:signed"},
		{with: "iss:present"},
		{with: "iss:wrong", refused: "svc_invalid_request"},
		{with: "authorize-error:access_denied", refused: "access_denied"},
		{with: "authorize-error:invalid_scope", refused: "invalid_scope"},
		{with: "authorize-error:server_error", refused: "svc_token_exchange"},
		{with: "authorize-error:login_required", refused: "svc_token_exchange"},
		{with: "scopes:no-wildcards", refused: "invalid_scope"}, // neither server nor profile lists resource types
		{with: "scopes:no-wildcards", platform: "humana"},
		{with: "scopes:v1"},
		{with: "scopes:v2"},
		{with: "id-token:signed"},
		{with: "id-token:expired"},
		{with: "id-token:wrong-aud"},
		{with: "id-token:wrong-nonce", refused: "svc_token_exchange"},
		{with: "id-token:bad-signature", refused: "svc_token_exchange"},
		{with: "patient-fhiruser,id-token:signed"},
		{with: "patient-jwt"},
		{with: "patient-userinfo"},
		{with: "no-patient"}, // the patient is found by a search
		{with: "patient-unnamed", refused: "svc_token_exchange"},
		{with: "patient-unnamed,id-token:signed"},
		{with: "scopes:types-v1,query-limit:2048", platform: "smart"},
		{with: "scopes:types-v2,query-limit:2048", platform: "smart", later: true},
		{with: "unknown-code-500"},
		{with: "expires-in:missing"},
		{with: "expires-in:text"},
		{with: "rotation:one-time", later: true},
		{with: "rotation:rolling", later: true},
		{with: "rotation:none", later: true},
		{with: "refresh-needs-scope,aud:none", platform: "va", later: true},
		{with: "refresh-needs-scope", platform: "smart", later: true},
		{with: "ah-practice", platform: "smart"},
		{with: "scopes:v1", platform: "smart"},
		{with: "patient-userinfo", platform: "someone-new"},
		// this profile sends no scope on refresh
		{with: "refresh-needs-scope", later: true, failed: export.TokenRefreshFailure},
		{with: "no-refresh"},
		{with: "no-refresh", later: true, failed: export.TokenRefreshFailure},
		{with: "refresh-fails:invalid_grant", later: true, failed: export.TokenRefreshFailure},
		{with: "refresh-fails:500,fails-first:2", later: true},
		{with: "refresh-fails:html,fails-first:2", later: true},
		{with: "refresh-fails:429,fails-first:1", later: true},
		{with: "no-patient-scope", failed: export.ScopePatientMissing},
		{with: "gateway,get-pages"},
		{with: "truncated-json", failed: export.ResourceInvalidContent},
	}
}

func TestQuirkyPortalsConnectOrReturnExpectedError(t *testing.T) {
	t.Parallel()
	for _, q := range sampleIfShort(quirks()) {
		name := q.with
		if q.later {
			name += " two hours later"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				_, last := s.patient.browser().open(s.ehr.connectURLOf(q), crashPersona, "approve")
				result := last.Query()
				if got := result.Get("error"); got != q.refused {
					t.Fatalf("the application got %v", result)
				}
				if q.refused != "" {
					return
				}
				if q.later {
					<-time.After(2 * time.Hour)
				}
				taskID := s.org.startExport(result.Get("org_connection_id"))
				s.clock.finish(60)
				task := s.state.get("test-WorkTable", s.tenant()+"#TASK#"+taskID, "META")
				if got := export.Reason(task.text("failure_reason")); got != q.failed {
					t.Fatalf("the task is %s because of %q", task.text("status"), got)
				}
				if q.failed == "" {
					s.org.checkDownload(crashPersona)
				}
				if got := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result",
					nil); got.status != http.StatusOK {
					t.Errorf("its result answered %d %s", got.status, got.raw)
				}
			})
		})
	}
}

// connectURLOf adds the portal to the catalogue and returns its connect URL. The endpoint has no configured scopes, so
// the platform and the discovery document determine them.
func (s ehr) connectURLOf(q quirk) string {
	s.t.Helper()
	platform := q.platform
	if platform == "" {
		platform = "sandbox"
	}
	at := s.seeded
	at.Sandbox.EndpointID = ids.Random()
	expect.NoError(s.t, s.operator.Endpoints.Add(s.t.Context(), catalog.Endpoint{
		ID: at.Sandbox.EndpointID, BrandID: ids.Random(), PortalID: ids.Random(), Name: "Hazel Hospital",
		FHIRBase: baseURL + "/sandbox/with/" + q.with + "/fhir", PlatformType: platform, FHIRVersion: "4.0.1",
		Mode: string(org.Test), Overrides: q.override,
	}, catalog.Registration{ClientID: sandbox.DefaultClientID, AuthID: q.authID}))
	return connectURL(at)
}

// TestBasicCredentialsAreSentUnencodedWhenConfigured checks that a server configured for raw credentials receives
// unencoded credentials on sign-in, refresh and revocation. Without this configuration, the organisation sees an error
// that suggests a possible cause of invalid_client.
func TestBasicCredentialsAreSentUnencodedWhenConfigured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.org.subscribe(webhook.ConnectionFailed)
		authID, err := s.operator.Clients.Create(t.Context(), org.Tenant{},
			catalog.ClientAuth{Method: catalog.AuthSecretBasic, Origins: []string{host}}, secret.New("s3cret=x"))
		expect.NoError(t, err)
		q := quirk{with: "client-auth:client_secret_basic,client-secret:s3cret=x,basic-raw", authID: authID}
		if got := s.ehr.connectTo(q); got.Get("error") != "invalid_client" {
			t.Errorf("encoded, the application got %v", got)
		}
		s.clock.advance(1)
		if told := s.webhooks.events("patient.connection_failed"); len(told) != 1 ||
			!strings.Contains(told[0].Body, `"cause":"client_secret_encoding"`) {
			t.Errorf("told %v", told)
		}
		q.override = "client: {basic: raw}"
		id := s.ehr.connectTo(q).Get("org_connection_id")
		if id == "" {
			t.Fatal("raw, there is no connection")
		}
		<-time.After(2 * time.Hour)
		taskID := s.org.startExport(id)
		s.clock.advance(3)
		if got := s.state.task(taskID); got.text("status") != "success" {
			t.Errorf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
		}
		s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil)
		s.clock.advance(3)
		if got := s.state.connection(id).text("upstream_until"); got != "" {
			t.Error("the revocation did not reach the portal")
		}
	})
}
