package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	healthy      = "https://ehr.example/healthy"
	broken       = "https://ehr.example/broken"  // returns status 500
	limited      = "https://ehr.example/limited" // returns status 429
	page         = "https://ehr.example/page"    // returns an HTML page
	unregistered = "https://ehr.example/unregistered"
	// returns invalid_grant for the 3 % of connections with withdrawn consent
	someWithdrawn = "https://ehr.example/withdrawn"
	surging       = "https://ehr.example/surging" // returns invalid_grant for all connections
)

// burst simulates a scheduler, workers, and many connections that are due at the same time.
type burst struct {
	*memory

	state   *endpointState
	mu      sync.Mutex
	ids     int
	systems map[string]*system
	where   map[string]string // maps connection IDs to token endpoints
	dead    map[string]bool   // connections whose consent was withdrawn
	early   map[string]bool   // connections revoked after their first refusal
}

// system simulates a single token endpoint.
type system struct {
	calls          int
	scheduled, all int // calls in flight
	mostScheduled  int
	most           int
	answered       []time.Time
	refusals       map[string][]refusal // by connection ID
	rotated        map[string]int       // number of rotations by connection ID
	misused        []string
}

// refusal records the time of an invalid_grant response. rank is the number of token responses in the preceding 15
// minutes, including the refusal.
type refusal struct {
	at   time.Time
	rank int
}

func newBurst(t *testing.T, many int) *burst {
	t.Helper()
	s := &burst{
		memory: newMemory(), state: newEndpointState(), systems: map[string]*system{}, where: map[string]string{},
		dead: map[string]bool{}, early: map[string]bool{},
	}
	endpoints := []string{healthy, broken, limited, page, unregistered, someWithdrawn, surging}
	for _, url := range endpoints {
		s.systems[url] = &system{refusals: map[string][]refusal{}, rotated: map[string]int{}}
	}
	for n := range many {
		id, url := fmt.Sprintf("c0000000-0000-4000-8000-%012d", n), endpoints[n%len(endpoints)]
		s.where[id] = url
		s.dead[id] = url == surging || url == someWithdrawn && n/len(endpoints)%33 == 0
		set := setOf(id + "|0")
		set.TokenEndpoint = url
		row, err := tokens.Vault{Sealer: plainSealer{}}.Seal(t.Context(), tenant, id, 1, set)
		expect.NoError(t, err)
		s.rows[id] = row
		s.connections[id] = connection.Connection{
			ID: id, Tenant: tenant, Status: connection.Authorized, Generation: 1,
			Refresh: connection.RefreshState{RefreshAt: time.Now()},
		}
	}
	return s
}

// RevokeConnection also records whether the revocation followed the connection's first refusal.
func (s *burst) RevokeConnection(ctx context.Context, c connection.Connection, version int64,
	event webhook.Event,
) error {
	before, err := s.Connection(ctx, tenant, c.ID)
	if err != nil {
		return err
	}
	if err := s.memory.RevokeConnection(ctx, c, version, event); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early[c.ID] = before.Refresh.RefusedAt.IsZero()
	return nil
}

func (s *burst) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprint("id ", s.ids)
}

// line simulates the health systems used either for scheduled work or for exports.
type line struct {
	*burst

	isScheduled bool
}

func (l line) Refresh(_ context.Context, _ org.Tenant, old tokens.Set) (tokens.Set, error) {
	here := l.systems[old.TokenEndpoint]
	l.enter(here, 1)
	defer l.enter(here, -1)
	<-time.After(200 * time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	here.calls++
	switch old.TokenEndpoint {
	case broken:
		return tokens.Set{}, errTheir
	case limited:
		return tokens.Set{}, fault.New(fault.Limited, fault.CodeRateLimited, "Slow.").After(90 * time.Second)
	case page:
		return tokens.Set{}, errors.New("token endpoint: no OAuth error code (status 200)")
	case unregistered:
		return tokens.Set{}, spentError{errors.New("token endpoint: invalid_client (status 401)"), true}
	}
	return l.answer(here, old)
}

// answer rotates the refresh token, or refuses it if consent was withdrawn.
func (s *burst) answer(here *system, old tokens.Set) (tokens.Set, error) {
	now := time.Now()
	here.answered = append(here.answered, now)
	id, _, _ := strings.Cut(old.RefreshToken.Reveal(), "|")
	if s.dead[id] {
		rank := 0
		for _, at := range here.answered {
			if now.Sub(at) <= 15*time.Minute {
				rank++
			}
		}
		here.refusals[id] = append(here.refusals[id], refusal{now, rank})
		return tokens.Set{}, tokens.ErrRefused
	}
	if old.RefreshToken.Reveal() != fmt.Sprint(id, "|", here.rotated[id]) {
		here.misused = append(here.misused, id)
	}
	here.rotated[id]++
	old.RefreshToken, old.ExpiresAt = secret.New(fmt.Sprint(id, "|", here.rotated[id])), now.Add(time.Hour)
	return old, nil
}

func (l line) enter(here *system, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	here.all += by
	here.most = max(here.most, here.all)
	if l.isScheduled {
		here.scheduled += by
		here.mostScheduled = max(here.mostScheduled, here.scheduled)
	}
}

func (s *burst) manager(isScheduled bool) tokens.Manager {
	return tokens.NewManager(s, tokens.Vault{Sealer: plainSealer{}}, line{s, isScheduled},
		limiter(s.state, isScheduled, 10*time.Second, s.newID), time.Now, s.newID)
}

// work starts workers that run until the queue is closed.
func (s *burst) work(ctx context.Context, t *testing.T, workers int) (queue chan string, ended func()) {
	t.Helper()
	queue = make(chan string, 2*len(s.where))
	var group sync.WaitGroup
	worker := refresh.NewWorker(s, s.manager(true), s.state, quiet{}, plainSealer{}, nil, nil, quiet{}, time.Now)
	for range workers {
		group.Go(func() {
			for id := range queue {
				if err := worker.Process(ctx, tenant, id); err != nil {
					t.Errorf("look: %v", err)
				}
			}
		})
	}
	return queue, func() { close(queue); group.Wait() }
}

// quiet discards events and revocations.
type quiet struct{}

func (quiet) Revoke(context.Context, org.Tenant, tokens.Set) error { return nil }

func (quiet) EnqueueEvent(context.Context, org.Tenant, string) error { return nil }

// schedule queues due connections every minute, but each connection at most once in 10 minutes. Every tenth message is
// sent twice.
func (s *burst) schedule(queue chan<- string, during time.Duration) {
	sent := map[string]time.Time{}
	for began := time.Now(); time.Since(began) < during; <-time.After(time.Minute) {
		now := time.Now()
		s.memory.mu.Lock()
		var ids []string
		for id, c := range s.connections {
			if at := c.DueAt(); !at.IsZero() && !now.Before(at) && now.Sub(sent[id]) >= 10*time.Minute {
				ids = append(ids, id)
			}
		}
		s.memory.mu.Unlock()
		for n, id := range ids {
			sent[id] = now
			queue <- id
			if n%10 == 0 {
				queue <- id
			}
		}
	}
}

// exports renews the connections' tokens outside the schedule, one connection at a time.
func (s *burst) exports(ctx context.Context, ids []string) {
	manager := s.manager(false)
	for _, id := range ids {
		_, _ = manager.Renew(ctx, tenant, id, 1)
		<-time.After(50 * time.Millisecond)
	}
}

func TestWorkersHandleTenThousandDueConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		many := 10_000
		if testing.Short() {
			many = 2_000
		}
		s := newBurst(t, many)
		queue, ended := s.work(t.Context(), t, 60)
		var group sync.WaitGroup
		for _, url := range []string{healthy, surging} {
			var ids []string
			for id, at := range s.where {
				if at == url && len(ids) < 200 {
					ids = append(ids, id)
				}
			}
			for k := range 2 {
				group.Go(func() { s.exports(t.Context(), ids[100*k:100*k+100]) })
			}
		}
		s.schedule(queue, 3*time.Hour)
		group.Wait()
		ended()
		s.check(t)
	})
}

func (s *burst) check(t *testing.T) {
	t.Helper()
	events := s.told(webhook.AuthorizationEnded)
	revoked, early := map[string]int{}, map[string]int{}
	for id, c := range s.connections {
		url := s.where[id]
		here := s.systems[url]
		if (c.Status == connection.Revoked) != s.dead[id] {
			t.Errorf("%s of %s is %s, withdrawn: %v, care %+v", id, url, c.Status, s.dead[id], c.Refresh)
			continue
		}
		if !s.dead[id] {
			s.checkAlive(t, c)
			continue
		}
		revoked[url]++
		refusals := here.refusals[id]
		last := refusals[len(refusals)-1]
		if s.early[id] {
			early[url]++
		}
		switch {
		case s.early[id] && url == surging && last.rank >= 50:
			t.Errorf("%s was revoked at its first refusal, the %dth answer", id, last.rank)
		case !s.early[id] && url == someWithdrawn:
			t.Errorf("%s waited for a second refusal, where %d of %d were refused", id, len(here.refusals), len(here.answered))
		case !s.early[id] && last.at.Sub(refusals[0].at) < time.Hour:
			t.Errorf("%s was revoked %v after its first refusal", id, last.at.Sub(refusals[0].at))
		}
	}
	if len(events) != revoked[surging]+revoked[someWithdrawn] || len(events) != len(s.events) {
		t.Errorf("%d events of %d revocations, %d in all", len(events), revoked[surging]+revoked[someWithdrawn],
			len(s.events))
	}
	if early[surging] == 0 || early[surging] >= 50 {
		t.Errorf("%d connections were revoked before the guard had 50 answers", early[surging])
	}
	for url, here := range s.systems {
		if here.most > 4 || here.mostScheduled > 3 {
			t.Errorf("%s: %d in flight, %d of them scheduled", url, here.most, here.mostScheduled)
		}
		if len(here.misused) > 0 {
			t.Errorf("%s: rotated-out refresh tokens were used of %v", url, here.misused)
		}
		if len(here.answered) == 0 && here.calls > 60 {
			t.Errorf("%s was called %d times in 3 hours although it failed each time", url, here.calls)
		}
		t.Logf("%-36s %5d calls, at most %d at once (%d scheduled), %4d revoked, %2d of them at once", url, here.calls,
			here.most, here.mostScheduled, revoked[url], early[url])
	}
}

// checkAlive checks that a connection with valid consent has the newest refresh token and is scheduled.
func (s *burst) checkAlive(t *testing.T, c connection.Connection) {
	t.Helper()
	row := s.rows[c.ID]
	set, err := tokens.Vault{Sealer: plainSealer{}}.Open(t.Context(), row)
	expect.NoError(t, err)
	here := s.systems[s.where[c.ID]]
	if want := fmt.Sprint(c.ID, "|", here.rotated[c.ID]); set.RefreshToken.Reveal() != want {
		t.Errorf("%s has refresh token %s, want %s", c.ID, set.RefreshToken.Reveal(), want)
	}
	if isWell := s.where[c.ID] == healthy || s.where[c.ID] == someWithdrawn; isWell && here.rotated[c.ID] == 0 {
		t.Errorf("%s was not refreshed in 3 hours, care %+v", c.ID, c.Refresh)
	}
	if c.DueAt().Before(time.Now().Add(-20 * time.Minute)) {
		t.Errorf("%s is forgotten: due at %v", c.ID, c.DueAt())
	}
}
