package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// verification holds the page's data about a TEFCA-mode attempt.
type verification struct {
	ID    string `json:"attempt_id"`
	Token string `json:"attempt_token"`
	URL   string `json:"identity_url"`
	Start string `json:"start_value"`

	publicID string
}

func (v verification) form() startForm { return startForm{url: v.URL, value: v.Start} }

// located is the status of a TEFCA-mode attempt.
type located struct {
	Status     string     `json:"status"`
	Ends       string     `json:"identity_expires_at"`
	Facilities []facility `json:"facilities"`
	Error      struct {
		Cause string `json:"cause"`
	} `json:"error"`
}

type facility struct {
	ID         string `json:"tefca_directory_id"`
	Match      string `json:"match"`
	Outcome    string `json:"outcome"`
	Reason     string `json:"reason"`
	Connection struct {
		ID          string `json:"org_connection_id"`
		DirectoryID string `json:"tefca_directory_id"`
		Scope       string `json:"scope"`
		ExternalID  string `json:"external_id"`
	} `json:"connection"`
}

// chosen returns the IDs of the facilities that matched the patient.
func (l located) chosen() []string {
	var ids []string
	for _, f := range l.Facilities {
		if f.Match == "found" {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

func (l located) connections() map[string]string {
	found := map[string]string{}
	for _, f := range l.Facilities {
		if f.Outcome == "connected" {
			found[f.ID] = f.Connection.ID
		}
	}
	return found
}

func (o verifying) beginVerification(externalID string) verification {
	o.t.Helper()
	return beginVerificationAt(o.outside, "simulated", externalID)
}

func beginVerificationAt(o *outside, provider, externalID string) verification {
	o.t.Helper()
	publicID := o.seeded.Organisations[0].PublicID
	made := o.call(http.MethodPost, "/bridge/tefca/identity?public_id="+url.QueryEscape(publicID), "", "",
		map[string]string{"provider": provider, "external_id": externalID, "external_state": "state-9"})
	if made.status != http.StatusOK {
		o.t.Fatalf("an attempt of TEFCA mode answered %d %s", made.status, made.raw)
	}
	v := verification{publicID: publicID}
	expect.NoError(o.t, json.Unmarshal(made.Data, &v))
	return v
}

// identify takes a synthetic patient through the identity provider's pages in a new window.
func (o verifying) identify(v verification, person, decision string, more ...string) *visited {
	o.t.Helper()
	window := o.patient.browser()
	started := window.start(v.form())
	if started.location() == nil {
		return started
	}
	address := started.location().String()
	for range 5 {
		target, err := url.Parse(address)
		expect.NoError(o.t, err)
		if strings.HasSuffix(target.Path, "/identity/authorize") {
			query := target.Query()
			query.Set("person", person)
			query.Set("decision", decision)
			for i := 0; i+1 < len(more); i += 2 {
				query.Set(more[i], more[i+1])
			}
			target.RawQuery = query.Encode()
		}
		answer := window.get(target)
		if answer.location() == nil {
			return answer
		}
		address = target.ResolveReference(answer.location()).String()
	}
	o.t.Fatal("too many redirects")
	return nil
}

func (o verifying) requestStatus(v verification) answer {
	o.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + v.Token}}
	return o.send(http.MethodGet, "/bridge/tefca/records/"+v.ID+"?public_id="+url.QueryEscape(v.publicID), header, nil)
}

func (o verifying) choose(v verification, ids ...string) answer {
	o.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + v.Token}}
	path := "/bridge/tefca/records/" + v.ID + "/authorization?public_id=" + url.QueryEscape(v.publicID)
	return o.send(http.MethodPost, path, header, map[string][]string{"tefca_directory_ids": ids})
}

func (o verifying) located(v verification) located {
	o.t.Helper()
	got := o.vault.requestStatus(v)
	if got.status != http.StatusOK {
		o.t.Fatalf("the attempt answered %d %s", got.status, got.raw)
	}
	var l located
	expect.NoError(o.t, json.Unmarshal(got.Data, &l))
	return l
}

// connect takes a synthetic patient through the complete flow, and returns the connection IDs by facility.
func (o verifying) connect(person, externalID string) map[string]string {
	o.t.Helper()
	v := o.vault.beginVerification(externalID)
	if page := o.vault.identify(v, person, "approve"); page.status != http.StatusOK {
		o.t.Fatalf("the window ended with %d %s", page.status, page.body)
	}
	found := o.vault.awaitLocated(v, "located")
	if got := o.vault.choose(v, found.chosen()...); got.status != http.StatusOK {
		o.t.Fatalf("choosing answered %d %s", got.status, got.raw)
	}
	return o.vault.awaitLocated(v, "located").connections()
}

// awaitLocated waits up to ten ticks for the attempt to reach the given status.
func (o verifying) awaitLocated(v verification, status string) located {
	o.t.Helper()
	for range 10 {
		o.tick()
		if l := o.vault.located(v); l.Status == status {
			return l
		}
	}
	o.t.Fatalf("the attempt is %+v, not %s", o.vault.located(v), status)
	return located{}
}

// locateFacilities creates an attempt for a patient with records and waits until facilities can be chosen.
func (o verifying) locateFacilities() (v verification, found []string) {
	o.t.Helper()
	v = o.vault.beginVerification("")
	if page := o.vault.identify(v, twoHospitals, "approve"); page.status != http.StatusOK {
		o.t.Fatalf("the window ended with %d %s", page.status, page.body)
	}
	return v, o.vault.awaitLocated(v, "located").chosen()
}

// runVault covers a verified patient who connects to the facilities found, returns later, and is disconnected.
func runVault(s *stack) {
	s.t.Helper()
	first := s.vault.connect(twoHospitals, "patient-7")
	for _, id := range first {
		s.org.startExport(id)
		s.clock.advance(1)
	}
	if again := s.vault.connect(twoHospitals, "patient-7"); len(first) != 2 || !maps.Equal(again, first) {
		s.t.Fatalf("connected are %v, and were %v", again, first)
	}
	s.clock.advance(20)        // lets the verified identity expire
	for _, id := range first { // starts exports that are pending when the patient is disconnected
		s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]any{"org_connection_id": id, "refresh": true})
	}
	got := s.org.request(http.MethodPost, "/bridge/vault_connection/revoke",
		map[string]string{"email": "alder.fenn@tefca.example"})
	if got.status != http.StatusOK || strings.Count(string(got.Data), "-") < 8 {
		s.t.Errorf("revoking answered %d %s", got.status, got.raw)
	}
	s.vault.identify(s.vault.beginVerification("patient-7"), twoHospitals, "decline")
}

// refuseFixtures rejects requests to store the last part of each record.
func refuseFixtures(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		if c.Service == "s3" && c.Operation == "PutObject" && strings.Contains(r.URL.Path, "alder.xml") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next(w, r, c)
	}
}

// runUnkept checks that a facility fails with the reason internal if its record cannot be stored completely.
func runUnkept(s *stack) {
	s.t.Helper()
	v, found := s.vault.locateFacilities()
	s.vault.choose(v, found...)
	for _, f := range s.vault.awaitLocated(v, "located").Facilities {
		if f.Outcome != "failed" || f.Reason != "internal" {
			s.t.Errorf("what cannot be kept is %+v", f)
		}
	}
}

// runVouched authenticates the service's client at an identity provider with each supported method.
func runVouched(s *stack) {
	s.t.Helper()
	providers := make([]identity.Provider, 0, 3)
	for id, auth := range map[string]catalog.ClientAuth{
		"post":  {Method: catalog.AuthSecretPost, Origins: []string{host}},
		"rs384": {Method: catalog.AuthPrivateKey, Algorithm: "RS384"},
		"es384": {Method: catalog.AuthPrivateKey, Algorithm: "ES384"},
	} {
		plain := secret.Text{}
		if auth.Method != catalog.AuthPrivateKey {
			plain = secret.New("s3cret._=-")
		}
		authID, err := s.operator.Clients.Create(s.t.Context(), org.Tenant{}, auth, plain)
		expect.NoError(s.t, err)
		p := identity.Simulated(baseURL)
		p.ID, p.ClientAuthID = id, authID
		providers = append(providers, p)
	}
	document, err := json.Marshal(map[string]any{"providers": providers})
	expect.NoError(s.t, err)
	f := s.functions["IdentityFunction"]
	f.declared.Environment = withValue(f.declared.Environment, "TEFCA_CONFIG", string(document))
	for _, p := range providers {
		v := beginVerificationAt(s.outside, p.ID, "")
		if page := s.vault.identify(v, twoHospitals, "approve"); page.status != http.StatusOK {
			s.t.Errorf("%s: the window ended with %d %s", p.ID, page.status, page.body)
		}
		s.vault.awaitLocated(v, "located")
	}
}

func TestVerifiedPatientCanConnectToFacilities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		publicID := s.seeded.Organisations[0].PublicID
		offered := s.call(http.MethodGet, "/bridge/tefca/identity?public_id="+url.QueryEscape(publicID), "", "", nil)
		want := `{"providers":[{"id":"simulated","name":"Example Identity (simulated)"}],"simulated":true}`
		if string(offered.Data) != want {
			t.Errorf("offered %s, want %s", offered.raw, want)
		}
		v := s.vault.beginVerification("patient-7")
		if l := s.vault.located(v); l.Status != "created" {
			t.Errorf("before the window opens it is %+v", l)
		}
		page := s.vault.identify(v, "p01", "approve")
		if page.status != http.StatusOK || !strings.Contains(string(page.body), "Your identity is confirmed") {
			t.Fatalf("the window ended with %d %s", page.status, page.body)
		}
		if l := s.vault.located(v); l.Status != "locating" || l.Ends == "" {
			t.Errorf("after the window it is %+v", l)
		}
		found := s.vault.awaitLocated(v, "located")
		if len(found.chosen()) < 2 {
			t.Fatalf("located %+v", found)
		}
		chosen := found.chosen()
		if got := s.vault.choose(v, chosen...); got.status != http.StatusOK ||
			!strings.Contains(string(got.Data), `"status":"authorizing"`) {
			t.Fatalf("choosing answered %d %s", got.status, got.raw)
		}
		done := s.vault.awaitLocated(v, "located")
		connections := done.connections()
		if len(connections) != len(chosen) {
			t.Fatalf("of %d facilities %d are connected: %+v", len(chosen), len(connections), done)
		}
		s.clock.advance(1)
		for _, id := range connections {
			if told := s.eventIDs("patient.connection_success", id); len(told) != 1 {
				t.Errorf("a connection was told under %d ids", len(told))
			}
			if !slices.Contains(chosen, s.state.connection(id).text("directory_id")) {
				t.Errorf("the connection is %v", s.state.connection(id))
			}
		}
		s.org.startExport(connections[chosen[0]])
		s.clock.advance(2)
		if file := s.org.download(s.webhooks.exportEvent().DownloadLinks[0].URL); len(file["Patient"]) != 1 ||
			len(file["Condition"]) == 0 {
			t.Errorf("the file holds %v", file)
		}
		<-time.After(16 * time.Minute)
		s.clock.advance(3)
		if row := s.state.get("test-WorkTable", s.tenant()+"#TEFCA#"+v.ID, "META"); row["assertion"] != nil ||
			row.text("due_at") != "" {
			t.Errorf("the identity has ended and is still there: %v", row)
		}
	})
}
