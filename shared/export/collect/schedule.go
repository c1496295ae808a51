package collect

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/export"
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

// schedule is when a run has to end.
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

// check is Yield when the deadline is near, and Save when the last checkpoint was a while ago. The middle of a query is a worse
// place to save than its end, since some servers forget their pages.
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

// untilPause is a context that ends with errPause soon after pauseBy: a server that is slow to answer must not take the time
// that saving needs.
func (s schedule) untilPause(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.pauseBy.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.pauseBy.Add(lastAnswer).Sub(s.now()), errPause)
}
