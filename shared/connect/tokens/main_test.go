package tokens_test

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const connID = "c0000000-0000-4000-8000-000000000001"

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// ehr simulates a token endpoint that accepts each refresh token once, as RFC 9700 section 4.14.2 requires.
type ehr struct {
	mu     sync.Mutex
	now    func() time.Time
	valid  string
	spent  []string // refresh tokens in order of use
	answer func() error
	life   time.Duration
}

func (e *ehr) Refresh(ctx context.Context, _ org.Tenant, old tokens.Set) (tokens.Set, error) {
	if e.answer != nil {
		if err := e.answer(); err != nil {
			return tokens.Set{}, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return tokens.Set{}, err
	}
	used := old.RefreshToken.Reveal()
	e.spent = append(e.spent, used)
	if used != e.valid {
		return tokens.Set{}, tokens.ErrRefused
	}
	e.valid = fmt.Sprint("refresh ", len(e.spent)+1)
	old.AccessToken, old.RefreshToken = secret.New(fmt.Sprint("access ", len(e.spent)+1)), secret.New(e.valid)
	old.ExpiresAt = e.now().Add(e.life)
	return old, nil
}

// world holds a connection with a token set, in a DynamoDB and a KMS created for the test.
type world struct {
	rows  store.Tokens
	flow  store.Conclusions
	vault tokens.Vault
	ehr   *ehr
	slots slots
	at    time.Time

	// Manager dependencies that a test may wrap.
	store     tokens.Store
	refresher tokens.Refresher
}

// slots counts the leased slots at the token endpoint and records each call's outcome.
type slots struct {
	now    func() time.Time
	until  time.Duration // lifetime of a slot; 45 seconds if zero
	refuse error

	mu       sync.Mutex
	taken    int
	outcomes []error
}

func (s *slots) Acquire(context.Context, string) (tokens.Slot, error) {
	if s.refuse != nil {
		return nil, s.refuse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	return slot{s, s.now().Add(cmp.Or(s.until, 45*time.Second))}, nil
}

type slot struct {
	of    *slots
	until time.Time
}

func (s slot) Until() time.Time { return s.until }

func (s slot) Release(_ context.Context, outcome error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.taken--
	s.of.outcomes = append(s.of.outcomes, outcome)
}

func newWorld(t *testing.T, expiresIn time.Duration) *world {
	t.Helper()
	return newWorldUnder(t, expiresIn, nil)
}

// newWorldUnder returns a world whose workers encounter the faults listed in plan.
func newWorldUnder(t *testing.T, expiresIn time.Duration, plan *faults.Plan) *world {
	t.Helper()
	var around []wire.Middleware
	if plan != nil {
		plan.Pause(true)
		around = append(around, plan.Middleware())
	}
	made := tables.New(t, around...)
	_, key := made.Key(t)
	cfg := made.Cloud.Config("WorkerFunction") // faults are injected only into functions
	keys, db := awskms.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)

	w := &world{at: start}
	w.rows = store.Tokens{DB: db, Table: made.Name("TokensTable")}
	w.flow = store.NewConclusions(store.Flow{DB: db, Table: made.Name("FlowTable")}, store.Connections{}, w.rows,
		store.Events{})
	w.vault = tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(key), tokens.Purpose, w.now)}
	w.ehr = &ehr{valid: "refresh 1", now: w.now, life: time.Hour}
	w.store, w.refresher, w.slots.now = w.rows, w.ehr, w.now
	w.put(t, setOf(start.Add(expiresIn)))
	if plan != nil {
		plan.Pause(false)
	}
	return w
}

func (w *world) now() time.Time { return w.at }

// put stores the first version of the connection's tokens, as the callback does.
func (w *world) put(t *testing.T, set tokens.Set) {
	t.Helper()
	row, err := w.vault.Seal(t.Context(), tenant, connID, 1, set)
	expect.NoError(t, err)
	attempt := flow.Attempt{ID: "attempt", Tenant: tenant, ExpiresAt: start}
	expect.NoError(t, w.flow.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: "hash", Tenant: tenant, ExpiresAt: start}))
	expect.NoError(t, w.flow.ConcludeAttempt(t.Context(), flow.Conclusion{Attempt: attempt, Tokens: row}))
}

func (w *world) manager(owner string) tokens.Manager {
	return tokens.NewManager(w.store, w.vault, w.refresher, &w.slots, w.now, func() string { return owner })
}

func setOf(expires time.Time) tokens.Set {
	return tokens.Set{
		AccessToken: secret.New("access 1"), RefreshToken: secret.New("refresh 1"), PatientID: secret.New("patient 1"),
		Scope: "patient/*.read", AskedScope: "openid patient/*.read", FHIRBase: "https://fhir.example/r4",
		TokenEndpoint: "https://fhir.example/token", ClientID: "client", ExpiresAt: expires, EndpointID: "endpoint",
		RawBasic: true,
		Extra:    map[string]string{"practice": "a-1", "site": ""},
	}
}

// stored returns the decrypted token set and its row.
func (w *world) stored(t *testing.T) (tokens.Set, tokens.Row) {
	t.Helper()
	row, err := w.rows.Tokens(t.Context(), tenant, connID)
	expect.NoError(t, err)
	set, err := w.vault.Open(t.Context(), row)
	expect.NoError(t, err)
	return set, row
}

// lease leases the stored row on behalf of another worker, which then remains idle.
func (w *world) lease(t *testing.T, owner string) {
	t.Helper()
	_, row := w.stored(t)
	row.LeaseOwner, row.LeaseUntil = owner, w.at.Add(time.Minute)
	expect.NoError(t, w.rows.LeaseTokens(t.Context(), row, w.at))
}

// wantMarked checks whether the row records that its refresh token may have been used.
func (w *world) wantMarked(t *testing.T, want bool) {
	t.Helper()
	if _, row := w.stored(t); row.RefreshStartedAt.IsZero() == want {
		t.Errorf("a refresh without a known end began at %v, want one: %v", row.RefreshStartedAt, want)
	}
}

func (w *world) wantFree(t *testing.T) {
	t.Helper()
	if _, row := w.stored(t); row.LeaseOwner != "" || !row.LeaseUntil.IsZero() {
		t.Errorf("%q has the lease until %v, want nobody", row.LeaseOwner, row.LeaseUntil)
	}
}
