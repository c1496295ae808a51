package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/infra/local/template"
	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/test/ihe"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/tefca/identity"
	synthetic "recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/org"
)

const (
	networkHost   = "https://ehr.example" // host of an identity provider and a FHIR facility outside the stack
	withDocuments = "urn:oid:2.999.20"    // a facility with XCPD and XCA endpoints
	withFHIR      = "urn:oid:2.999.21"    // a facility with a FHIR endpoint
	goneGateway   = "urn:oid:2.999.22"    // a facility with an unreachable gateway
	clientURI     = "https://us.example/udap#T-IAS"
	secretOfOwn   = "networks"
)

// live simulates an identity provider, a gateway and a FHIR facility for a stack in live mode.
type live struct {
	*stack

	publicID  string
	handler   http.Handler
	gateway   *ihe.Peer
	documents []ihe.Document // documents stored at the gateway
}

// newLive returns a stack that runs in real time, because virtual time does not advance while a gateway's socket waits.
func newLive(t *testing.T) *live {
	t.Helper()
	s := newStack(t, options{grants: func(functions []template.Function) []template.Function {
		allowed := slices.Clone(functions) // adds the permission that is granted if a parameter names the secret
		for i, f := range allowed {
			allowed[i].Statements = slices.Clone(f.Statements)
			for j, statement := range allowed[i].Statements {
				if f.LogicalID == "TefcaWorkerFunction" && statement.Sid == "Secrets" {
					allowed[i].Statements[j].Resources = append(slices.Clone(statement.Resources),
						"arn:aws:secretsmanager:us-east-1:000000000000:secret:"+secretOfOwn+"-*")
				}
			}
		}
		return allowed
	}})
	handler, err := sandbox.New(sandbox.Deps{
		BaseURL: networkHost + "/sandbox", Personas: persona.Builtin(),
		Clients: []oauth.Client{{
			ID:           identity.SimulatedClient,
			RedirectURIs: []string{baseURL + identity.CallbackPath + "/real"},
		}},
		Store: memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	expect.NoError(t, err)
	l := &live{stack: s, publicID: s.seeded.Organisations[1].PublicID, handler: handler, documents: []ihe.Document{
		{ID: "2.999.7.1", Repository: "2.999.8", Title: "Summary", Content: sim.Fixtures()["alder.xml"]},
	}}
	s.intercept = func(r *http.Request) *http.Response {
		if !strings.HasPrefix(r.URL.String(), networkHost+"/") {
			return nil
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Result()
	}
	plan := string(org.Paid)
	_, err = s.operator.Organisations.Change(t.Context(), org.Tenant{Mode: org.Live, OrgID: s.seeded.Organisations[1].ID},
		operator.OrganisationChange{Plan: &plan})
	expect.NoError(t, err)
	return l
}

// configure sets up both networks and the identity provider as docs/operate/tefca.md describes.
func (l *live) configure() {
	l.t.Helper()
	gateways, err := ihe.NewAuthority("gateways")
	expect.NoError(l.t, err)
	clients, err := ihe.NewAuthority("clients")
	expect.NoError(l.t, err)
	certificate, key, err := clients.Issue("recordbridge")
	expect.NoError(l.t, err)
	alder, _ := synthetic.Named("alder.fenn@tefca.example")
	l.gateway, err = ihe.Start(gateways, ihe.Options{
		Home: withDocuments, Knows: alder.Person, Patient: "1", Clients: clients, Audience: identity.SimulatedAudience,
		Now:       time.Now,
		Documents: l.documents,
	})
	expect.NoError(l.t, err)
	l.t.Cleanup(l.gateway.Close)
	udapCertificate, udapKey := l.member()
	l.keep(map[string]map[string]string{
		"ihe":         {"certificate": certificate, "key": key, "anchors": gateways.PEM()},
		"facilitated": {"certificate": udapCertificate, "key": udapKey, "anchors": l.fetch(http.MethodGet, "/anchor", "")},
	})
	provider := identity.Simulated(networkHost)
	provider.ID, provider.Mode = "real", org.Live
	leads := func(home, to string) map[string]string {
		return map[string]string{
			"home": home, "name": "Gateway", "city": "Madison", "state": "WI",
			"discovery": to + string(ihe.Discovery), "query": to + string(ihe.Query), "retrieve": to + string(ihe.Retrieve),
		}
	}
	l.set(map[string]any{
		"providers": []identity.Provider{provider},
		"networks": map[string]any{
			"ihe": map[string]any{
				"home": identity.SimulatedAudience, "organization": "Example IAS Provider",
				"gateways": []any{leads(withDocuments, l.gateway.URL), leads(goneGateway, "https://127.0.0.1:9")},
			},
			"facilitated": map[string]any{
				"client_uri": clientURI, "client_name": "Example App", "contacts": []string{"mailto:operations@us.example"},
				"organization_id": identity.SimulatedAudience, "organization_name": "Example IAS Provider",
				"consent_policy": []string{"urn:oid:2.999.2"},
				"facilities": []any{map[string]any{
					"id": withFHIR, "name": "Example Clinic", "city": "Madison", "state": "WI",
					"fhir_base": networkHost + "/sandbox/fhir",
				}},
			},
		},
	})
}

func (l *live) keep(held map[string]map[string]string) {
	l.t.Helper()
	text, err := json.Marshal(held)
	expect.NoError(l.t, err)
	name, value := secretOfOwn, string(text)
	_, err = secretsmanager.NewFromConfig(l.cloud.Config("operator")).CreateSecret(l.t.Context(),
		&secretsmanager.CreateSecretInput{Name: &name, SecretString: &value})
	expect.NoError(l.t, err)
}

func (l *live) set(config map[string]any) {
	l.t.Helper()
	text, err := json.Marshal(config)
	expect.NoError(l.t, err)
	for _, name := range []string{"IdentityFunction", "TefcaWorkerFunction"} {
		f := l.functions[name]
		f.declared.Environment = withValue(f.declared.Environment, "TEFCA_CONFIG", string(text))
	}
	f := l.functions["TefcaWorkerFunction"]
	f.declared.Environment = withValue(f.declared.Environment, "TEFCA_SECRET", secretOfOwn)
}

// member generates a key and has the facility's trust community issue its certificate.
func (l *live) member() (certificate, key string) {
	l.t.Helper()
	name, err := url.Parse(clientURI)
	expect.NoError(l.t, err)
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.NoError(l.t, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: []*url.URL{name}}, made)
	expect.NoError(l.t, err)
	der, err := x509.MarshalPKCS8PrivateKey(made)
	expect.NoError(l.t, err)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return l.fetch(http.MethodPost, "/certificate", text("CERTIFICATE REQUEST", request)), text("PRIVATE KEY", der)
}

func (l *live) fetch(method, path, body string) string {
	l.t.Helper()
	answer := httptest.NewRecorder()
	l.handler.ServeHTTP(answer, httptest.NewRequestWithContext(l.t.Context(), method, networkHost+"/sandbox/udap"+path,
		strings.NewReader(body)))
	return answer.Body.String()
}

func (l *live) begin() verification {
	l.t.Helper()
	made := l.call(http.MethodPost, "/bridge/tefca/identity?public_id="+url.QueryEscape(l.publicID), "", "",
		map[string]string{"provider": "real", "external_id": "patient-7"})
	if made.status != http.StatusOK {
		l.t.Fatalf("an attempt in live mode answered %d %s", made.status, made.raw)
	}
	v := verification{publicID: l.publicID}
	expect.NoError(l.t, json.Unmarshal(made.Data, &v))
	return v
}

// TestLiveModeConnectsPatientThroughBothNetworks connects a patient through one network with XCPD and XCA over mutual
// TLS, and through the other with UDAP and FHIR. An unreachable gateway must not affect the other facilities.
func TestLiveModeConnectsPatientThroughBothNetworks(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	path := "/bridge/tefca/identity?public_id=" + url.QueryEscape(l.publicID)
	if got := l.call(http.MethodGet, path, "", "", nil); got.status != http.StatusBadRequest {
		t.Errorf("without a configuration it is offered: %d %s", got.status, got.raw)
	}
	l.configure()
	l.functions["IdentityFunction"].serve = nil // restarts the function, as a deployment would
	if got := l.call(http.MethodGet, path, "", "",
		nil); string(got.Data) != `{"providers":[{"id":"real","name":"Example Identity (simulated)"}],"simulated":false}` {
		t.Fatalf("offered is %d %s", got.status, got.raw)
	}
	v := l.begin()
	if page := l.vault.identify(v, "p06", "approve"); page.status != http.StatusOK {
		t.Fatalf("the window ended with %d %s", page.status, page.body)
	}
	l.queues.pump()
	found := map[string]string{}
	for _, f := range l.vault.located(v).Facilities {
		found[f.ID] = f.Match
	}
	if want := map[string]string{
		withDocuments: "found", withFHIR: "found",
		goneGateway: "unanswered",
	}; !maps.Equal(found, want) {
		t.Fatalf("located %v, want %v; the gateway refused %v", found, want, l.gateway.Refused())
	}
	if got := l.vault.choose(v, withDocuments, withFHIR); got.status != http.StatusOK {
		t.Fatalf("choosing answered %d %s", got.status, got.raw)
	}
	l.queues.pump()
	connected := l.vault.located(v).connections()
	if len(connected) != 2 || l.gateway.Seen(ihe.Retrieve) != 1 {
		t.Fatalf("connected are %+v; of %d documents", l.vault.located(v).Facilities, l.gateway.Seen(ihe.Retrieve))
	}
	for id, lasts := range map[string]time.Duration{withDocuments: 24 * time.Hour, withFHIR: time.Hour} {
		row := l.state.get("test-ConnectionTable", "live#"+l.seeded.Organisations[1].ID+"#CONN#"+connected[id], "META")
		ends, err := time.Parse(time.RFC3339, row.text("consent_expires_at"))
		if err != nil || time.Until(ends) > lasts || time.Until(ends) < lasts-time.Minute || row.text("directory_id") != id {
			t.Errorf("%s is connected as %v", id, row)
		}
	}
	l.export(connected[withDocuments])
	l.export(connected[withFHIR])
	l.checkSilence()
}

// export exports a connection's record and waits for the export to end.
func (l *live) export(connectionID string) {
	l.t.Helper()
	owner := l.seeded.Organisations[1]
	var task struct {
		ID     string `json:"task_id"`
		Status string `json:"status"`
	}
	begun := l.call(http.MethodPost, "/bridge/fhir/ehi-export", owner.PublicID, owner.PrivateKey,
		map[string]any{"org_connection_id": connectionID})
	expect.NoError(l.t, json.Unmarshal(begun.Data, &task))
	l.queues.pump()
	ended := l.call(http.MethodGet, "/bridge/fhir/ehi-export/"+task.ID, owner.PublicID, owner.PrivateKey, nil)
	expect.NoError(l.t, json.Unmarshal(ended.Data, &task))
	if task.Status != "success" {
		l.t.Errorf("an export ended with %s %s", begun.raw, ended.raw)
	}
}

// checkSilence checks that log lines identify an unresponsive facility only by its ID and an error class. The log must
// contain neither personal data nor the networks' credentials.
func (l *live) checkSilence() {
	l.t.Helper()
	lines := l.logs.String()
	if !strings.Contains(lines, `"directory_id":"`+goneGateway+`","class":"connect"`) {
		l.t.Errorf("no line tells that a gateway is gone:\n%s", lines)
	}
	for _, never := range []string{"Fenn", "1966-09-17", "PRIVATE KEY", "CERTIFICATE", "eyJ"} {
		if strings.Contains(lines, never) {
			l.t.Errorf("a line holds %q", never)
		}
	}
}
