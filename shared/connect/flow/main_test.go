package flow_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	endpointID  = "e0000000-0000-4000-8000-00000000000a"
	suspendedID = "e0000000-0000-4000-8000-00000000000b"
	liveID      = "e0000000-0000-4000-8000-00000000000c"
	strangerID  = "e0000000-0000-4000-8000-00000000000d" // endpoint without a registration
	mergedID    = "b0000000-0000-4000-8000-00000000000b" // brand that was merged into brandID
	foreignID   = "b0000000-0000-4000-8000-00000000000c"
	formerID    = "d0000000-0000-4000-8000-00000000000b" // portal that was merged into portalID
	nextID      = "b0000000-0000-4000-8000-00000000000d" // another brand with the same portals
	secondID    = "d0000000-0000-4000-8000-00000000000d" // second portal of both brandID and nextID
	brandID     = "b0000000-0000-4000-8000-00000000000a"
	portalID    = "d0000000-0000-4000-8000-00000000000a"
	redirectURI = "https://app.example/return?keep=1"
	baseURL     = "https://api.example/v1"
	callbackURI = baseURL + "/bridge/callback"
	fhirBase    = "https://ehr.example/fhir/r4"
	issuer      = "https://ehr.example"
	verifier    = "a-verifier-that-nobody-may-see"
	lifetime    = 30 * time.Minute
)

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errTrouble = errors.New("trouble on our side")
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// world is a test environment for attempts. The method named in broken fails.
type world struct {
	mu        sync.Mutex
	broken    string
	scope     string // registration's scope
	profile   flow.Profile
	base      string // endpoint's FHIR base URL
	pins      catalog.Pins
	several   bool   // whether several institutions share the endpoint
	callback  string // registration's callback
	attempts  map[string]flow.Attempt
	states    map[string]binding.State
	tickets   map[string]binding.Ticket
	conns     map[string]connection.Connection
	rows      map[string]tokens.Row
	meddle    func() // called once, before a conclusion is stored
	concluded []flow.Conclusion
	enqueued  []string

	authority flow.Authority
	discover  error
	asked     flow.Authorization
	grants    []flow.Grant
	set       tokens.Set
	exchange  func(context.Context) error // replaces Exchange if set
	initials  string                      // patient's initials at the portal
	named     []string                    // IDs of the patients whose initials were read
}

func newWorld() *world {
	return &world{
		scope: "launch/patient patient/*.rs", profile: flow.Profile{Aud: fhirBase}, base: fhirBase,
		attempts: map[string]flow.Attempt{}, states: map[string]binding.State{}, tickets: map[string]binding.Ticket{},
		conns: map[string]connection.Connection{}, rows: map[string]tokens.Row{},
		authority: flow.Authority{
			Issuer: issuer, AuthorizationEndpoint: "https://ehr.example/authorize", TokenEndpoint: "https://ehr.example/token",
		},
		set: tokens.Set{
			AccessToken: secret.New("access"), RefreshToken: secret.New("refresh"), PatientID: secret.New("p1"),
			Scope: "patient/*.read", FHIRBase: fhirBase, TokenEndpoint: "https://ehr.example/token", ClientID: "client",
		},
	}
}

func (w *world) BeginAttempt(_ context.Context, attempt flow.Attempt, state binding.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails("BeginAttempt"); err != nil {
		return err
	}
	w.attempts[attempt.ID], w.states[state.Hash] = attempt, state
	return nil
}

func (w *world) TakeState(_ context.Context, hash, bindingHash string, now time.Time) (binding.State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, ok := w.states[hash]
	if !ok || state.BindingHash != bindingHash || !now.Before(state.ExpiresAt) {
		return binding.State{}, fault.Missing("no state")
	}
	if err := w.fails("TakeState"); err != nil {
		return binding.State{}, err
	}
	delete(w.states, hash)
	return state, nil
}

func (w *world) Attempt(_ context.Context, owner org.Tenant, id string) (flow.Attempt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	attempt, ok := w.attempts[id]
	if !ok || owner != attempt.Tenant {
		return flow.Attempt{}, fault.Missing("no attempt")
	}
	return attempt, w.fails("Attempt")
}

func (w *world) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	endpoint := catalog.Endpoint{
		ID: id, BrandID: brandID, PortalID: portalID, FHIRBase: w.base, PlatformType: "sandbox",
		Mode: "test", Status: catalog.EndpointActive, Pins: w.pins,
	}
	if w.several {
		endpoint.BrandID, endpoint.PortalID = "", ""
	}
	switch id {
	case endpointID, strangerID:
	case suspendedID:
		endpoint.Status = catalog.EndpointSuspended
	case liveID:
		endpoint.Mode = "live"
	default:
		return catalog.Endpoint{}, fault.Missing("no endpoint")
	}
	return endpoint, w.fails("Endpoint")
}

// Way accepts the IDs of the endpoint's two brands and that of a brand merged into one of them.
func (w *world) Way(_ context.Context, endpoint, brand string) (catalog.Way, error) {
	is, ok := map[string]string{brandID: brandID, mergedID: brandID, nextID: nextID}[brand]
	if !ok || endpoint != endpointID {
		return catalog.Way{}, fault.Missing("no way")
	}
	return catalog.Way{
		EndpointID: endpoint, Asked: brand, BrandID: is,
		Portals: map[string]string{portalID: portalID, formerID: portalID, secondID: secondID},
	}, w.fails("Way")
}

func (w *world) Registration(_ context.Context, owner org.Tenant, e catalog.Endpoint) (catalog.Registration, error) {
	if owner.OrgID != tenant.OrgID || e.ID == strangerID {
		return catalog.Registration{}, fault.Missing("no registration")
	}
	return catalog.Registration{
		Place: catalog.Place{EndpointID: e.ID}, ClientID: "client", Scope: w.scope,
		Callback: w.callback,
	}, w.fails("Registration")
}

func (w *world) Discover(_ context.Context, base string) (flow.Authority, error) {
	if base != w.base {
		return flow.Authority{}, errTrouble
	}
	return w.authority, w.discover
}

func (w *world) Profile(e catalog.Endpoint, authority flow.Authority) (flow.Profile, error) {
	if e.PlatformType != "sandbox" || e.FHIRBase != w.base || !reflect.DeepEqual(authority, w.authority) {
		return flow.Profile{}, w.fails("Profile")
	}
	return w.profile, w.fails("Profile")
}

func (w *world) AuthorizeURL(r flow.Authorization) (string, error) {
	w.asked = r
	query := url.Values{"state": {r.State}}
	if w.profile.Listed {
		query = url.Values{
			"state": {r.State}, "scope": {r.Scope}, "nonce": {r.Nonce}, "code_challenge": {r.Challenge},
			"redirect_uri": {r.RedirectURI},
		}
	}
	return r.Endpoint + "?" + query.Encode(), w.fails("AuthorizeURL")
}

func (w *world) NewVerifier() (secret.Text, string, error) {
	return secret.New(verifier), "challenge", w.fails("NewVerifier")
}

func (w *world) Exchange(ctx context.Context, grant flow.Grant) (tokens.Set, error) {
	w.mu.Lock()
	w.grants = append(w.grants, grant)
	w.mu.Unlock()
	if w.exchange != nil {
		return tokens.Set{}, w.exchange(ctx)
	}
	return w.set, nil
}

func (w *world) Initials(_ context.Context, set tokens.Set) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.named = append(w.named, set.PatientID.Reveal())
	return w.initials
}

// Seal does not encrypt the value, but the result can be opened only for the same tenant and binding.
func (w *world) Seal(_ context.Context, owner org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return []byte(owner.Key() + "\n" + boundTo + "\n" + hex.EncodeToString(plain)), w.fails("Seal")
}

func (w *world) Open(_ context.Context, owner org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(sealed), owner.Key()+"\n"+boundTo+"\n")
	if !ok {
		return nil, errors.New("sealed for something else")
	}
	plain, err := hex.DecodeString(text)
	return plain, errors.Join(err, w.fails("Open"))
}

func (w *world) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueued = append(w.enqueued, id)
	return errTrouble // simulates a lost message, which changes no data
}

func (w *world) fails(method string) error {
	if w.broken == method {
		return errTrouble
	}
	return nil
}

func (w *world) preparation() flow.Preparation {
	return flow.Preparation{
		Catalog: w, Connections: w, Portal: w, Platforms: w, BaseURL: baseURL, Now: time.Now, NewID: ids.Random,
		Random: rand.Reader,
	}
}

func (w *world) starter() flow.Starter {
	return flow.Starter{Preparation: w.preparation(), Store: w, Sealer: w}
}

func (w *world) creator() flow.Creator { return flow.Creator{Preparation: w.preparation(), Store: w} }

func (w *world) completer(t *testing.T) flow.Completer {
	t.Helper()
	return flow.Completer{
		Own:   ownhosts.Own(),
		Store: w, Connections: w, Portal: w, Sealer: w, Vault: tokens.Vault{Sealer: w}, Hashing: newKeyring(t), Enqueuer: w,
		BaseURL: baseURL, Now: time.Now, NewID: ids.Random,
	}
}

func newKeyring(t *testing.T) secret.Keyring {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// request returns an attempt request with every field set.
func request(t *testing.T) flow.Request {
	t.Helper()
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{redirectURI}, redirectURI)
	if err != nil {
		t.Fatal(err)
	}
	return flow.Request{
		Caller: org.Caller{Tenant: tenant}, Redirect: redirect, EndpointID: endpointID, BrandID: brandID, PortalID: portalID,
		ExternalID: "patient-7", ExternalState: "visit-9", RequestID: "request-1",
	}
}

// browser is a browser returning from the portal.
type browser struct {
	state   string
	cookies map[string]string
}

// start begins an attempt and returns the browser after its redirect to the portal.
func (w *world) start(t *testing.T, r flow.Request) browser {
	t.Helper()
	started, err := w.starter().Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return browser{state: w.asked.State, cookies: map[string]string{started.CookieName: started.CookieValue.Reveal()}}
}

// back returns the parameters with which the portal redirects to the service, including a code.
func (b browser) back() flow.Return {
	return flow.Return{
		State: b.state, Code: secret.New("code"), RequestID: "return-1",
		Cookie: func(name string) string { return b.cookies[name] },
	}
}

func wantFault(t *testing.T, err error, kind fault.Kind, code fault.Code) {
	t.Helper()
	if got := fault.Of(err); err == nil || got.Kind != kind || got.Code != code {
		t.Errorf("got %v, want %s %s", err, kind, code)
	}
}
