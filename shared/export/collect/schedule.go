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
	// stopBefore is the time before a run's deadline at which the run saves its checkpoint and yields to the next run.
	stopBefore = 75 * time.Second
	// lastAnswer is the part of stopBefore during which a run may still wait for a pending response.
	lastAnswer = 45 * time.Second
	// saveAfter is the interval between intermediate checkpoints. A crash loses at most the work of one interval.
	saveAfter = 3 * time.Minute
)

// errPause is the context's cancellation cause when a run must stop waiting for responses.
var errPause = errors.New("time to save")

// schedule holds the times at which a run must save its progress or end.
type schedule struct {
	now     func() time.Time
	pauseBy time.Time // shortly before the deadline; zero if there is no deadline
	saveBy  time.Time // time of the next intermediate checkpoint
}

func newSchedule(now func() time.Time, deadline time.Time) schedule {
	s := schedule{now: now, saveBy: now().Add(saveAfter)}
	if !deadline.IsZero() {
		s.pauseBy = deadline.Add(-stopBefore)
	}
	return s
}

// check returns Yield if the deadline is near, or Save if the last checkpoint is old enough. check prefers to save
// between queries, because some servers discard the pages of an interrupted query.
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

// untilPause returns a context that is cancelled with errPause soon after pauseBy, so a slow server can't use up the
// time needed to save a checkpoint.
func (s schedule) untilPause(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.pauseBy.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.pauseBy.Add(lastAnswer).Sub(s.now()), errPause)
}

// pace reports a run's progress and decides when the run ends.
type pace struct {
	schedule schedule
	session  *source.Session
	state    *checkpoint.State
	out      *segmentWriter // nil between segments
	report   func(webhook.Progress)
}

func (p pace) reportProgress() {
	var bytes int64
	if p.out != nil {
		bytes = p.out.made.Bytes
	}
	p.report(p.state.Progress(bytes))
}

// isDue decides whether a run must save its progress, or end because its deadline is near. Once the export has given up
// on the server, isDue always returns Done: the remaining work sends no requests, and a later run would try the server
// again.
func (p pace) isDue() export.Result {
	if p.session.GivenUp() {
		return export.Result{}
	}
	return p.schedule.check(p.state.Work.Pages == 0)
}
