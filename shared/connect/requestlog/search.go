package requestlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// pageSize is the number of rows on a page.
	pageSize = 50
	// mostRead is the maximum number of rows read for one page, including rows that don't match. batch is the number
	// read at once.
	mostRead, batch = 1000, 100
)

// Log searches the request log. A Log is safe for concurrent use.
type Log struct {
	Rows Reader
	Now  func() time.Time
}

// Reader reads the log's rows regardless of their age; store.RequestLog implements it.
type Reader interface {
	// Requests returns at most limit of the requests in a list that are between two cursors, newest first, and reports
	// whether more exist. The most recent rows may be missing.
	Requests(ctx context.Context, tenant org.Tenant, in List, between Span, limit int) ([]Request, bool, error)
	// SignIns is like Requests, for sign-in attempts.
	SignIns(ctx context.Context, tenant org.Tenant, in List, between Span, limit int) ([]SignIn, bool, error)
}

// List selects a tenant's rows by the first of its fields that is set. The zero List selects all rows.
type List struct {
	RequestID    string
	External     secret.Mark
	ConnectionID string
}

// Span is a range of cursors: at or after From, and before Before. A cursor consists of a row's time and ID, separated
// by a #.
type Span struct{ From, Before string }

// Query selects the rows that match all fields that are set.
type Query struct {
	RequestID    string
	ConnectionID string
	External     []secret.Mark // keyed hashes of an external ID (Marks)
	From, To     time.Time     // at or after From, and before To
	After        string        // cursor of the previous page; empty for the first page
}

// RequestQuery selects requests.
type RequestQuery struct {
	Query

	Status       string // HTTP status such as 404, class such as 4xx, or "error" for requests with an error code
	Route        string
	CredentialID string
}

// SignInQuery selects sign-in attempts.
type SignInQuery struct {
	Query

	Outcome Outcome
	Cause   string
}

// Page is a page of rows, newest first. Next is the cursor of the next page, or "" on the last page. The number of rows
// read for a page is limited, so a page may be short or empty even if more rows follow.
type Page[Row any] struct {
	Rows []Row
	Next string
}

// Stamp is the time format in cursors and row keys.
const Stamp = "2006-01-02T15:04:05.000000Z"

// Cursor returns the request's cursor.
func (r Request) Cursor() string { return cursorOf(r.At, r.ID) }

// Cursor returns the attempt's cursor. In TEFCA mode, an attempt has a row for each facility.
func (s SignIn) Cursor() string {
	if s.DirectoryID != "" {
		return cursorOf(s.At, s.AttemptID+"#"+s.DirectoryID)
	}
	return cursorOf(s.At, s.AttemptID)
}

func cursorOf(at time.Time, id string) string { return at.UTC().Format(Stamp) + "#" + id }

// Requests returns a tenant's requests. The error is fault.Invalid or internal.
func (l Log) Requests(ctx context.Context, tenant org.Tenant, q RequestQuery) (Page[Request], error) {
	accepts, err := statuses(q.Status)
	if err != nil {
		return Page[Request]{}, err
	}
	return search(ctx, l, tenant, q.Query, l.Rows.Requests, func(r Request) bool {
		return accepts(r) && (q.Route == "" || r.Route == q.Route) &&
			(q.CredentialID == "" || r.CredentialID == uuid(q.CredentialID)) &&
			(q.ConnectionID == "" || r.ConnectionID == uuid(q.ConnectionID)) && q.isOf(r.External)
	})
}

// SignIns returns a tenant's sign-in attempts. The error is fault.Invalid or internal.
func (l Log) SignIns(ctx context.Context, tenant org.Tenant, q SignInQuery) (Page[SignIn], error) {
	switch q.Outcome {
	case "", Connected, Failed, Cancelled:
	default:
		return Page[SignIn]{}, fault.BadRequest("The outcome must be connected, failed or cancelled.").About("outcome")
	}
	return search(ctx, l, tenant, q.Query, l.Rows.SignIns, func(s SignIn) bool {
		return (q.Outcome == "" || s.Outcome == q.Outcome) && (q.Cause == "" || s.Cause == q.Cause) &&
			(q.ConnectionID == "" || s.ConnectionID == uuid(q.ConnectionID)) && q.isOf(s.External)
	})
}

// statuses returns a filter for a text in RequestQuery.Status.
func statuses(text string) (func(Request) bool, error) {
	if text == "" {
		return func(Request) bool { return true }, nil
	}
	if text == "error" {
		return func(r Request) bool { return r.Error != "" }, nil
	}
	digit, isClass := strings.CutSuffix(text, "xx")
	number, err := strconv.Atoi(digit)
	switch {
	case err == nil && isClass && number >= 2 && number <= 5:
		return func(r Request) bool { return r.Status/100 == number }, nil
	case err == nil && !isClass && number >= 200 && number <= 599:
		return func(r Request) bool { return r.Status == number }, nil
	}
	return nil, fault.BadRequest("The status must be error, a class such as 4xx, or an HTTP status.").About("status")
}

func (q Query) isOf(external secret.Mark) bool {
	return len(q.External) == 0 || slices.ContainsFunc(q.External, func(m secret.Mark) bool {
		return m.Version == external.Version && slices.Equal(m.Sum, external.Sum)
	})
}

// lists returns the lists that together contain every row that matches the query.
func (q Query) lists() []List {
	switch {
	case q.RequestID != "":
		return []List{{RequestID: uuid(q.RequestID)}}
	case len(q.External) > 0:
		all := make([]List, len(q.External))
		for i, mark := range q.External {
			all[i] = List{External: mark}
		}
		return all
	}
	return []List{{ConnectionID: uuid(q.ConnectionID)}}
}

// span returns the range of cursors that a query's page may contain.
func (q Query) span(now time.Time) (Span, error) {
	from, to := now.Add(-Kept), now.Add(24*time.Hour) // clocks can differ
	if q.From.After(from) {
		from = q.From
	}
	if !q.To.IsZero() && q.To.Before(to) {
		to = q.To
	}
	between := Span{From: from.UTC().Format(Stamp), Before: to.UTC().Format(Stamp)}
	if q.After == "" {
		return between, nil
	}
	at, id, _ := strings.Cut(q.After, "#")
	if _, err := time.Parse(Stamp, at); err != nil || id == "" {
		return Span{}, fault.BadRequest("The cursor is not valid for this list. Use next from the previous page.").
			About("cursor")
	}
	between.Before = min(between.Before, q.After)
	return between, nil
}

// listing is Reader.Requests or Reader.SignIns.
type listing[Row any] func(ctx context.Context, tenant org.Tenant, in List, between Span, limit int) (
	[]Row, bool, error)

func search[Row interface{ Cursor() string }](ctx context.Context, l Log, tenant org.Tenant, q Query,
	list listing[Row], matches func(Row) bool,
) (Page[Row], error) {
	between, err := q.span(l.Now())
	if err != nil {
		return Page[Row]{}, err
	}
	page := Page[Row]{Rows: []Row{}}
	for read := 0; read < mostRead; {
		found, more, err := merged(ctx, tenant, q.lists(), between, list)
		if err != nil {
			return Page[Row]{}, fmt.Errorf("search the request log: %w", err)
		}
		for i, row := range found {
			between.Before = row.Cursor()
			if matches(row) {
				page.Rows = append(page.Rows, row)
			}
			if len(page.Rows) == pageSize && (more || i < len(found)-1) {
				page.Next = between.Before
				return page, nil
			}
		}
		if !more {
			return page, nil
		}
		read += len(found)
	}
	page.Next = between.Before
	return page, nil
}

// merged reads the next rows of several lists, newest first.
func merged[Row interface{ Cursor() string }](ctx context.Context, tenant org.Tenant, lists []List, between Span,
	list listing[Row],
) (rows []Row, more bool, err error) {
	for _, in := range lists {
		found, isCut, err := list(ctx, tenant, in, between, batch)
		if err != nil {
			return nil, false, err
		}
		rows, more = append(rows, found...), more || isCut
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(b.Cursor(), a.Cursor()) })
	return rows[:min(batch, len(rows))], more || len(rows) > batch, nil
}
