package catalogsync

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/words/logx"
)

// Publishing wraps a publish.Publisher and logs each publication's outcome on a separate line. Each line contains only
// predefined words and numbers, never names.
type Publishing struct{ publish.Publisher }

// Publish implements Publisher.
func (p Publishing) Publish(ctx context.Context, mode string) error {
	started := p.Now()
	out, err := p.Publisher.Publish(ctx, mode)
	attrs := []slog.Attr{
		slog.String("mode", mode), slog.String("version", string(out.Live)), slog.Bool("published", out.Published),
		slog.Bool("paused", out.Paused),
		slog.Bool("asks", out.Question.ID != ""), slog.Int("brands", out.Diff.Brands.After),
		slog.Int("brands_removed", out.Diff.Brands.Removed),
		slog.Int("endpoints", out.Diff.Endpoints.After), slog.Int("rows_created", out.Rows.Created),
		slog.Int("rows_changed", out.Rows.Changed),
		slog.Int("rows_suspended", out.Rows.Suspended), slog.Int("pinned", out.Pinned),
		slog.Int("waiting", len(out.Composed.Waiting)), slog.Int64("ms", p.Now().Sub(started).Milliseconds()),
	}
	if err != nil {
		attrs = append(attrs, logx.Failed(), slog.Any("cause", err))
	}
	logx.Note(ctx, "catalogsync.publication", attrs...)
	return err
}

// AskedAt implements Publisher.
func (p Publishing) AskedAt(ctx context.Context, mode string) (time.Time, error) {
	state, err := p.Ledger.Publication(ctx, mode)
	if err != nil {
		return time.Time{}, fmt.Errorf("read publication: %w", err)
	}
	if state.Question.Asked.IsZero() || !state.Waits.Since.IsZero() && state.Waits.Since.Before(state.Question.Asked) {
		return state.Waits.Since, nil
	}
	return state.Question.Asked, nil
}
