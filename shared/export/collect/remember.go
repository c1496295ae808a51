package collect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/logx"
)

// memory loads and stores hints about the server behind one endpoint (package known). Without hints, an export takes
// longer but finds the same resources.
type memory struct {
	rows     Known
	endpoint string // empty if the server is not in the catalogue; no hints are then stored
	now      func() time.Time
	server   known.Server // stored hints at the start of the export; zero in later runs
}

// isNone reports whether hints about the server can't be stored.
func (m *memory) isNone() bool { return m.endpoint == "" || m.rows == nil }

// load returns the stored hints, or the zero value if reading them fails.
func (m *memory) load(ctx context.Context) known.Server {
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

// learn adds a lesson to the stored hints unless they already contain it.
func (m *memory) learn(ctx context.Context, lesson known.Lesson) {
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

// expect returns the initial and maximum numbers of concurrent requests, based on earlier exports from the server.
func (m *memory) expect(ctx context.Context) (begin, limit int) {
	m.server = m.load(ctx)
	return m.server.InFlight(m.now())
}

// last moves searches that rarely find resources to the end, so that searches with many pages and references start
// sooner.
func (m *memory) last(queries []plan.Query, mayBatch bool) (ordered []plan.Query, last []string) {
	now := m.now()
	isRare := func(resourceType string) bool {
		isNew := mayBatch && !m.server.IsKnown(resourceType)
		return m.server.IsEmpty(resourceType, now) || isNew && !plan.Common(resourceType)
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

// remember stores what an export with the given options has learned about the server. The state argument is the final
// state of the export.
func (m *memory) remember(ctx context.Context, state *checkpoint.State, options export.Options) {
	learned := state.Server.Learned
	lesson := known.Lesson{
		Release: learned.Release, Load: learned.Load, Batch: learned.Batched,
		Pages: known.Pages{Size: learned.PageSize, Most: learned.MaxSize}, Unlisted: learned.Trials,
		Attaches: learned.Attached,
	}
	for _, account := range state.Accounts.List {
		switch {
		case !account.Planned && !m.hasUnlisted(account.Type, learned.Trials) || !account.Paged:
		case state.Accounts.Counts[account.Type] > 0:
			lesson.Found = append(lesson.Found, account.Type)
		case account.Worst == "" && account.LeftOut == 0 && !isPartial(options, account.Type):
			lesson.Empty = append(lesson.Empty, account.Type)
		}
	}
	m.learn(context.WithoutCancel(ctx), lesson)
}

// hasUnlisted reports whether the server has ever responded to a search for a type that its CapabilityStatement does
// not list.
func (m *memory) hasUnlisted(resourceType string, trials map[string]bool) bool {
	if answered, isTried := trials[resourceType]; isTried {
		return answered
	}
	answers, isKnown := m.server.Answers(resourceType, m.now())
	return isKnown && answers
}

// isPartial reports whether an export with the given options omits some resources of a type.
func isPartial(options export.Options, resourceType string) bool {
	return !options.Since.IsZero() || !options.Wants(resourceType)
}
