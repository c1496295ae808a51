package collect

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/webhook"
)

const (
	// stopBefore is the time before its deadline at which a run saves its checkpoint and hands over to the next one.
	stopBefore = 75 * time.Second
	// lastAnswer is the part of that time in which a run still waits for a pending response.
	lastAnswer = 45 * time.Second
	// saveAfter is the time after which a run saves an intermediate checkpoint; a crash costs no more than that.
	saveAfter = 3 * time.Minute
)

// errPause is the cause of the run's context ending when the time to wait for a response is over.
var errPause = errors.New("time to save")

// schedule holds the times at which a run has to save or end.
type schedule struct {
	now     func() time.Time
	pauseBy time.Time // near the deadline; zero for never
	saveBy  time.Time // when a crash would cost too much work
}

func newSchedule(now func() time.Time, deadline time.Time) schedule {
	s := schedule{now: now, saveBy: now().Add(saveAfter)}
	if !deadline.IsZero() {
		s.pauseBy = deadline.Add(-stopBefore)
	}
	return s
}

// check returns Yield if the deadline is near, and Save if the last checkpoint is old enough. It prefers to save
// between queries, since some servers forget their pages.
func (s schedule) check(isBetween bool) export.Result {
	now := s.now()
	if !s.pauseBy.IsZero() && now.After(s.pauseBy) {
		return export.Result{Kind: export.Yield}
	}
	if now.After(s.saveBy) && (isBetween || now.After(s.saveBy.Add(saveAfter))) {
		return export.Result{Kind: export.Save}
	}
	return export.Result{}
}

// untilPause returns a context that ends with errPause soon after pauseBy: a slow server must not use up the time that
// saving needs.
func (s schedule) untilPause(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.pauseBy.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.pauseBy.Add(lastAnswer).Sub(s.now()), errPause)
}

// pace reports how far a run is, and decides when it ends.
type pace struct {
	schedule schedule
	session  *source.Session
	state    *checkpoint.State
	out      *segmentWriter // nil between segments
	report   func(webhook.Progress)
}

// reportProgress reports the run's progress.
func (p pace) reportProgress() {
	var bytes int64
	if p.out != nil {
		bytes = p.out.made.Bytes
	}
	p.report(p.state.Progress(bytes))
}

// isDue ends a run shortly before its deadline, and saves its progress if the deadline is further off. If the server
// was given up, it does neither: no more requests are sent, so the rest takes no time, whereas a later run would try
// the server once more.
func (p pace) isDue() export.Result {
	if p.session.GivenUp() {
		return export.Result{}
	}
	return p.schedule.check(p.state.Work.Pages == 0)
}
