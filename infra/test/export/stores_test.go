package exporttest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/export"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/smart"
	"recordbridge/shared/tokens"
	"recordbridge/shared/webhook"
)

// files keeps objects in memory; an object exists once it is closed.
type files struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (f *files) keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects))
}

func (f *files) get(key string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.objects[key]
	return body, ok
}

func (f *files) put(key string, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = body
}

// work keeps one task.
type work struct {
	mu      sync.Mutex
	task    export.Task
	events  []webhook.Event // success or failure
	reports []webhook.Event // progress
	lookAt  time.Time       // when the sweeper looks at the task
}

func (s *work) claim(owner org.Tenant, id string, now, leaseUntil time.Time) (export.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner != tenant || id != taskID || s.task.Status != export.Pending || !s.task.LeaseUntil.Before(now) {
		return export.Task{}, fault.Stale()
	}
	s.task.Generation++
	s.task.LeaseUntil, s.lookAt = leaseUntil, leaseUntil
	return s.task, nil
}

// change stores a task for who still holds it.
func (s *work) change(task export.Task, change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.task.Generation != task.Generation || s.task.Status != export.Pending {
		return fault.Stale()
	}
	change()
	return nil
}

func (s *work) now() export.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task
}

// desk hands out the tokens of one connection, which it renews at the portal.
type desk struct {
	portal  smart.Portal
	manners plan.Manners

	turn    chan struct{} // of one; no mutex, since a refresh takes virtual time
	set     tokens.Set
	version int64
}

// Of implements export.Manners.
func (d *desk) Of(context.Context, org.Tenant, string) (plan.Manners, error) { return d.manners, nil }

// RefreshDue implements export.Care.
func (d *desk) RefreshDue(context.Context, org.Tenant, string, time.Time) error { return nil }

// Current implements export.Tokens.
func (d *desk) Current(ctx context.Context, _ org.Tenant, _ string) (tokens.Usable, error) {
	defer d.take()()
	if time.Now().Before(d.set.ExpiresAt) {
		return tokens.Usable{Set: d.set, Version: d.version}, nil
	}
	return d.refresh(ctx)
}

// Renew implements export.Tokens.
func (d *desk) Renew(ctx context.Context, _ org.Tenant, _ string, used int64) (tokens.Usable, error) {
	defer d.take()()
	if d.version != used {
		return tokens.Usable{Set: d.set, Version: d.version}, nil
	}
	return d.refresh(ctx)
}

// take waits for the tokens.
func (d *desk) take() (done func()) {
	d.turn <- struct{}{}
	return func() { <-d.turn }
}

func (d *desk) refresh(ctx context.Context) (tokens.Usable, error) {
	if d.set.RefreshToken.Empty() {
		return tokens.Usable{}, tokens.ErrNothingToRenew
	}
	fresh, err := d.portal.Refresh(ctx, tenant, d.set)
	if err != nil {
		return tokens.Usable{}, err
	}
	d.set, d.version = fresh, d.version+1
	return tokens.Usable{Set: d.set, Version: d.version}, nil
}

// life is one run of a worker. It may end at a call: nothing that the worker does afterwards has an effect.
type life struct {
	endsAt int  // the number of the call, from 1; 0 for never
	after  bool // the last call has its effect, and only the answer is lost
	end    context.CancelFunc

	mu    sync.Mutex
	calls int
}

// call makes one call of the worker to the world.
func (l *life) call(do func() error) error {
	l.mu.Lock()
	l.calls++
	last, dead := l.calls == l.endsAt, l.endsAt > 0 && l.calls > l.endsAt
	l.mu.Unlock()
	if dead || last && !l.after {
		l.end()
		return errDead
	}
	err := do()
	if last {
		l.end()
		return errDead
	}
	return err
}

func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endsAt > 0 && l.calls >= l.endsAt
}

// mortal is the world of one life. It implements what a Worker needs to store.
type mortal struct {
	*life

	work  *work
	files *files
	nudge *[]time.Duration
}

// ClaimTask implements export.WorkStore.
func (m mortal) ClaimTask(_ context.Context, owner org.Tenant, id string, now, leaseUntil time.Time) (task export.Task, err error) {
	failure := m.call(func() error { task, err = m.work.claim(owner, id, now, leaseUntil); return err })
	return task, failure
}

// ExtendTask implements export.WorkStore.
func (m mortal) ExtendTask(_ context.Context, task export.Task, leaseUntil time.Time) error {
	return m.call(func() error {
		return m.work.change(task, func() {
			m.work.task.LeaseUntil, m.work.lookAt, m.work.task.Progress = leaseUntil, leaseUntil, task.Progress
		})
	})
}

// ReportTask implements export.WorkStore.
func (m mortal) ReportTask(_ context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	return m.call(func() error {
		return m.work.change(task, func() {
			m.work.task.LeaseUntil, m.work.lookAt, m.work.task.Progress = leaseUntil, leaseUntil, task.Progress
			m.work.task.ProgressAt, m.work.task.ProgressSent = task.ProgressAt, task.ProgressSent
			m.work.reports = append(m.work.reports, event)
		})
	})
}

// ContinueTask implements export.WorkStore.
func (m mortal) ContinueTask(_ context.Context, task export.Task, leaseUntil time.Time) (onward export.Task, err error) {
	err = m.call(func() error {
		return m.work.change(task, func() {
			onward = task
			onward.Generation, onward.Setbacks, onward.LeaseUntil = task.Generation+1, 0, leaseUntil
			m.work.task, m.work.lookAt = onward, leaseUntil
		})
	})
	return onward, err
}

// YieldTask implements export.WorkStore.
func (m mortal) YieldTask(_ context.Context, task export.Task, dueAt time.Time) error {
	return m.call(func() error {
		return m.work.change(task, func() {
			m.work.task, m.work.lookAt = task, dueAt
			m.work.task.LeaseUntil = time.Time{}
		})
	})
}

// FinishTask implements export.WorkStore.
func (m mortal) FinishTask(_ context.Context, task export.Task, event webhook.Event) error {
	return m.call(func() error {
		return m.work.change(task, func() { m.work.task, m.work.events = task, append(m.work.events, event) })
	})
}

// NudgeTask implements export.Nudger.
func (m mortal) NudgeTask(_ context.Context, _ org.Tenant, _ string, delay time.Duration) error {
	return m.call(func() error { *m.nudge = append(*m.nudge, delay); return nil })
}

// NudgeEvent implements export.Nudger.
func (m mortal) NudgeEvent(context.Context, org.Tenant, string) error {
	return m.call(func() error { return nil })
}

// Create implements export.Files.
func (m mortal) Create(_ context.Context, key, _ string) (w export.Writer, err error) {
	err = m.call(func() error { w = &upload{world: m, key: key}; return nil })
	return w, err
}

// Open implements export.Files.
func (m mortal) Open(_ context.Context, key string) (r io.ReadCloser, err error) {
	err = m.call(func() error {
		body, ok := m.files.get(key)
		if !ok {
			return fault.Missing("no object")
		}
		r = io.NopCloser(bytes.NewReader(body))
		return nil
	})
	return r, err
}

// Compose implements export.Files.
func (m mortal) Compose(_ context.Context, key, _ string, parts []string) error {
	return m.call(func() error {
		var whole []byte
		for _, part := range parts {
			body, ok := m.files.get(part)
			if !ok {
				return fault.Missing("no part")
			}
			whole = append(whole, body...)
		}
		m.files.put(key, whole)
		return nil
	})
}

// Delete implements export.Files.
func (m mortal) Delete(_ context.Context, key string) error {
	return m.call(func() error {
		m.files.mu.Lock()
		defer m.files.mu.Unlock()
		delete(m.files.objects, key)
		return nil
	})
}

// upload is an object that is being written.
type upload struct {
	world mortal
	key   string
	body  []byte
	mark  int
}

// Write implements export.Writer.
func (u *upload) Write(p []byte) (int, error) {
	if u.world.over() {
		return 0, errDead
	}
	u.body = append(u.body, p...)
	return len(p), nil
}

// Mark implements export.Writer.
func (u *upload) Mark() { u.mark = len(u.body) }

// Rewind implements export.Writer.
func (u *upload) Rewind(context.Context) error {
	u.body = u.body[:u.mark]
	return nil
}

// Close implements export.Writer.
func (u *upload) Close(context.Context) error {
	return u.world.call(func() error { u.world.files.put(u.key, u.body); return nil })
}

// Abort implements export.Writer.
func (u *upload) Abort(context.Context) {}

// portalOf is a portal for public clients, which follows no token endpoint that has moved.
func portalOf(doer smart.Doer) smart.Portal {
	return smart.NewPortal(doer, nothing{}, nothing{}, time.Now)
}

// nothing has no clients and no endpoints.
type nothing struct{}

func (nothing) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return errors.New("nothing is at hand to authenticate with")
}

func (nothing) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, fault.Missing("There is no such endpoint.")
}
