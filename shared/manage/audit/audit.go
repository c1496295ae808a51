// Package audit owns who changed what, as a chain that tells whether it was tampered with
// (docs/adr/0036-the-dashboard.md): each row has a number and the hash of the row before it, and the head of a chain
// has the last of both. An organisation has one chain for both modes; what is everybody's has one of its own. Rows hold
// names and ids, never content. It knows no AWS.
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

// Row is one change. All but Hash is what Hash is made of.
type Row struct {
	Seq    int64 // 1, 2, 3, … in a chain
	At     time.Time
	ID     string
	Tenant org.Tenant // zero for what is everybody's; without a mode for what an organisation has in neither
	Actor  string     // operator, member:<account id>, or a function
	Action string
	Target string // an id or a name
	Prev   string // Hash of the row before; empty in the first
	Hash   string // SHA-256 of the others, in hex
}

// Head is the end of a chain, zero of an empty one.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
	ID   string `json:"-"` // of the last row
}

// Rows keeps chains, by organisation; the empty id is of what is everybody's. Reads are consistent.
type Rows interface {
	// Head reads the end of a chain, zero when there is none.
	Head(ctx context.Context, orgID string) (Head, error)
	// Extend stores a row and its head together; fault.Conflict when before is not the head any more.
	Extend(ctx context.Context, before Head, row Row) error
	// After lists at most limit rows behind a number, in order.
	After(ctx context.Context, orgID string, seq int64, limit int) ([]Row, error)
	// Before lists at most limit rows in front of a number, newest first.
	Before(ctx context.Context, orgID string, seq int64, limit int) ([]Row, error)
}

// Log writes and reads chains.
type Log struct{ Rows Rows }

// appendTries bounds the race for the next number. All changes of an organisation meet at the end of its chain, and
// what has happened must be recorded: in each round another one of them succeeds.
const appendTries = 50

// Append adds a row to an organisation's chain, or with a zero tenant to that of what is everybody's. Adding the last
// row again changes nothing. Control characters and line separators of texts become spaces, so that all JSON writers
// spell them alike. Errors are fault.Conflict when others kept adding.
func (l Log) Append(ctx context.Context, tenant org.Tenant, at time.Time, id, actor, action, target string) error {
	return retry.OnConflict(ctx, appendTries, func() error {
		head, row, err := l.Next(ctx, tenant, at, id, actor, action, target)
		if err != nil || head.ID == row.ID { // a write whose answer was lost
			return err
		}
		return l.Rows.Extend(ctx, head, row)
	})
}

// Next returns the end of a chain and the row that Append would add to it, for a store that adds the row in one
// transaction with what it records. The transaction's condition is that head is still the end.
func (l Log) Next(ctx context.Context, tenant org.Tenant, at time.Time, id, actor, action,
	target string,
) (head Head, row Row, err error) {
	row = Row{
		At: at.UTC().Truncate(time.Microsecond), ID: plain(id), Tenant: tenant, Actor: plain(actor),
		Action: plain(action), Target: plain(target),
	}
	if head, err = l.Rows.Head(ctx, tenant.OrgID); err != nil {
		return Head{}, Row{}, fmt.Errorf("read head: %w", err)
	}
	row.Seq, row.Prev = head.Seq+1, head.Hash
	row.Hash, err = row.sum()
	return head, row, err
}

// maxPage bounds a page of a list.
const maxPage = 100

// List lists a chain's rows, newest first. before is the number that they stand in front of, 0 for the newest; next is
// the one to go on with, 0 when there are no more. limit is brought between 1 and 100.
func (l Log) List(ctx context.Context, orgID string, before int64, limit int) (rows []Row, next int64, err error) {
	limit = max(1, min(limit, maxPage))
	if rows, err = l.Rows.Before(ctx, orgID, before, limit); err != nil {
		return nil, 0, fmt.Errorf("list audit rows: %w", err)
	}
	if len(rows) > 0 {
		next = rows[len(rows)-1].Seq
	}
	if next == 1 {
		next = 0
	}
	return rows, next, nil
}

// Has tells whether a row with this id was added since a time.
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

// stamp is how times are written in what is hashed.
const stamp = "2006-01-02T15:04:05.000000Z"

// line is a row as it is exported. Names are in order, and nothing is left out, as RFC 8785 (JSON
// Canonicalization Scheme) has it.
type line struct {
	Action string `json:"action"`
	Actor  string `json:"actor"`
	At     string `json:"at"`
	Hash   string `json:"hash,omitempty"` // not in what is hashed
	ID     string `json:"id"`
	Mode   string `json:"mode"`
	OrgID  string `json:"org_id"`
	Prev   string `json:"prev"`
	Seq    int64  `json:"seq"`
	Target string `json:"target"`
}

func (r Row) line() line {
	return line{
		Action: r.Action, Actor: r.Actor, At: r.At.UTC().Format(stamp), Hash: r.Hash, ID: r.ID, Mode: string(r.Tenant.Mode),
		OrgID: r.Tenant.OrgID,
		Prev:  r.Prev, Seq: r.Seq, Target: r.Target,
	}
}

// row reads a line back; a time that is none is the zero time, whose hash is another.
func (l line) row() Row {
	at, err := time.Parse(stamp, l.At)
	if err != nil {
		at = time.Time{}
	}
	return Row{
		Seq: l.Seq, At: at, ID: l.ID, Tenant: org.Tenant{Mode: org.Mode(l.Mode), OrgID: l.OrgID}, Actor: l.Actor,
		Action: l.Action, Target: l.Target,
		Prev: l.Prev, Hash: l.Hash,
	}
}

// sum is what Hash has to be.
func (r Row) sum() (string, error) {
	r.Hash = ""
	var text bytes.Buffer
	if err := encode(&text, r.line()); err != nil {
		return "", err
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:]), nil
}

// encode writes a line of JSON without the escapes that are HTML's.
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
