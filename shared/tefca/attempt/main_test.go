package attempt_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start      = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	errTrouble = errors.New("trouble on our side")
)

// world holds an attempt in the tables from template.yaml, with a configurable network and cache.
type world struct {
	rows   store.TEFCAConnections
	conns  store.Connections
	tokens store.Tokens
	worker attempt.Worker

	mu       sync.Mutex
	now      time.Time
	request  identity.Request // authorization request of the last browser
	exchange func(ctx context.Context, back identity.Return) error
	lasts    time.Duration                   // lifetime of identities
	wait     func(ctx context.Context) error // called before each facility's response; may be nil
	locate   func(ctx context.Context, found func(tefca.Facility) error) error
	read     map[string]func() (records.Content, error) // record by facility; a missing entry is an empty record
	open     func() (tokens.Set, error)
	kept     map[string]records.Content // stored records, by batch name
	batches  int
	asked    []string // queried facilities
	enqueued []string // attempts
	told     []string // events
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := tables.New(t)
	flow, work := store.Flow{DB: made.DB, Table: made.Name("FlowTable")},
		store.Work{DB: made.DB, Table: made.Name("WorkTable")}
	w := &world{
		now: start, lasts: 15 * time.Minute, read: map[string]func() (records.Content, error){},
		kept: map[string]records.Content{},
	}
	w.conns = store.Connections{DB: made.DB, Table: made.Name("ConnectionTable")}
	w.tokens = store.Tokens{DB: made.DB, Table: made.Name("TokensTable")}
	w.rows = store.TEFCAConnections{
		TEFCA: store.TEFCA{Flow: flow, Work: work},
		Ends:  store.NewConclusions(flow, w.conns, w.tokens, store.Events(work)),
	}
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	w.worker = attempt.Worker{
		Store: w.rows, Networks: map[org.Mode]tefca.Network{org.Test: w, org.Live: nil}, Reader: w, Cache: w, Remover: w,
		Fixtures: map[string]records.Feed{"alder.xml": func(func([]byte) error) error { return nil }},
		Sealer:   plainSealer{}, Vault: tokens.Vault{Sealer: plainSealer{}}, Hashing: ring, Events: w, Now: w.time,
		NewID: ids.Random,
	}
	return w
}

func (w *world) Begin(_ context.Context, provider identity.Provider,
	request identity.Request,
) (string, identity.Authority, error) {
	w.request = request
	return "https://id.example/authorize", identity.Authority{Provider: provider, RedirectURI: request.RedirectURI}, nil
}

// Exchange compares the returned values with the authorization request, as a provider does.
func (w *world) Exchange(ctx context.Context, pinned identity.Authority,
	back identity.Return,
) (tefca.Assertion, error) {
	if w.exchange != nil {
		if err := w.exchange(ctx, back); err != nil {
			return tefca.Assertion{}, err
		}
	}
	challenge := sha256.Sum256([]byte(back.Verifier.Reveal()))
	if back.Code.Reveal() != "code" || base64.RawURLEncoding.EncodeToString(challenge[:]) != w.request.Challenge ||
		back.NonceHash != binding.Hash(w.request.Nonce) ||
		w.request.Nonce == w.request.State || w.request.Nonce == back.Verifier.Reveal() || back.Provider != "simulated" ||
		pinned.RedirectURI != "https://api.example/bridge/tefca/identity/callback/simulated" {
		return tefca.Assertion{}, errTrouble
	}
	return w.assertion(), nil
}

func (w *world) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	if !reflect.DeepEqual(who, w.assertion()) {
		return errTrouble
	}
	return w.locate(ctx, found)
}

func (*world) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return nil, errTrouble // unused, because the tests use their own reader
}

func (*world) Retrieve(context.Context, tefca.Assertion, tefca.Facility, tefca.Document, int64) ([]byte, error) {
	return nil, errTrouble
}

func (w *world) Open(context.Context, tefca.Assertion, tefca.Facility) (tokens.Set, error) {
	return w.open()
}

func (w *world) Read(ctx context.Context, _ tefca.Network, who tefca.Assertion,
	at tefca.Facility,
) (records.Content, error) {
	w.mu.Lock()
	w.asked = append(w.asked, at.ID)
	read := w.read[at.ID]
	w.mu.Unlock()
	if !reflect.DeepEqual(at, facility(at.ID, tefca.Found)) || !reflect.DeepEqual(who, w.assertion()) {
		return records.Content{}, errTrouble
	}
	if w.wait != nil {
		_ = w.wait(ctx)
	}
	if read == nil {
		return records.Content{Documents: 1}, nil
	}
	return read()
}

func (w *world) Write(_ context.Context, _ org.Tenant, _ string, content records.Content) (tokens.Records, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches++
	batch := strings.Repeat("b", w.batches)
	w.kept[batch] = content
	return tokens.Records{
		Generation: content.Generation, Batch: batch, Documents: content.Documents, Lost: content.Lost,
		Until: w.now.Add(24 * time.Hour),
	}, nil
}

func (w *world) Delete(ctx context.Context, _ org.Tenant, _ string, held tokens.Records) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		delete(w.kept, held.Batch)
	}
	return ctx.Err()
}

func (w *world) EnqueueAttempt(_ context.Context, _ org.Tenant, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueued = append(w.enqueued, id)
	return errTrouble // simulates a lost message
}

func (w *world) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, id)
	return errTrouble
}

func (w *world) assertion() tefca.Assertion {
	return tefca.Assertion{
		Provider: "simulated", Issuer: "https://id.example", Subject: "p01", Level: 2,
		Person: tefca.Person{Given: "Maple", Family: "Aster"},
		Token:  secret.New("id-token"), IssuedAt: start, ExpiresAt: start.Add(w.lasts),
	}
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// admission returns an Admission with settings for test mode. Live mode has an empty setting and requires a paid plan.
func admission() attempt.Admission {
	return attempt.Admission{
		Organisations: plans{"free": org.Free, "paid": org.Paid},
		Settings: map[org.Mode]attempt.Setting{
			org.Test: {Providers: []identity.Provider{{ID: "other"}, {ID: "simulated"}}, Simulated: true}, org.Live: {},
		},
	}
}

type plans map[string]org.Plan

func (p plans) Organisation(_ context.Context, publicID string) (org.Organisation, error) {
	plan, ok := p[publicID]
	if !ok {
		return org.Organisation{}, fault.Missing("Organisation not found.")
	}
	return org.Organisation{Plan: plan}, nil
}

func wanted(externalID string) attempt.Request {
	return attempt.Request{
		Tenant: tenant, PublicID: "free", Provider: "simulated", ExternalID: externalID, ExternalState: "visit-9",
		RequestID: "request-1",
	}
}

// thirtyTwo is the random input that produces every page's token.
const thirtyTwo = "the token of every page is this."

func pageToken() secret.Text {
	return secret.New(base64.RawURLEncoding.EncodeToString([]byte(thirtyTwo)))
}

func (w *world) create(ctx context.Context, id string, r attempt.Request) (attempt.Prepared, error) {
	return attempt.Creator{
		Admission: admission(), Store: w.rows, Now: w.time, NewID: func() string { return id },
		Random: io.MultiReader(strings.NewReader(thirtyTwo), rand.Reader),
	}.Create(ctx, r)
}

func (w *world) starter() attempt.Starter {
	return attempt.Starter{
		Admission: admission(), Store: w.rows, Party: w, Sealer: plainSealer{}, BaseURL: "https://api.example", Now: w.time,
		Random: rand.Reader,
	}
}

func (w *world) watcher() attempt.Watcher { return attempt.Watcher{Store: w.rows, Now: w.time} }

func (w *world) chooser() attempt.Chooser {
	return attempt.Chooser{Watcher: w.watcher(), Store: w.rows, Enqueuer: w}
}

func (w *world) completer() attempt.Completer {
	return attempt.Completer{
		Store: w.rows, Party: w, Verifiers: plainSealer{}, Assertions: plainSealer{},
		Enqueuer: w, Now: w.time,
	}
}

// left creates and starts an attempt, and returns the parameters of the redirect from the provider.
func (w *world) left(t *testing.T, id, externalID string) attempt.Return {
	t.Helper()
	made, err := w.create(t.Context(), id, wanted(externalID))
	expect.NoError(t, err)
	started, err := w.starter().Leave(t.Context(), made.Start)
	expect.NoError(t, err)
	cookies := map[string]string{started.CookieName: started.CookieValue.Reveal()}
	return attempt.Return{
		Provider: "simulated", State: w.request.State, Code: secret.New("code"), Issuer: "https://id.example",
		RequestID: "return-1",
		Cookie:    func(name string) string { return cookies[name] },
	}
}

// verified creates an attempt and verifies the person's identity.
func (w *world) verified(t *testing.T, id, externalID string) attempt.Attempt {
	t.Helper()
	done, err := w.completer().Complete(t.Context(), w.left(t, id, externalID))
	expect.NoError(t, err)
	if !done.Known {
		t.Fatal("the attempt is not known")
	}
	return w.attempt(t, id)
}

// located creates a verified attempt with the given facilities, each of which matches the person.
func (w *world) located(t *testing.T, id, externalID string, facilities ...string) attempt.Attempt {
	t.Helper()
	w.verified(t, id, externalID)
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, f := range facilities {
			if err := found(facility(f, tefca.Found)); err != nil {
				return err
			}
		}
		return nil
	}
	w.look(t, id)
	return w.attempt(t, id)
}

func facility(id string, match tefca.Match) tefca.Facility {
	return tefca.Facility{
		ID: id, Name: "Facility " + id, City: "Madison", State: "WI", Match: match,
		Local: secret.New("local of " + id), Access: tefca.Documents,
	}
}

func (w *world) attempt(t *testing.T, id string) attempt.Attempt {
	t.Helper()
	a, err := w.rows.Attempt(t.Context(), tenant, id)
	expect.NoError(t, err)
	return a
}

func (w *world) facilities(t *testing.T, id string) map[string]attempt.Facility {
	t.Helper()
	all, err := w.rows.Facilities(t.Context(), tenant, id)
	expect.NoError(t, err)
	found := map[string]attempt.Facility{}
	for _, f := range all {
		found[f.ID] = f
	}
	return found
}

func (w *world) look(t *testing.T, id string) {
	t.Helper()
	expect.NoError(t, w.worker.Process(t.Context(), tenant, id))
}

func (w *world) choose(t *testing.T, id string, wanted ...string) {
	t.Helper()
	_, err := w.chooser().Choose(t.Context(), tenant, id, pageToken(), wanted)
	expect.NoError(t, err)
}

func (w *world) connection(t *testing.T, id string) connection.Connection {
	t.Helper()
	c, err := w.conns.Connection(t.Context(), tenant, id)
	expect.NoError(t, err)
	return c
}

func (w *world) batchNames() []string { return slices.Sorted(maps.Keys(w.kept)) }

// plainSealer stores data unencrypted. Opening sealed data requires the same tenant and binding.
type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, of org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return slices.Concat([]byte(of.Key()+"\n"+boundTo+"\n"), plain), nil
}

func (plainSealer) Open(_ context.Context, of org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(of.Key()+"\n"+boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for something else")
	}
	return plain, nil
}
