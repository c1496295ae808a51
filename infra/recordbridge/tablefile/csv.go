package tablefile

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"recordbridge/infra/recordbridge/views"
)

// csvTable writes RFC 4180 with a header. NULL is an empty cell.
type csvTable struct {
	file    io.Writer
	out     *csv.Writer
	columns []views.Column
	record  []string
}

func newCSV(out io.Writer, columns []views.Column) (*csvTable, error) {
	t := &csvTable{file: out, out: csv.NewWriter(out), columns: columns, record: make([]string, len(columns))}
	for i, column := range columns {
		t.record[i] = column.Name
	}
	return t, t.out.Write(t.record)
}

func (t *csvTable) write(row []any) error {
	for i, cell := range row {
		t.record[i] = t.text(cell, t.columns[i].Cells())
	}
	if len(row) == 1 && t.record[0] == "" { // package csv would write an empty line, which readers skip
		t.out.Flush()
		_, err := io.WriteString(t.file, "\"\"\n")
		return err
	}
	return t.out.Write(t.record)
}

func (t *csvTable) text(cell any, kind views.Kind) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		if kind == views.Date {
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(cell)
}

func (t *csvTable) close() error {
	t.out.Flush()
	return t.out.Error()
}
