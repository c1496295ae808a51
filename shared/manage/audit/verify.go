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

// Finding is what is wrong with a chain.
type Finding string

// What can be wrong.
const (
	// Missing: rows from this number on are not there, up to the next that is.
	Missing Finding = "missing"
	// Changed: the row's hash is not that of what it says.
	Changed Finding = "changed"
	// Unlinked: the row does not name the hash of the row before, so one of both was exchanged.
	Unlinked Finding = "unlinked"
	// Misplaced: the row stands behind one with its number or a higher one.
	Misplaced Finding = "misplaced"
	// CutOff: rows from this number on are not there, though a head tells of them.
	CutOff Finding = "cut_off"
	// Added: the row stands behind the head.
	Added Finding = "added"
	// Rewritten: a head tells another hash of the row.
	Rewritten Finding = "rewritten"
)

// Break is one place where a chain is broken.
type Break struct {
	Seq  int64   `json:"seq"`
	What Finding `json:"what"`
}

// Report is what a look at a whole chain has found.
type Report struct {
	Rows   int64   `json:"rows"` // that were read
	Head   Head    `json:"head"`
	Breaks []Break `json:"breaks"` // at most 100, of the first
}

// Whole tells whether nothing was found.
func (r Report) Whole() bool { return len(r.Breaks) == 0 }

const maxBreaks = 100

// checker goes along a chain.
type checker struct {
	report Report
	last   Row
	heads  map[int64]string // hashes that rows of these numbers have to have
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

// end finds what a head tells of and the rows do not have, and rows that it does not tell of.
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

// Verify looks at a whole chain, and whether the rows that known heads tell of are still in it: a chain that was
// written anew from some row on, with its head, is whole in itself. It may be added to meanwhile.
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
		after = Head{Seq: c.last.Seq, Hash: c.last.Hash} // what was added behind the last page is for the next look
	}
	return c.end(after), nil
}

// each goes over a chain in order.
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

// headLine ends an export.
type headLine struct {
	Head Head `json:"head"`
}

// Export writes a chain as lines of JSON, oldest first, each with its hash, and its head as the last, which whoever
// gets the file can keep. docs/operate/audit.md says how others verify it. It returns the head.
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

// maxLine bounds a line of an export in bytes.
const maxLine = 64 << 10

// VerifyExport looks at what Export has written, and whether the rows that known heads tell of are in it.
func VerifyExport(from io.Reader, known ...Head) (Report, error) {
	c, lines, head, ended := newChecker(known), bufio.NewScanner(from), headLine{}, false
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if ended {
			return Report{}, fmt.Errorf("line %d stands behind the head", n)
		}
		var read struct {
			line

			Head *Head `json:"head"`
		}
		if json.Unmarshal(lines.Bytes(), &read) != nil {
			return Report{}, fmt.Errorf("line %d is no row of an export", n)
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
