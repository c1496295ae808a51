package listing

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// readCSV reads comma-separated values (RFC 4180), identifying columns by their names in the header.
func readCSV(ctx context.Context, list *bufio.Reader, out *output) error {
	window := &window{from: list}
	rows := csv.NewReader(window)
	rows.FieldsPerRecord, rows.ReuseRecord = -1, true
	window.left = maxEntry
	names, err := rows.Read()
	if err != nil {
		return refusedLine(err, 1)
	}
	kinds := make([]column, len(names))
	hasURL, hasName, line := false, false, 1
	for i, name := range names {
		kinds[i] = columnOf(name)
		hasURL, hasName = hasURL || kinds[i] == urlColumn, hasName || kinds[i] == nameColumn || kinds[i] == namesColumn
	}
	if !hasURL || !hasName {
		return &Refused{Reason: NotFormat, Line: 1}
	}
	for {
		window.left = maxEntry
		fields, broken := rows.Read()
		if errors.Is(broken, io.EOF) {
			return nil
		}
		if _, isRow := errors.AsType[*csv.ParseError](broken); broken != nil && !isRow {
			return refusedLine(broken, line+1)
		}
		if err = out.entry(ctx); err != nil {
			return err
		}
		if broken == nil {
			line, _ = rows.FieldPos(0)
		}
		if err = out.csvRow(fields, kinds, line, broken); err != nil {
			return err
		}
	}
}

func (o *output) csvRow(fields []string, kinds []column, line int, broken error) error {
	if broken != nil {
		failure, _ := errors.AsType[*csv.ParseError](broken)
		o.report.omitted(NotFormat, "line "+strconv.Itoa(failure.StartLine))
		return nil
	}
	place := "line " + strconv.Itoa(line)
	if len(fields) > len(kinds) {
		o.report.omitted(NotFormat, place)
		return nil
	}
	var r row
	for i, field := range fields {
		if !utf8.ValidString(field) {
			o.report.omitted(BadText, place)
			return nil
		}
		if r[kinds[i]] == "" {
			r[kinds[i]] = field
		}
	}
	return o.row(place, r)
}

// refusedLine returns the error for a list that is unreadable from the given line onwards.
func refusedLine(err error, line int) error {
	if failure, isRefused := errors.AsType[*Refused](err); isRefused {
		return &Refused{Reason: failure.Reason, Line: line}
	}
	if failure, isRow := errors.AsType[*csv.ParseError](err); isRow {
		return &Refused{Reason: NotFormat, Line: failure.Line}
	}
	return err
}

// window limits the number of bytes that can be read until the window is reset. Without this limit, an unclosed quote
// would cause the rest of the list to be read into memory.
type window struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (w *window) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, refused(TooLarge)
	}
	n, err := w.from.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err //nolint:wrapcheck // a reader's own, io.EOF among them
}
