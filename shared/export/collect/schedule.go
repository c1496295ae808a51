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
	// stopBefore is how long before its deadline a run saves its checkpoint and hands over to the next one.
	stopBefore = 75 * time.Second
	// lastAnswer is for how long of that time an answer that is under way is still waited for.
	lastAnswer = 45 * time.Second
	// saveAfter is how long a run works before it saves a checkpoint in between, so that a crash costs no more than that.
	saveAfter = 3 * time.Minute
)

// errPause is why the context of a run ends when it has waited for an answer for as long as it may.
var errPause = errors.New("time to save")

// schedule holds the times at which a run has to save or end.
type schedule struct {
	now     func() time.Time
	pauseBy time.Time // when the deadline is near; zero for never
	saveBy  time.Time // when there is enough that a crash would cost
}

func newSchedule(now func() time.Time, deadline time.Time) schedule {
	s := schedule{now: now, saveBy: now().Add(saveAfter)}
	if !deadline.IsZero() {
		s.pauseBy = deadline.Add(-stopBefore)
	}
	return s
}

// check is Yield when the deadline is near, and Save when the last checkpoint was a while ago. The middle of a query is
// a worse place to save than its end, since some servers forget their pages.
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

// untilPause is a context that ends with errPause soon after pauseBy: a server that is slow to answer must not take
// the time that saving needs.
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

// tell reports how far the run is.
func (p pace) tell() {
	var bytes int64
	if p.out != nil {
		bytes = p.out.made.Bytes
	}
	p.report(p.state.Progress(bytes))
}

// isDue ends a run shortly before its deadline, and saves its progress if the deadline is further off. A server that
// was given up is asked for nothing, so the rest takes no time; a later run would ask it once more.
func (p pace) isDue() export.Result {
	if p.session.GivenUp() {
		return export.Result{}
	}
	return p.schedule.check(p.state.Work.Pages == 0)
}
