package waits_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/functions/sweeper"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	lease  = time.Minute // exportworker's lease duration in template.yaml
	taskID = "7a000000000040008000000000000001"
	// besideID is the ID of another export in the same organisation. The organisation's exports run one at a time.
	besideID = "7a000000000040008000000000000002"
)

var (
	tenant  = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errDead = errors.New("the worker is dead")
)

// rows stores tasks and the organisation's slots.
type rows interface {
	worker.Store
	share.Rows
	due.Rows
	ForgetFile(ctx context.Context, task export.Task) error
}

type message struct {
	item due.Item
	at   time.Time // time at which the message becomes visible
}

// world simulates two exports, their workers, the sweeper and the queue. Events come only from the test, the queue and
// the workers' heartbeats.
type world struct {
	t      *testing.T
	rows   rows
	shards int

	mu          sync.Mutex
	queue       []message
	running     map[string]*life     // running invocations by task ID
	postponedTo map[string]time.Time // time until which each task is postponed
	last        export.Task          // first task, as last claimed
	claims      int
	faults      []string
	workers     sync.WaitGroup
}

func newWorld(t *testing.T, of rows, shards int) *world {
	t.Helper()
	return &world{t: t, rows: of, shards: shards, running: map[string]*life{}, postponedTo: map[string]time.Time{}}
}

// Send implements due.Queue in the same way as queue.Work.
func (w *world) Send(_ context.Context, i due.Item, delay time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delay = (min(max(delay, 0), due.LongestDelay) + time.Second - 1).Truncate(time.Second)
	w.queue = append(w.queue, message{i, time.Now().Add(delay)})
	return nil
}

func (w *world) faultf(format string, values ...any) {
	w.faults = append(w.faults, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, values...))
}

// next removes and returns the first message that becomes visible no later than until.
func (w *world) next(until time.Time) (message, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.queue, func(a, b message) int { return a.at.Compare(b.at) })
	if len(w.queue) == 0 || w.queue[0].at.After(until) {
		return message{}, false
	}
	first := w.queue[0]
	w.queue = w.queue[1:]
	return first, true
}

// pass advances the time to until, delivering messages as they become visible.
func (w *world) pass(until time.Time) {
	for {
		m, ok := w.next(until)
		if !ok {
			break
		}
		<-time.After(time.Until(m.at))
		w.deliver(m.item)
	}
	<-time.After(time.Until(until))
	synctest.Wait()
}

// deliver invokes the worker with a message and returns when the worker blocks or ends.
func (w *world) deliver(i due.Item) {
	l := &life{world: w, ends: make(chan error, 1)}
	w.workers.Go(func() {
		ctx, _ := logx.Begin(context.Background())
		if i.Kind == due.Share {
			_ = l.worker().Admit(ctx, i.Tenant)
			return
		}
		_ = l.worker().Work(ctx, i.Tenant, i.ID, time.Time{})
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.running[i.ID] == l {
			delete(w.running, i.ID)
		}
	})
	synctest.Wait()
}

func (w *world) sweep() {
	work := due.NewSweep(w.rows, w, w.shards, time.Now)
	ctx, _ := logx.Begin(context.Background())
	if err := sweeper.New(work, w.rows, noFiles{}, time.Now)(ctx, time.Now()); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faultf("sweep: %v", err)
	}
}

func (w *world) task(id string) export.Task {
	task, err := w.rows.Task(context.Background(), tenant, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return task
}

// of returns the running invocation that holds a task, or nil if there is none.
func (w *world) of(id string) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[id]
}

// end ends an invocation by making its token request return the error how.
func (w *world) end(l *life, how error, wait time.Duration) {
	w.mu.Lock()
	if wait > 0 {
		w.postponedTo[l.taskID] = time.Now().Add(wait)
	}
	w.mu.Unlock()
	l.ends <- how
	synctest.Wait()
}

type noFiles struct{}

func (noFiles) Delete(context.Context, string) error { return nil }

// claimed records a claim and checks that it is not too early and that no other worker holds the task.
func (w *world) claimed(l *life, task export.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[task.ID] != nil {
		w.faultf("%s is claimed while another worker has it", task.ID)
	}
	if until := w.postponedTo[task.ID]; time.Now().Before(until) {
		w.faultf("%s is claimed %v before the time that it was put off to", task.ID, time.Until(until))
	}
	l.taskID, w.running[task.ID] = task.ID, l
	if task.ID == taskID {
		w.last = task
	}
	w.claims++
}

// joined records that a worker has released its task, which then waits in the organisation's queue.
func (w *world) joined(task export.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, task.ID)
}

// lateWrite simulates a delayed write from the worker's previous run. The write may take effect only while the previous
// run is in progress.
func (w *world) lateWrite() error {
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	err := w.rows.ExtendTask(context.Background(), last, time.Now().Add(lease))
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
