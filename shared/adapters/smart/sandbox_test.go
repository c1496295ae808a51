package smart_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	sandboxSecret   = "s3cret-of-the-sandbox"
	sandboxCallback = "https://us.example/callback"
)

// sandboxServer is the sandbox EHR, running on the system clock. The server's FHIR base URL contains the sandbox's
// switches.
type sandboxServer struct{ fhirBase string }

func newSandbox(t *testing.T, switches string) sandboxServer {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String() + "/sandbox"
	handler, err := sandbox.New(sandbox.Deps{
		BaseURL: base, Personas: persona.Builtin(),
		Clients: []oauth.Client{{ID: sandbox.DefaultClientID, RedirectURIs: []string{sandboxCallback}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	if switches != "" {
		base += "/with/" + switches
	}
	return sandboxServer{fhirBase: base + "/fhir"}
}

// sandboxClients authenticates the client with a single method (RFC 6749 section 2.3.1).
type sandboxClients string

func (way sandboxClients) Authenticate(_ context.Context, _ org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if way == "client_secret_post" {
		form.Set("client_id", use.ClientID)
		form.Set("client_secret", sandboxSecret)
		return nil
	}
	request := http.Request{Header: header}
	request.SetBasicAuth(url.QueryEscape(use.ClientID), url.QueryEscape(sandboxSecret))
	return nil
}

// signIn completes a sign-in at the sandbox with the platform's profile.
func (s sandboxServer) signIn(t *testing.T, portal client, platformType, authID string) tokens.Set {
	t.Helper()
	registry, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	authority, err := portal.Discover(t.Context(), s.fhirBase)
	if err != nil {
		t.Fatal(err)
	}
	verifier, challenge, err := portal.NewVerifier()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := registry.Profile(catalog.Endpoint{PlatformType: platformType, FHIRBase: s.fhirBase}, authority)
	if err != nil {
		t.Fatal(err)
	}
	common, err := registry.Profile(catalog.Endpoint{PlatformType: "sandbox", FHIRBase: s.fhirBase}, authority)
	if err != nil {
		t.Fatal(err)
	}
	profile.Scope = common.Scope // the other profiles choose scopes at registration, or request no refresh token
	address, err := portal.AuthorizeURL(flow.Authorization{
		Endpoint: authority.AuthorizationEndpoint, ClientID: sandbox.DefaultClientID, RedirectURI: sandboxCallback,
		Scope: profile.Scope, State: "a-state-of-this-sign-in", Aud: profile.Aud, Challenge: challenge,
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		address+"&persona=juniper-vale&decision=approve", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := doer().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("status %d, back to %v, %v", response.StatusCode, back, err)
	}
	set, err := portal.Exchange(t.Context(), flow.Grant{
		Attempt: flow.Attempt{
			Tenant: tenant(),
			Server: flow.Server{
				Upstream: profile.Upstream, TokenEndpoint: authority.TokenEndpoint, Issuer: authority.Issuer,
				KeySet: authority.KeySet, Userinfo: authority.Userinfo, FHIRBase: s.fhirBase,
			},
			Client:     flow.Client{ClientAuthID: authID, ClientID: sandbox.DefaultClientID, Callback: sandboxCallback},
			Parameters: flow.Parameters{Scope: profile.Scope},
		},
		Code: secret.New(back.Query().Get("code")), Verifier: verifier,
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// client combines the Authorizer and the Portal.
type client struct {
	smart.Authorizer
	smart.Portal
}

func sandboxPortal() client { return sandboxClient(public{}) }

func sandboxClient(clients smart.Clients) client {
	return client{smart.NewAuthorizer(doer(), rand.Reader, time.Now), portal(doer(), time.Now, clients)}
}

// wantLeft checks that date is the given duration from now, to within a minute. If want is zero, date must not be set.
func wantLeft(t *testing.T, what string, date time.Time, want time.Duration) {
	t.Helper()
	left := time.Until(date)
	if want == 0 && !date.IsZero() || want != 0 && (left > want || left < want-time.Minute) {
		t.Errorf("%s ends at %v, want %v from now", what, date, want)
	}
}

func TestSandboxReportsConsentExpiry(t *testing.T) {
	t.Parallel()
	for switches, test := range map[string]struct {
		platform         string
		consent, refresh time.Duration
	}{
		"refresh:48h":                   {"sandbox", 48 * time.Hour, 48 * time.Hour},
		"refresh:48h,introspect-bearer": {"epic", 48 * time.Hour, 48 * time.Hour},
		// With introspect-bearer, the introspection endpoint does not accept client authentication.
		"refresh:48h,introspect-bearer,access:1h":           {"sandbox", 0, 0},
		"refresh:48h,omit-endpoint:introspection":           {"sandbox", 0, 0},
		"refresh:48h,omit-endpoint:introspection,access:2h": {"medicare", 395 * day, 0},
		"refresh:48h,tell-expiry:authorization_expires_in":  {"medicare", 48 * time.Hour, 0},
		// The refresh_token_timeout member is not a substitute for introspection.
		"refresh:48h,tell-expiry:refresh_token_timeout":             {"sandbox", 48 * time.Hour, 48 * time.Hour},
		"refresh:48h,tell-expiry:refresh_token_expires_in":          {"sandbox", 48 * time.Hour, 48 * time.Hour},
		"refresh:48h,tell-expiry:refresh_expires_in":                {"sandbox", 48 * time.Hour, 48 * time.Hour},
		"refresh:48h,introspect-fails:500":                          {"sandbox", 0, 0},
		"refresh:48h,introspect-fails:503":                          {"medicare", 395 * day, 0},
		"refresh:48h,introspect-fails:404":                          {"sandbox", 0, 0},
		"refresh:48h,introspect-fails:401":                          {"sandbox", 0, 0},
		"refresh:48h,introspect-fails:html":                         {"sandbox", 0, 0},
		"refresh:48h,rotation:none":                                 {"sandbox", 48 * time.Hour, 48 * time.Hour},
		"refresh:48h,discovery-relative,discovery-no-s256,aud:none": {"nextgen", 48 * time.Hour, 48 * time.Hour},
	} {
		t.Run(switches, func(t *testing.T) {
			t.Parallel()
			portal := sandboxClient(sandboxClients("client_secret_basic")) // a public client can't introspect
			s := newSandbox(t, switches+",client-auth:client_secret_basic,client-secret:"+sandboxSecret)
			set := s.signIn(t, portal, test.platform, "auth-7")
			wantLeft(t, "consent", set.ConsentExpiresAt, test.consent)
			wantLeft(t, "the refresh token", set.RefreshExpiresAt, test.refresh)
			fresh, err := portal.Refresh(t.Context(), tenant(), set)
			if err != nil {
				t.Fatal(err)
			}
			wantLeft(t, "consent, after a refresh,", fresh.ConsentExpiresAt, test.consent)
			wantLeft(t, "the refresh token, after a refresh,", fresh.RefreshExpiresAt, test.refresh)
		})
	}
}

func TestSandboxRevokesTokens(t *testing.T) {
	t.Parallel()
	for switches, test := range map[string]struct {
		asked, gone bool
	}{
		"rotation:rolling":         {true, true},
		"omit-endpoint:revocation": {true, false},
		"revoke-fails:404":         {true, false},
		"revoke-fails:html":        {true, false},
		"revoke-fails:401":         {false, false}, // invalid_client
		"revoke-fails:500":         {false, false},
		"revoke-fails:503":         {false, false},
	} {
		t.Run(switches, func(t *testing.T) {
			t.Parallel()
			portal := sandboxPortal()
			set := newSandbox(t, switches).signIn(t, portal, "sandbox", "")
			if err := portal.Revoke(t.Context(), tenant(), set); (err == nil) != test.asked || err != nil &&
				!errors.Is(err, fault.Unavailable) {
				t.Errorf("revocation: %v, want it settled: %t", err, test.asked)
			}
			if _, err := portal.Refresh(t.Context(), tenant(), set); errors.Is(err, tokens.ErrRefused) != test.gone {
				t.Errorf("a refresh afterwards: %v, want it refused: %t", err, test.gone)
			}
		})
	}
}

func TestSandboxAcceptsConfidentialClient(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"client_secret_basic", "client_secret_post"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			portal := sandboxClient(sandboxClients(method))
			s := newSandbox(t, "refresh:48h,client-auth:"+method+",client-secret:"+sandboxSecret)
			set := s.signIn(t, portal, "sandbox", "auth-7")
			wantLeft(t, "consent", set.ConsentExpiresAt, 48*time.Hour) // introspection accepts the client's credentials
			set, err := portal.Refresh(t.Context(), tenant(), set)
			if err != nil {
				t.Fatal(err)
			}
			if err = portal.Revoke(t.Context(), tenant(), set); err != nil {
				t.Fatal(err)
			}
			if _, err = portal.Refresh(t.Context(), tenant(), set); !errors.Is(err, tokens.ErrRefused) {
				t.Errorf("a refresh after the revocation: %v", err)
			}
			set.ClientAuthID = ""
			if _, err = portal.Refresh(t.Context(), tenant(), set); err == nil || errors.Is(err, tokens.ErrRefused) {
				t.Errorf("a refresh without proof: %v, want no refusal", err)
			}
		})
	}
}

func TestExchangeIdentifiesSandboxPatientFromEverySource(t *testing.T) {
	t.Parallel()
	for _, switches := range []string{"", "no-patient", "patient-fhiruser", "patient-jwt", "patient-userinfo"} {
		t.Run(switches, func(t *testing.T) {
			t.Parallel()
			set := newSandbox(t, switches).signIn(t, sandboxPortal(), "sandbox", "")
			if set.PatientID.Reveal() == "" {
				t.Error("the patient is unknown")
			}
		})
	}
	// The profile omits the Patient type, so the patient remains unknown.
	set := newSandbox(t, "no-patient,no-patient-scope").signIn(t, sandboxPortal(), "sandbox", "")
	if !set.PatientID.Empty() {
		t.Error("a patient was found without leave to read one")
	}
}

func TestSandboxReportsRetryAfter(t *testing.T) {
	t.Parallel()
	portal := sandboxPortal()
	set := newSandbox(t, "refresh-fails:429").signIn(t, portal, "sandbox", "")
	_, err := portal.Refresh(t.Context(), tenant(), set)
	if !errors.Is(err, fault.Limited) || fault.Of(err).RetryAfter != 7*time.Second {
		t.Errorf("%v, wait %v; want 7 s", err, fault.Of(err).RetryAfter)
	}
}
