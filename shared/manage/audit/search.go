package audit

import (
	"context"
	"strings"
	"time"
)

// Filter selects rows. Zero fields select all rows.
type Filter struct {
	Actor  string
	Action string    // action or the beginning of one, such as "webhook."
	Target string    // complete target or its first word, which is an ID
	From   time.Time // inclusive
	To     time.Time // exclusive
}

const (
	// maxSearched limits the number of rows that Search reads.
	maxSearched = 500
	// maxDisorder is the maximum time by which a row's time can precede that of an earlier row. An append sets the time
	// before it competes for the next number, and ends with its Lambda function, within 15 minutes.
	maxDisorder = 15 * time.Minute
)

// Search returns up to limit matching rows that precede a row number, newest first. It reads at most 500 rows, so a
// page can have fewer than limit rows, or none, even if another page follows. before, next and limit are as for List.
func (l Log) Search(ctx context.Context, orgID string, f Filter, before int64,
	limit int,
) (found []Row, next int64, err error) {
	limit = max(1, min(limit, maxPage))
	size := maxPage
	if f == (Filter{}) {
		size = limit
	}
	for read := 0; read < maxSearched; read += size {
		var page []Row
		if page, next, err = l.List(ctx, orgID, before, size); err != nil {
			return nil, 0, err
		}
		for _, row := range page {
			if row.At.Before(f.From.Add(-maxDisorder)) {
				return found, 0, nil
			}
			if !f.matches(row) {
				continue
			}
			if found = append(found, row); len(found) == limit {
				return found, following(row), nil
			}
		}
		if next == 0 {
			return found, 0, nil
		}
		before = next
	}
	return found, next, nil
}

func (f Filter) matches(r Row) bool {
	return (f.Actor == "" || r.Actor == f.Actor) && strings.HasPrefix(r.Action, f.Action) &&
		(f.Target == "" || r.Target == f.Target || strings.HasPrefix(r.Target, f.Target+" ")) &&
		!r.At.Before(f.From) && (f.To.IsZero() || r.At.Before(f.To))
}
