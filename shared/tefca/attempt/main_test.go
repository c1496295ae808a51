package attempt_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/shared/binding"
	"recordbridge/shared/connection"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/tokens"
)

const attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start      = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	errTrouble = errors.New("trouble on our side")
)

// world is an attempt in the tables that template.yaml declares, with a network and a cache that do as a test says.
type world struct {
	rows   store.TEFCAConnections
	conns  store.Connections
	worker attempt.Worker

	mu       sync.Mutex
	now      time.Time
	locate   func(ctx context.Context, found func(tefca.Facility) error) error
	read     map[string]func() (records.Content, error) // by facility; nothing is an empty record
	open     func() (tokens.Set, error)
	kept     map[string]records.Content // by batch
	batches  int
	asked    []string // facilities
	enqueued []string // attempts
	told     []string // events
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := tables.New(t)
	flow, work := store.Flow{DB: made.DB, Table: made.Name("FlowTable")}, store.Work{DB: made.DB, Table: made.Name("WorkTable")}
	w := &world{now: start, read: map[string]func() (records.Content, error){}, kept: map[string]records.Content{}}
	w.conns = store.Connections{DB: made.DB, Table: made.Name("ConnectionTable")}
	w.rows = store.TEFCAConnections{
		TEFCA: store.TEFCA{Flow: flow, Work: work},
		Ends:  store.NewConclusions(flow, w.conns, store.Tokens{DB: made.DB, Table: made.Name("TokensTable")}, work),
	}
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	w.worker = attempt.Worker{
		Store: w.rows, Networks: map[org.Mode]tefca.Network{org.Test: w, org.Live: nil}, Reader: w, Cache: w, Remover: w,
		Fixtures: map[string]records.Feed{"alder.xml": func(func([]byte) error) error { return nil }},
		Sealer:   plainSealer{}, Vault: tokens.Vault{Sealer: plainSealer{}}, Hashing: ring, Events: w, Now: w.time, NewID: ids.Random,
	}
	return w
}

// Exchange implements attempt.Exchanger.
func (w *world) Exchange(context.Context, identity.Authority, identity.Return) (tefca.Assertion, error) {
	return tefca.Assertion{
		Provider: "simulated", Issuer: "https://id.example", Subject: "p01", Level: 2, Person: tefca.Person{Given: "Maple", Family: "Aster"},
		Token: secret.New("id-token"), IssuedAt: w.time(), ExpiresAt: w.time().Add(15 * time.Minute),
	}, nil
}

// Locate implements tefca.Network.
func (w *world) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	if who.Person.Family != "Aster" || who.Token.Reveal() != "id-token" {
		return errTrouble
	}
	return w.locate(ctx, found)
}

// Documents implements tefca.Network.
func (*world) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return nil, errTrouble // the reader is the test's
}

// Retrieve implements tefca.Network.
func (*world) Retrieve(context.Context, tefca.Assertion, tefca.Facility, tefca.Document, int64) ([]byte, error) {
	return nil, errTrouble
}

// Open implements tefca.FHIRNetwork.
func (w *world) Open(context.Context, tefca.Assertion, tefca.Facility) (tokens.Set, error) {
	return w.open()
}

// Read implements attempt.Reader.
func (w *world) Read(_ context.Context, _ tefca.Network, _ tefca.Assertion, at tefca.Facility) (records.Content, error) {
	w.mu.Lock()
	w.asked = append(w.asked, at.ID)
	read := w.read[at.ID]
	w.mu.Unlock()
	if at.Local.Reveal() != "local of "+at.ID {
		return records.Content{}, errTrouble
	}
	if read == nil {
		return records.Content{Documents: 1}, nil
	}
	return read()
}

// Write implements attempt.Cache.
func (w *world) Write(_ context.Context, _ org.Tenant, _ string, content records.Content) (tokens.Records, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches++
	batch := strings.Repeat("b", w.batches)
	w.kept[batch] = content
	return tokens.Records{Generation: content.Generation, Batch: batch, Documents: content.Documents, Lost: content.Lost, Until: w.now.Add(24 * time.Hour)}, nil
}

// Delete implements attempt.Remover.
func (w *world) Delete(_ context.Context, _ org.Tenant, _ string, held tokens.Records) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.kept, held.Batch)
	return nil
}

// EnqueueAttempt implements attempt.Enqueuer.
func (w *world) EnqueueAttempt(_ context.Context, _ org.Tenant, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueued = append(w.enqueued, id)
	return errTrouble // a message that is lost
}

// EnqueueEvent implements attempt.Events.
func (w *world) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, id)
	return errTrouble
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

// verified stores an attempt whose identity was just verified.
func (w *world) verified(t *testing.T, id, externalID string) attempt.Attempt {
	t.Helper()
	a := attempt.Attempt{
		ID: id, Tenant: tenant, Status: attempt.Created, TokenHash: binding.Hash("token"), Provider: "simulated", ExternalID: externalID,
		RequestID: "request-1", CreatedAt: w.time(), ExpiresAt: w.time().Add(binding.Lifetime),
	}
	ticket := binding.Ticket{Hash: "start of " + id, Tenant: tenant, AttemptID: id, ExpiresAt: a.ExpiresAt}
	expect.NoError(t, w.rows.CreateAttempt(t.Context(), a, ticket))
	a.Rev, a.Status = 1, attempt.Open
	a.Verifier = []byte("verifier")
	state := binding.State{Hash: binding.Hash("state of " + id), BindingHash: binding.Hash("cookie"), Tenant: tenant, AttemptID: id, ExpiresAt: a.ExpiresAt}
	expect.NoError(t, w.rows.OpenAttempt(t.Context(), ticket, a, state))
	completer := attempt.Completer{Store: w.rows, Party: w, Verifiers: openSealer{}, Assertions: plainSealer{}, Enqueuer: w, Now: w.time}
	known, err := completer.Complete(t.Context(), attempt.Return{State: "state of " + id, Code: secret.New("code"), Cookie: func(string) string { return "cookie" }})
	expect.NoError(t, err)
	if !known {
		t.Fatal("the attempt is not known")
	}
	return w.attempt(t, id)
}

// located is verified, with facilities that have found the person.
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
	return tefca.Facility{ID: id, Name: "Facility " + id, City: "Madison", State: "WI", Match: match, Local: secret.New("local of " + id), Access: tefca.Documents}
}

func (w *world) attempt(t *testing.T, id string) attempt.Attempt {
	t.Helper()
	a, err := w.rows.Attempt(t.Context(), tenant, id)
	expect.NoError(t, err)
	return a
}

// facilities are those of an attempt, by id.
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
	expect.NoError(t, w.worker.Look(t.Context(), tenant, id))
}

func (w *world) choose(t *testing.T, id string, wanted ...string) {
	t.Helper()
	chooser := attempt.Chooser{Watcher: attempt.Watcher{Store: w.rows, Now: w.time}, Store: w.rows, Enqueuer: w}
	_, err := chooser.Choose(t.Context(), tenant, id, secret.New("token"), wanted)
	expect.NoError(t, err)
}

func (w *world) connection(t *testing.T, id string) connection.Connection {
	t.Helper()
	c, err := w.conns.Connection(t.Context(), tenant, id)
	expect.NoError(t, err)
	return c
}

// batchNames are those of what is kept.
func (w *world) batchNames() []string { return slices.Sorted(maps.Keys(w.kept)) }

// plainSealer hides nothing, but what it makes opens only for the same tenant and binding.
type plainSealer struct{}

// Seal implements tokens.Sealer.
func (plainSealer) Seal(_ context.Context, of org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return slices.Concat([]byte(of.Key()+"\n"+boundTo+"\n"), plain), nil
}

// Open implements tokens.Sealer.
func (plainSealer) Open(_ context.Context, of org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(of.Key()+"\n"+boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for something else")
	}
	return plain, nil
}

// openSealer opens everything.
type openSealer struct{ plainSealer }

// Open implements tokens.Sealer.
func (openSealer) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}
