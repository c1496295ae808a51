package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Finding is a kind of defect in an audit chain.
type Finding string

const (
	// Missing means that the rows from this number up to the next existing row are missing.
	Missing Finding = "missing"
	// Changed means that the hash of the row does not match its content.
	Changed Finding = "changed"
	// Unlinked means that the row does not contain the preceding row's hash, so one of the two was replaced.
	Unlinked Finding = "unlinked"
	// Misplaced means that the row follows a row with an equal or higher number.
	Misplaced Finding = "misplaced"
	// CutOff means that all rows from this number on are missing, although a known head names a later row.
	CutOff Finding = "cut_off"
	// Added means that the row follows the head of the chain.
	Added Finding = "added"
	// Rewritten means that the row's hash differs from the hash in a head.
	Rewritten Finding = "rewritten"
)

// Break describes a single defect in an audit chain.
type Break struct {
	Seq  int64   `json:"seq"`
	What Finding `json:"what"`
}

// Report holds the result of verifying an audit chain.
type Report struct {
	Rows   int64   `json:"rows"` // number of rows that were read
	Head   Head    `json:"head"`
	Breaks []Break `json:"breaks"` // first defects found, at most 100
}

// IsIntact reports whether the chain has no defects.
func (r Report) IsIntact() bool { return len(r.Breaks) == 0 }

const maxBreaks = 100

// checker checks the rows of an audit chain in order.
type checker struct {
	report Report
	last   Row
	heads  map[int64]string // hashes that the rows must have, by row number
}

func newChecker(known []Head) *checker {
	c := &checker{report: Report{Breaks: []Break{}}, heads: map[int64]string{}}
	for _, head := range known {
		c.expect(head)
	}
	return c
}

func (c *checker) expect(head Head) {
	if head.Seq == 0 {
		return
	}
	if said, isKnown := c.heads[head.Seq]; isKnown && said != head.Hash {
		c.found(head.Seq, Rewritten)
	}
	c.heads[head.Seq] = head.Hash
}

func (c *checker) found(seq int64, what Finding) {
	one := Break{Seq: seq, What: what}
	if len(c.report.Breaks) < maxBreaks && !slices.Contains(c.report.Breaks, one) {
		c.report.Breaks = append(c.report.Breaks, one)
	}
}

func (c *checker) take(row Row) error {
	c.report.Rows++
	sum, err := row.sum()
	if err != nil {
		return err
	}
	if row.Seq <= c.last.Seq {
		c.found(row.Seq, Misplaced)
		return nil
	}
	switch isNext := row.Seq == c.last.Seq+1; {
	case !isNext:
		c.found(c.last.Seq+1, Missing)
	case row.Prev != c.last.Hash:
		c.found(row.Seq, Unlinked)
	}
	if sum != row.Hash {
		c.found(row.Seq, Changed)
	}
	if said, isKnown := c.heads[row.Seq]; isKnown && said != row.Hash {
		c.found(row.Seq, Rewritten)
	}
	c.last = row
	return nil
}

// end reports rows that a head names but that are missing, and rows after the head.
func (c *checker) end(head Head) Report {
	c.report.Head = head
	if c.last.Seq == head.Seq && c.last.Hash != head.Hash {
		c.found(head.Seq, Rewritten)
	}
	if c.last.Seq > head.Seq {
		c.found(head.Seq+1, Added)
	}
	furthest := head.Seq
	for seq := range c.heads {
		furthest = max(furthest, seq)
	}
	if c.last.Seq < furthest {
		c.found(c.last.Seq+1, CutOff)
	}
	return c.report
}

// Verify verifies a complete chain and checks that it still contains the rows named by known heads. Without known
// heads, a chain appears consistent even if all its rows and its head were rewritten. Rows may be added during the
// verification.
func (l Log) Verify(ctx context.Context, orgID string, known ...Head) (Report, error) {
	before, err := l.Rows.Head(ctx, orgID)
	if err != nil {
		return Report{}, fmt.Errorf("read head: %w", err)
	}
	c := newChecker(known)
	c.expect(before)
	if err = l.each(ctx, orgID, c.take); err != nil {
		return Report{}, err
	}
	after, err := l.Rows.Head(ctx, orgID)
	if err != nil {
		return Report{}, fmt.Errorf("read head: %w", err)
	}
	if after.Seq > c.last.Seq && after.Seq > before.Seq {
		after = Head{Seq: c.last.Seq, Hash: c.last.Hash} // The next run checks rows added after the last page.
	}
	return c.end(after), nil
}

// each calls do for every row in a chain, in order.
func (l Log) each(ctx context.Context, orgID string, do func(Row) error) error {
	for last := int64(0); ; {
		rows, err := l.Rows.After(ctx, orgID, last, maxPage)
		if err != nil {
			return fmt.Errorf("read audit rows: %w", err)
		}
		for _, row := range rows {
			if err := do(row); err != nil {
				return err
			}
			last = row.Seq
		}
		if len(rows) < maxPage {
			return nil
		}
	}
}

// headLine is the last line of an export.
type headLine struct {
	Head Head `json:"head"`
}

// Export writes a chain as lines of JSON, oldest first. Each line contains its row's hash. The last line contains the
// head, which Export also returns. The recipient should keep the head. docs/operate/audit.md describes how third
// parties verify an export.
func (l Log) Export(ctx context.Context, orgID string, to io.Writer) (Head, error) {
	var head Head
	err := l.each(ctx, orgID, func(row Row) error {
		head = Head{Seq: row.Seq, Hash: row.Hash, ID: row.ID}
		return write(to, row.line())
	})
	if err != nil {
		return Head{}, err
	}
	return head, write(to, headLine{Head: head})
}

func write(to io.Writer, value any) error {
	var text bytes.Buffer
	if err := encode(&text, value); err != nil {
		return err
	}
	if _, err := to.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

// maxLine is the maximum length of a line in an export, in bytes.
const maxLine = 64 << 10

// VerifyExport verifies Export's output and checks that it contains the rows named by known heads.
func VerifyExport(from io.Reader, known ...Head) (Report, error) {
	c, lines, head, ended := newChecker(known), bufio.NewScanner(from), headLine{}, false
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if ended {
			return Report{}, fmt.Errorf("line %d follows the head", n)
		}
		var read struct {
			line

			Head *Head `json:"head"`
		}
		if json.Unmarshal(lines.Bytes(), &read) != nil {
			return Report{}, fmt.Errorf("line %d is not an audit row", n)
		}
		if read.Head != nil {
			head.Head, ended = *read.Head, true
			continue
		}
		if err := c.take(read.row()); err != nil {
			return Report{}, err
		}
	}
	if err := lines.Err(); err != nil {
		return Report{}, fmt.Errorf("read export: %w", err)
	}
	if !ended {
		return Report{}, errors.New("the last line is not the head: the file was cut off")
	}
	return c.end(head.Head), nil
}
