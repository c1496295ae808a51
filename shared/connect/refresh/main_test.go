package refresh_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const connID = "c0000000-0000-4000-8000-000000000001"

var (
	tenant   = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	start    = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	errOurs  = errors.New("something of ours failed")
	errTheir = errors.New("token endpoint: no OAuth error code (status 500)")
)

const (
	endpointURL = "https://ehr.example/token"
	day         = 24 * time.Hour
)

// memory is an in-memory store of connections, token sets and events with atomic writes.
type memory struct {
	mu          sync.Mutex
	connections map[string]connection.Connection
	rows        map[string]tokens.Row
	events      map[string]webhook.Event
	upstream    map[string][]byte
	saves       int
	meanwhile   func()           // called once, before the next write of a connection
	collisions  int              // number of upcoming connection writes that collide with another transaction
	fails       map[string]error // maps a method's name to the error of every call to it
	lost        map[string]error // maps a call's name to the error that its next call returns although it takes effect
}

func newMemory() *memory {
	return &memory{
		connections: map[string]connection.Connection{}, rows: map[string]tokens.Row{}, events: map[string]webhook.Event{},
		upstream: map[string][]byte{}, fails: map[string]error{}, lost: map[string]error{},
	}
}

func (m *memory) Connection(_ context.Context, of org.Tenant, id string) (connection.Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.connections[id]
	if !ok || of != tenant {
		return connection.Connection{}, fault.Missing("Record not found.")
	}
	return c, m.fails["Connection"]
}

func (m *memory) SaveConnection(_ context.Context, c connection.Connection, events ...webhook.Event) error {
	m.interrupt()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails["SaveConnection"]; err != nil {
		return err
	}
	if err := m.save(c, events...); err != nil {
		return err
	}
	return m.lose("SaveConnection")
}

func (m *memory) RevokeConnection(_ context.Context, c connection.Connection, version int64,
	event webhook.Event,
) error {
	m.interrupt()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails["RevokeConnection"]; err != nil {
		return err
	}
	if row, ok := m.rows[c.ID]; !ok || c.Tenant != tenant || row.Version != version {
		return fault.Stale()
	}
	if err := m.save(c, event); err != nil {
		return err
	}
	delete(m.rows, c.ID)
	return m.lose("RevokeConnection")
}

func (m *memory) Upstream(_ context.Context, of org.Tenant, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sealed, ok := m.upstream[id]
	if !ok || of != tenant {
		return nil, fault.Missing("Record not found.")
	}
	return sealed, m.fails["Upstream"]
}

func (m *memory) ForgetUpstream(_ context.Context, of org.Tenant, id string, sealed []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails["ForgetUpstream"]; err != nil {
		return err
	}
	if of == tenant && bytes.Equal(m.upstream[id], sealed) {
		delete(m.upstream, id)
	}
	return nil
}

func (m *memory) Tokens(_ context.Context, of org.Tenant, id string) (tokens.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[id]
	if !ok || of != tenant {
		return tokens.Row{}, fault.Missing("Record not found.")
	}
	return row, nil
}

func (m *memory) LeaseTokens(_ context.Context, r tokens.Row, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[r.ConnectionID]
	held := r.LeaseOwner != "" && r.LeaseOwner == row.LeaseOwner
	free := row.LeaseUntil.Before(now) && row.RefreshStartedAt.Equal(r.RefreshStartedAt)
	if !ok || r.Tenant != tenant || row.Version != r.Version || !held && !free {
		return fault.Stale()
	}
	row.LeaseOwner, row.LeaseUntil, row.RefreshStartedAt = r.LeaseOwner, r.LeaseUntil, r.RefreshStartedAt
	if r.RefreshStartedAt.IsZero() {
		row.RefreshStartedAt = now
	}
	m.rows[r.ConnectionID] = row
	return nil
}

func (m *memory) ReleaseTokens(_ context.Context, r tokens.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	row := m.rows[r.ConnectionID]
	if r.Tenant != tenant || row.Version != r.Version || r.LeaseOwner == "" || row.LeaseOwner != r.LeaseOwner {
		return fault.Stale()
	}
	row.LeaseOwner, row.LeaseUntil = "", time.Time{}
	if r.RefreshStartedAt.IsZero() {
		row.RefreshStartedAt = time.Time{}
	}
	m.rows[r.ConnectionID] = row
	return nil
}

func (m *memory) RotateTokens(_ context.Context, r tokens.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[r.ConnectionID]
	if !ok || r.Tenant != tenant || row.Version != r.Version-1 {
		return fault.Stale()
	}
	m.rows[r.ConnectionID] = tokens.Row{
		Tenant: r.Tenant, ConnectionID: r.ConnectionID, Sealed: r.Sealed,
		Version: r.Version,
	}
	return nil
}

// interrupt simulates a concurrent write.
func (m *memory) interrupt() {
	m.mu.Lock()
	do := m.meanwhile
	m.meanwhile = nil
	m.mu.Unlock()
	if do != nil {
		do()
	}
}

func (m *memory) lose(call string) error {
	err := m.lost[call]
	delete(m.lost, call)
	return err
}

func (m *memory) save(c connection.Connection, events ...webhook.Event) error {
	if has, ok := m.connections[c.ID]; !ok || c.Tenant != tenant || has.Rev != c.Rev || m.collisions > 0 {
		m.collisions--
		return fault.Stale()
	}
	for _, event := range events {
		if _, ok := m.events[event.ID]; ok {
			return fault.Stale()
		}
	}
	for _, event := range events {
		m.events[event.ID] = event
	}
	c.Rev++
	m.connections[c.ID] = c
	m.saves++
	return nil
}

// told returns the IDs of stored events of the given type, in order.
func (m *memory) told(of webhook.Type) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(m.events)) {
		if m.events[id].Type == of {
			ids = append(ids, id)
		}
	}
	return ids
}

// plainSealer checks bindings but does not encrypt.
type plainSealer struct{ err error }

func (g plainSealer) Seal(_ context.Context, _ org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return append([]byte(boundTo+"\n"), plain...), g.err
}

func (g plainSealer) Open(_ context.Context, _ org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return plain, g.err
}

// endpointState is an in-memory refresh.EndpointState.
type endpointState struct {
	mu         sync.Mutex
	slots      map[string]map[int]holder
	breakers   map[string]refresh.Breaker
	minutes    map[string]map[int64]counts
	fails      map[string]error // maps a method's name to the error of every call to it
	lost       map[string]error // maps a call's name to the error that its next call returns although it takes effect
	collisions int              // number of upcoming breaker writes that collide with other writes
	hangs      bool             // every call blocks until it is cancelled
}

type holder struct {
	owner string
	until time.Time
}

type counts struct{ answered, refused int }

func newEndpointState() *endpointState {
	return &endpointState{
		slots: map[string]map[int]holder{}, breakers: map[string]refresh.Breaker{}, minutes: map[string]map[int64]counts{},
		fails: map[string]error{}, lost: map[string]error{},
	}
}

func (f *endpointState) TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now,
	until time.Time,
) error {
	if err := f.enter(ctx, "TakeSlot"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slots[endpoint] == nil {
		f.slots[endpoint] = map[int]holder{}
	}
	if has, taken := f.slots[endpoint][slot]; taken && has.owner != owner && !now.After(has.until) {
		return fault.Stale()
	}
	f.slots[endpoint][slot] = holder{owner: owner, until: until}
	err := f.lost["TakeSlot"]
	delete(f.lost, "TakeSlot")
	return err
}

func (f *endpointState) ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error {
	if err := f.enter(ctx, "ReleaseSlot"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slots[endpoint][slot].owner == owner {
		delete(f.slots[endpoint], slot)
	}
	return nil
}

func (f *endpointState) Breaker(ctx context.Context, endpoint string) (refresh.Breaker, error) {
	if err := f.enter(ctx, "Breaker"); err != nil {
		return refresh.Breaker{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.breakers[endpoint], nil
}

func (f *endpointState) SaveBreaker(ctx context.Context, endpoint string, seen, next refresh.Breaker) error {
	if err := f.enter(ctx, "SaveBreaker"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if has := f.breakers[endpoint]; has.Failures != seen.Failures || !has.OpenUntil.Equal(seen.OpenUntil) ||
		f.collisions > 0 {
		f.collisions--
		return fault.Stale()
	}
	f.breakers[endpoint] = next
	return nil
}

func (f *endpointState) Count(ctx context.Context, endpoint string, at time.Time, refused bool) error {
	if err := f.enter(ctx, "Count"); err != nil {
		return err
	}
	if refused {
		f.add(endpoint, at, 1, 1)
	} else {
		f.add(endpoint, at, 1, 0)
	}
	return nil
}

func (f *endpointState) Counts(ctx context.Context, endpoint string,
	since time.Time,
) (answered, refused int, err error) {
	if err := f.enter(ctx, "Counts"); err != nil {
		return 0, 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for minute, has := range f.minutes[endpoint] {
		if minute >= since.Unix()/60 {
			answered, refused = answered+has.answered, refused+has.refused
		}
	}
	return answered, refused, nil
}

func (f *endpointState) enter(ctx context.Context, call string) error {
	if f.hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fails[call]
}

func (f *endpointState) add(endpoint string, at time.Time, answered, refused int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.minutes[endpoint] == nil {
		f.minutes[endpoint] = map[int64]counts{}
	}
	minute := at.Unix() / 60
	has := f.minutes[endpoint][minute]
	f.minutes[endpoint][minute] = counts{has.answered + answered, has.refused + refused}
}

// taken returns the number of leased slots at an endpoint.
func (f *endpointState) taken(endpoint string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.slots[endpoint])
}

func setOf(refreshToken string) tokens.Set {
	return tokens.Set{
		AccessToken: secret.New("access"), RefreshToken: secret.New(refreshToken), PatientID: secret.New("patient 1"),
		FHIRBase: "https://ehr.example/r4", TokenEndpoint: endpointURL, ClientID: "client", ExpiresAt: start.Add(time.Hour),
	}
}
