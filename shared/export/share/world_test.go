package share_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const lease = time.Minute

var (
	tenant  = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errDead = errors.New("the worker is dead")
)

// life simulates one worker invocation, which may crash during a call.
type life struct {
	endsAt int  // number of the call that crashes the worker, starting from 1; 0 if none
	after  bool // whether the call during which the worker crashes still takes effect
	calls  int
}

func (l *life) over() bool { return l.endsAt > 0 && l.calls >= l.endsAt }

func (l *life) call(effect func() error) error {
	if l.over() {
		return errDead
	}
	l.calls++
	if !l.over() {
		return effect()
	}
	if l.after {
		_ = effect()
	}
	return errDead
}

// dying wraps the store for one worker invocation. After the worker crashes, every call fails.
type dying struct {
	*memory.Tasks

	life *life
}

func (d dying) Share(ctx context.Context, of org.Tenant) (row share.Row, err error) {
	err = d.life.call(func() error { row, err = d.Tasks.Share(ctx, of); return err })
	return row, err
}

func (d dying) TakePlace(ctx context.Context, of org.Tenant, seen share.Row, place int, next share.Holder) error {
	return d.life.call(func() error { return d.Tasks.TakePlace(ctx, of, seen, place, next) })
}

func (d dying) KeepPlace(ctx context.Context, place share.Place, until time.Time) error {
	return d.life.call(func() error { return d.Tasks.KeepPlace(ctx, place, until) })
}

func (d dying) LeavePlace(ctx context.Context, place share.Place) (row share.Row, err error) {
	err = d.life.call(func() error { row, err = d.Tasks.LeavePlace(ctx, place); return err })
	return row, err
}

func (d dying) AnnounceLine(ctx context.Context, of org.Tenant, joinedAt, dueAt time.Time) error {
	return d.life.call(func() error { return d.Tasks.AnnounceLine(ctx, of, joinedAt, dueAt) })
}

func (d dying) EndLine(ctx context.Context, of org.Tenant, seen time.Time) error {
	return d.life.call(func() error { return d.Tasks.EndLine(ctx, of, seen) })
}

func (d dying) JoinLine(ctx context.Context, task export.Task, at time.Time) error {
	return d.life.call(func() error { return d.Tasks.JoinLine(ctx, task, at) })
}

func (d dying) Line(ctx context.Context, of org.Tenant, limit int) (line []share.Waiting, err error) {
	err = d.life.call(func() error { line, err = d.Tasks.Line(ctx, of, limit); return err })
	return line, err
}

func (d dying) Task(ctx context.Context, of org.Tenant, id string) (task export.Task, err error) {
	err = d.life.call(func() error { task, err = d.Tasks.Task(ctx, of, id); return err })
	return task, err
}

func (d dying) CallTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	return d.life.call(func() error { return d.Tasks.CallTask(ctx, task, dueAt) })
}

// world simulates one tenant's exports and runs a worker for each message.
type world struct {
	tasks *memory.Tasks
	size  int
	takes time.Duration
	// next returns a worker's life, the kind of result that ends its run, and the pause before the next run. If next is
	// nil, every worker survives and completes its export.
	next func() (*life, export.Kind, time.Duration)

	mu      sync.Mutex
	running int
	most    int
	began   map[string]bool // tasks that have begun, by ID
	workers sync.WaitGroup
}

func newWorld(size int, takes time.Duration) *world {
	return &world{tasks: memory.NewTasks(), size: size, takes: takes}
}

func taskNumber(i int) string { return fmt.Sprintf("7a0000000000400080000000%08d", i) }

// ask creates a range of tasks and sends a message for each one.
func (w *world) ask(ctx context.Context, from, to int) {
	for number := from; number < to; number++ {
		w.tasks.Put(pendingTask(number))
		w.send(ctx, taskNumber(number), 0)
	}
}

func pendingTask(number int) export.Task {
	return export.Task{
		ID: taskNumber(number), Tenant: tenant, Status: export.Pending,
		CreatedAt: time.Now().Add(time.Duration(number) * time.Microsecond),
	}
}

// countWrites returns a counter of successful writes to the share and its line.
func (w *world) countWrites() *int {
	writes := new(int)
	w.tasks.Around = func(call string, effect func() error) error {
		err := effect()
		switch call {
		case "TakePlace", "KeepPlace", "LeavePlace", "AnnounceLine", "EndLine", "JoinLine", "CallTask":
			if err == nil {
				w.mu.Lock()
				defer w.mu.Unlock()
				*writes++
			}
		}
		return err
	}
	return writes
}

// send invokes a worker for a task after a delay.
func (w *world) send(ctx context.Context, id string, delay time.Duration) {
	w.workers.Go(func() {
		<-time.After(delay)
		w.invoke(ctx, id)
	})
}

// messages is a worker's Enqueuer. If the worker has crashed, enqueuing fails.
type messages struct {
	world *world
	life  *life
}

func (m messages) EnqueueTask(ctx context.Context, _ org.Tenant, id string, delay time.Duration) error {
	return m.life.call(func() error {
		m.world.send(context.WithoutCancel(ctx), id, delay)
		return nil
	})
}

func (w *world) share(l *life) share.Share {
	return share.New(dying{w.tasks, l}, messages{w, l}, w.size, lease, time.Now)
}

// invoke simulates an export worker (worker.Work) that does not perform an export.
func (w *world) invoke(ctx context.Context, id string) {
	l, end, wait := &life{}, export.Done, time.Duration(0)
	if w.next != nil {
		l, end, wait = w.next()
	}
	s := w.share(l)
	task, err := w.tasks.ClaimTask(ctx, tenant, id, time.Now(), time.Now().Add(lease))
	if err != nil {
		return
	}
	place, isIn, err := s.Enter(ctx, task)
	if err != nil || !isIn {
		return
	}
	if !w.run(ctx, s, place, task) {
		return
	}
	if end == export.Done || wait > 0 {
		s.Leave(ctx, place)
	}
	if l.over() {
		return
	}
	if end == export.Yield {
		var until time.Time
		if wait > 0 {
			until = time.Now().Add(wait)
			wait += time.Second
		}
		_ = w.tasks.YieldTask(ctx, task, until, time.Now().Add(wait+lease))
		_ = messages{w, l}.EnqueueTask(ctx, tenant, id, wait)
		return
	}
	task.Status = export.Success
	_ = w.tasks.FinishTask(ctx, task, webhook.Event{ID: id, Tenant: tenant})
}

// run simulates an export that renews the slot and the task's lease until the export's duration has passed. It returns
// false if a renewal fails.
func (w *world) run(ctx context.Context, s share.Share, place share.Place, task export.Task) bool {
	w.mu.Lock()
	w.running++
	w.most = max(w.most, w.running)
	if w.began == nil {
		w.began = map[string]bool{}
	}
	w.began[task.ID] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
	}()
	for left := w.takes; left > 0; left -= lease / 3 {
		<-time.After(min(left, lease/3))
		if s.Keep(ctx, place) != nil || w.tasks.ExtendTask(ctx, task, time.Now().Add(lease)) != nil {
			return false
		}
	}
	return true
}

// sweep runs the sweeper once a minute until no task is pending or the given duration has passed.
func (w *world) sweep(ctx context.Context, long time.Duration) {
	for end := time.Now().Add(long); time.Now().Before(end) && w.pending() > 0; {
		<-time.After(time.Minute)
		now := time.Now()
		for _, task := range w.tasks.All(tenant) {
			if at := w.tasks.SweepTime(tenant, task.ID); task.Status == export.Pending && !at.IsZero() && at.Before(now) {
				w.send(ctx, task.ID, time.Second)
			}
		}
		w.sweepShare(ctx)
	}
}

func (w *world) sweepShare(ctx context.Context) {
	if at := w.tasks.ShareAt(tenant); at.IsZero() || at.After(time.Now()) {
		return
	}
	w.tasks.PostponeShare(tenant, time.Now().Add(2*time.Minute))
	l := &life{}
	if w.next != nil {
		l, _, _ = w.next()
	}
	_ = w.share(l).Admit(ctx, tenant)
}

func (w *world) pending() (many int) {
	for _, task := range w.tasks.All(tenant) {
		if task.Status == export.Pending {
			many++
		}
	}
	return many
}

// checkNothingIsLeft waits until all workers and leases have ended, then checks that no export is pending, the line is
// no longer announced and every slot is free.
func (w *world) checkNothingIsLeft(t *testing.T) {
	t.Helper()
	w.workers.Wait()
	if n := w.pending(); n != 0 {
		t.Errorf("%d exports are still pending", n)
	}
	w.next = nil
	for range 40 {
		<-time.After(2 * time.Minute)
		w.sweepShare(t.Context())
	}
	row, err := w.tasks.Share(t.Context(), tenant)
	if err != nil || !row.JoinedAt.IsZero() || !w.tasks.ShareAt(tenant).IsZero() {
		t.Errorf("the line is still announced: %+v, %v", row, err)
	}
	for number, holder := range row.Places {
		if holder.Until.After(time.Now()) {
			t.Errorf("place %d is still taken: %+v", number, holder)
		}
	}
}

// accidents returns a function for world.next. Some workers crash during a random call, and some runs yield before the
// export ends.
func accidents(random *rand.Rand) func() (*life, export.Kind, time.Duration) {
	var mu sync.Mutex
	return func() (*life, export.Kind, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		l := &life{}
		if random.IntN(4) == 0 {
			l.endsAt, l.after = 1+random.IntN(9), random.IntN(2) == 0
		}
		switch random.IntN(5) {
		case 0:
			return l, export.Yield, 0
		case 1:
			return l, export.Yield, time.Duration(1+random.IntN(90)) * time.Second
		}
		return l, export.Done, 0
	}
}

// lost returns a hook that makes the named calls fail with a conflict and without any effect.
func lost(calls ...string) memory.Hook {
	return func(call string, effect func() error) error {
		if slices.Contains(calls, call) {
			return fault.Stale()
		}
		return effect()
	}
}
