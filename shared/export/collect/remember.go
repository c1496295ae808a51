package collect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"recordbridge/shared/export/known"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/logx"
)

// memory reads and stores the hints about one endpoint's server (package known). An export without it takes longer and finds the same.
type memory struct {
	rows     Known
	endpoint string // empty for a server that is not in the catalogue, of which nothing is kept
	now      func() time.Time
}

// isNone reports whether nothing is kept of the server.
func (m memory) isNone() bool { return m.endpoint == "" || m.rows == nil }

// load returns what is known; nothing if it cannot be read.
func (m memory) load(ctx context.Context) known.Server {
	if m.isNone() {
		return known.Server{}
	}
	server, err := m.rows.Known(ctx, m.endpoint)
	if err != nil {
		logx.Add(ctx, slog.Any("known_unread", err))
		return known.Server{}
	}
	return server
}

// learn adds a lesson to what is known by now, unless that says it already.
func (m memory) learn(ctx context.Context, lesson known.Lesson) {
	if m.isNone() {
		return
	}
	now := m.now()
	server, isNew := m.load(ctx).Learn(lesson, now)
	if !isNew {
		return
	}
	if err := m.rows.SaveKnown(ctx, m.endpoint, server, now.Add(known.Life)); err != nil {
		logx.Add(ctx, slog.Any("known_unsaved", err))
	}
}

// expect begins with as many requests at once as the server has borne, in earlier exports or runs.
func (r *run) expect(ctx context.Context) {
	learned := &r.state.Server.Learned
	begin, limit := learned.Begins(), learned.InFlight
	if r.task.Checkpoint == "" && r.held == nil {
		r.server = r.known.load(ctx)
		begin, limit = r.server.InFlight(r.known.now())
	}
	r.session.Expect(begin, limit)
}

// last moves the searches to the end that find nothing in most records, so that those with many pages and references begin sooner.
func (r *run) last(queries []plan.Query, mayBatch bool) (ordered []plan.Query, last []string) {
	now := r.known.now()
	isRare := func(resourceType string) bool {
		return r.server.IsEmpty(resourceType, now) || mayBatch && !r.server.IsKnown(resourceType) && !plan.Common(resourceType)
	}
	var later []plan.Query
	for _, q := range queries {
		if q.Type == "" || !isRare(q.Type) {
			ordered = append(ordered, q)
			continue
		}
		later = append(later, q)
		if !slices.Contains(last, q.Type) {
			last = append(last, q.Type)
		}
	}
	return append(ordered, later...), last
}

// remember keeps what the export has learned of its server.
func (r *run) remember(ctx context.Context) {
	if r.held != nil {
		return
	}
	learned := r.state.Server.Learned
	learned.Bore(r.session.Load())
	lesson := known.Lesson{Release: learned.Release, Load: learned.Load, Batch: learned.Batched, Pages: known.Pages{Size: learned.PageSize, Most: learned.MaxSize}, Unlisted: learned.Trials, Attaches: learned.Attached}
	for _, account := range r.state.Accounts.List {
		switch {
		case !account.Planned && !r.hasUnlisted(account.Type) || !account.Paged:
		case r.state.Accounts.Counts[account.Type] > 0:
			lesson.Found = append(lesson.Found, account.Type)
		case account.Worst == "" && account.LeftOut == 0 && !r.isPartial(account.Type):
			lesson.Empty = append(lesson.Empty, account.Type)
		}
	}
	r.known.learn(context.WithoutCancel(ctx), lesson)
}

// isPartial reports whether this export would not have found all that there is of a type.
func (r *run) isPartial(resourceType string) bool {
	return !r.task.Options.Since.IsZero() || !r.task.Options.Wants(resourceType)
}
