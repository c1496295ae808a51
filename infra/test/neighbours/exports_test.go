package neighbours_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	workers   = 50 // equals exportworker's MaximumConcurrency in template.yaml
	ofOne     = 20 // the template parameter ExportsPerOrganisation
	lease     = time.Minute
	exporting = 2 * time.Minute      // an export's typical duration
	asking    = 5 * time.Millisecond // typical duration of a store call
)

// flood simulates thousands of exports by one organisation and single exports by others.
type flood struct {
	source

	share share.Share
	rows  *memory.Tasks
	sent  queue.Work

	mu      sync.Mutex
	random  *rand.Rand
	running map[org.Tenant]int
	most    map[org.Tenant]int
	began   map[string]time.Time
}

func newFlood(t *testing.T, places int, isFair bool) *flood {
	t.Helper()
	f := &flood{
		rows:   memory.NewTasks(),
		random: rand.New(rand.NewPCG(1, 1)), running: map[org.Tenant]int{}, most: map[org.Tenant]int{},
		began: map[string]time.Time{},
	}
	f.invocations, f.batch, f.handle = workers, 1, f.work
	f.open(t, isFair)
	f.sent = queue.NewWork(f.queue, f.url, "no deliveries")
	f.share = share.New(f.rows, f.sent, places, lease, time.Now)
	return f
}

func (f *flood) ask(t *testing.T, tenant org.Tenant, many int) {
	t.Helper()
	for i := range many {
		id := fmt.Sprintf("%s%024d", tenant.OrgID[28:], i)
		f.rows.Put(export.Task{
			ID: id, Tenant: tenant, Status: export.Pending, CreatedAt: time.Now().Add(time.Duration(i) * time.Microsecond),
		})
		expect.NoError(t, f.sent.EnqueueTask(t.Context(), tenant, id, 0))
	}
}

// waited requests an export for a tenant and returns the time that passes before it starts.
func (f *flood) waited(t *testing.T, tenant org.Tenant) time.Duration {
	t.Helper()
	asked := time.Now()
	f.ask(t, tenant, 1)
	for {
		<-time.After(10 * time.Millisecond)
		f.mu.Lock()
		for _, task := range f.rows.All(tenant) {
			if at, ok := f.began[task.ID]; ok {
				f.mu.Unlock()
				return at.Sub(asked)
			}
		}
		f.mu.Unlock()
	}
}

// work simulates the export worker. Simulated exports wait instead of reading a record.
func (f *flood) work(ctx context.Context, i due.Item) {
	task, err := f.rows.ClaimTask(ctx, i.Tenant, i.ID, time.Now(), time.Now().Add(lease))
	if err != nil {
		return
	}
	place, isIn, err := f.share.Enter(ctx, task)
	if err != nil || !isIn {
		return
	}
	for left := f.begin(task); left > 0 && ctx.Err() == nil; left -= lease / 3 {
		select {
		case <-time.After(min(left, lease/3)):
		case <-ctx.Done():
		}
		_ = f.share.Keep(ctx, place)
		_ = f.rows.ExtendTask(ctx, task, time.Now().Add(lease))
	}
	f.mu.Lock()
	f.running[task.Tenant]--
	f.mu.Unlock()
	f.share.Leave(ctx, place)
	task.Status = export.Success
	_ = f.rows.FinishTask(ctx, task, webhook.Event{ID: task.ID, Tenant: task.Tenant})
}

// begin records the start of an export and returns its simulated duration.
func (f *flood) begin(task export.Task) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began[task.ID] = time.Now()
	f.running[task.Tenant]++
	f.most[task.Tenant] = max(f.most[task.Tenant], f.running[task.Tenant])
	return around(f.random, exporting)
}

// TestExportFloodDoesNotDelayOtherOrganisations checks that the limit on each organisation's concurrent exports leaves
// workers free for other organisations. A soak test runs 5,000 exports.
func TestExportFloodDoesNotDelayOtherOrganisations(t *testing.T) {
	t.Parallel()
	many := 1000
	if isSoak() {
		many = 5000
	}
	for name, c := range map[string]struct {
		places int
		isFair bool
		atMost time.Duration
	}{
		"with a share":                  {ofOne, true, time.Second},
		"with a share, an unfair queue": {ofOne, false, time.Minute},
		"without a share":               {workers, true, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.atMost > time.Second && !isSoak() {
				t.Skip("what it was without a share is measured in a soak")
			}
			synctest.Test(t, func(t *testing.T) {
				f := newFlood(t, c.places, c.isFair)
				f.ask(t, organisation("1"), many)
				f.rows.Around = func(_ string, effect func() error) error {
					<-time.After(asking)
					return effect()
				}
				f.start(t)
				<-time.After(time.Second)
				first := f.waited(t, organisation("2"))
				<-time.After(10 * time.Minute)
				second := f.waited(t, organisation("3"))
				f.end()
				most := f.most[organisation("1")]
				if most != c.places || max(first, second) > c.atMost {
					t.Errorf("others waited %v and %v, want at most %v; %d ran at once, want %d", first, second, c.atMost,
						most, c.places)
				}
				t.Logf("others waited %v right behind the flood, and %v ten minutes later", first, second)
			})
		})
	}
}
