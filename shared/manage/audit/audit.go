// Package audit records changes and their actors in tamper-evident chains (docs/adr/0036-the-dashboard.md). Each row
// contains a number and the hash of the preceding row. The head contains the number and hash of the last row. An
// organisation has one chain for both modes. Changes outside any organisation have their own chain. Rows hold names,
// IDs and settings, but never secrets or content.
package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// Row records a single change. Hash covers all other fields.
type Row struct {
	Seq    int64 // row number within the chain, starting at 1
	At     time.Time
	ID     string
	Tenant org.Tenant // zero outside any organisation; Mode is empty if neither mode applies
	Actor  string     // "operator", "member:<account ID>" or the name of a function
	From   string     // source of the request (WithSource); empty for functions
	Action string
	Target string // ID or name of the changed object
	// Changes holds the settings that changed, without secrets, personal data or complete webhook URLs.
	Changes []Change
	Prev    string // hash of the preceding row; empty in the first row
	Hash    string // SHA-256 of the other fields, in hex
}

// Head identifies the last row of a chain. The Head of an empty chain is zero.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
	ID   string `json:"-"` // ID of the last row
}

// Rows stores chains by organisation. The empty ID denotes the chain of changes outside any organisation. All reads are
// consistent.
type Rows interface {
	// Head reads the head of a chain. It returns the zero Head if the chain is empty.
	Head(ctx context.Context, orgID string) (Head, error)
	// Extend stores a row and the new head of the chain in one transaction. It returns fault.Conflict if before is no
	// longer the head of the chain.
	Extend(ctx context.Context, before Head, row Row) error
	// After returns up to limit rows whose numbers exceed seq, in ascending order.
	After(ctx context.Context, orgID string, seq int64, limit int) ([]Row, error)
	// Before returns up to limit rows that precede a row number, newest first.
	Before(ctx context.Context, orgID string, seq int64, limit int) ([]Row, error)
}

// Log writes and reads audit chains.
type Log struct{ Rows Rows }

// appendTries is the maximum number of attempts to append a row. All changes in an organisation compete for the next
// number in its chain, and all must be recorded. In each round of attempts, one of them succeeds.
const appendTries = 50

// Append adds a row to its tenant's chain or, for a zero tenant, to the chain of changes outside any organisation. It
// sets From, Seq, Prev and Hash. Adding the last row again has no effect. Control characters and line separators become
// spaces, so that all JSON encoders produce the same text. Append returns fault.Conflict if every attempt conflicts
// with a concurrent append.
func (l Log) Append(ctx context.Context, row Row) error {
	return retry.OnConflict(ctx, appendTries, func() error {
		head, next, err := l.Next(ctx, row)
		if err != nil || head.ID == next.ID { // The row was written, but the response was lost.
			return err
		}
		return l.Rows.Extend(ctx, head, next)
	})
}

// Next returns the head of a chain and the row that Append would add, for stores that add the row in the change's own
// transaction. The transaction must require that head is still the chain's head.
func (l Log) Next(ctx context.Context, row Row) (Head, Row, error) {
	next := Row{
		At: row.At.UTC().Truncate(time.Microsecond), ID: plain(row.ID), Tenant: row.Tenant, Actor: plain(row.Actor),
		From: plain(sourceOf(ctx)), Action: plain(row.Action), Target: plain(row.Target), Changes: bounded(row.Changes),
	}
	head, err := l.Rows.Head(ctx, row.Tenant.OrgID)
	if err != nil {
		return Head{}, Row{}, fmt.Errorf("read head: %w", err)
	}
	next.Seq, next.Prev = head.Seq+1, head.Hash
	next.Hash, err = next.sum()
	return head, next, err
}

// maxPage limits the number of rows per page.
const maxPage = 100

// List returns a page of a chain's rows, newest first: the rows that precede row number before or, if before is 0, the
// newest rows. next is the value of before for the next page, or 0 on the last page. limit is clamped to the range 1 to
// 100.
func (l Log) List(ctx context.Context, orgID string, before int64, limit int) (rows []Row, next int64, err error) {
	limit = max(1, min(limit, maxPage))
	if rows, err = l.Rows.Before(ctx, orgID, before, limit); err != nil {
		return nil, 0, fmt.Errorf("list audit rows: %w", err)
	}
	if len(rows) > 0 {
		next = following(rows[len(rows)-1])
	}
	return rows, next, nil
}

// following returns the value of List's before for the rows that precede last, or 0 if last is the first row of the
// chain.
func following(last Row) int64 {
	if last.Seq == 1 {
		return 0
	}
	return last.Seq
}

// Has reports whether a row with the given ID was added after the given time.
func (l Log) Has(ctx context.Context, orgID, id string, since time.Time) (bool, error) {
	for before := int64(0); ; {
		rows, next, err := l.List(ctx, orgID, before, maxPage)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if row.ID == id {
				return true, nil
			}
		}
		if next == 0 || rows[len(rows)-1].At.Before(since) {
			return false, nil
		}
		before = next
	}
}

// stamp is the time layout used in the hashed text.
const stamp = "2006-01-02T15:04:05.000000Z"

// line is the exported form of a row. Names are sorted, as RFC 8785 (JSON Canonicalization Scheme) requires. Empty
// changes and sources are omitted, because rows written before these fields existed must keep their hashes.
type line struct {
	Action  string   `json:"action"`
	Actor   string   `json:"actor"`
	At      string   `json:"at"`
	Changes []Change `json:"changes,omitempty"`
	From    string   `json:"from,omitempty"`
	Hash    string   `json:"hash,omitempty"` // omitted from the text that is hashed
	ID      string   `json:"id"`
	Mode    string   `json:"mode"`
	OrgID   string   `json:"org_id"`
	Prev    string   `json:"prev"`
	Seq     int64    `json:"seq"`
	Target  string   `json:"target"`
}

func (r Row) line() line {
	return line{
		Action: r.Action, Actor: r.Actor, At: r.At.UTC().Format(stamp), Hash: r.Hash, ID: r.ID, Mode: string(r.Tenant.Mode),
		OrgID: r.Tenant.OrgID, Changes: r.Changes, From: r.From, Prev: r.Prev, Seq: r.Seq, Target: r.Target,
	}
}

// row converts a line back to a row. An invalid time becomes the zero time, so the row's hash does not match.
func (l line) row() Row {
	at, err := time.Parse(stamp, l.At)
	if err != nil {
		at = time.Time{}
	}
	return Row{
		Seq: l.Seq, At: at, ID: l.ID, Tenant: org.Tenant{Mode: org.Mode(l.Mode), OrgID: l.OrgID}, Actor: l.Actor,
		From: l.From, Action: l.Action, Target: l.Target, Changes: l.Changes, Prev: l.Prev, Hash: l.Hash,
	}
}

// sum returns the hash that the row should have.
func (r Row) sum() (string, error) {
	r.Hash = ""
	var text bytes.Buffer
	if err := encode(&text, r.line()); err != nil {
		return "", err
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:]), nil
}

// encode writes a value as a line of JSON without HTML escaping.
func encode(into *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(into)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return errors.New("encode an audit row")
	}
	return nil
}

func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, text)
}
