package tablefile

import (
	"io"
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"

	"recordbridge/infra/recordbridge/views"
)

// Limits on a row group, which is in memory until it is complete.
const (
	groupRows  = 100_000
	groupBytes = 16 << 20 // of strings
)

// parquetTable writes a Parquet file, compressed with Snappy.
type parquetTable struct {
	out     *parquet.GenericWriter[any]
	columns []views.Column
	rows    int // in the current row group
	bytes   int
}

func newParquet(out io.Writer, columns []views.Column) *parquetTable {
	schema := parquet.NewSchema("table", schemaOf(columns))
	writer := parquet.NewGenericWriter[any](
		out, schema, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("recordbridge", "", ""),
	)
	return &parquetTable{out: writer, columns: columns, rows: 0, bytes: 0}
}

func (t *parquetTable) write(row []any) error {
	values := make(parquet.Row, len(row))
	for i, cell := range row {
		value, size := t.value(cell, t.columns[i].Cells())
		t.bytes += size
		level := 1 // the column is optional, and this cell has a value
		if value.IsNull() {
			level = 0
		}
		values[i] = value.Level(0, level, i)
	}
	if _, err := t.out.WriteRows([]parquet.Row{values}); err != nil {
		return err
	}
	if t.rows++; t.rows < groupRows && t.bytes < groupBytes {
		return nil
	}
	t.rows, t.bytes = 0, 0
	return t.out.Flush()
}

// value converts a cell, and returns the size of its text.
func (t *parquetTable) value(cell any, kind views.Kind) (value parquet.Value, size int) {
	switch v := cell.(type) {
	case string:
		return parquet.ByteArrayValue([]byte(v)), len(v)
	case bool:
		return parquet.BooleanValue(v), 0
	case int32:
		return parquet.Int32Value(v), 0
	case int64:
		return parquet.Int64Value(v), 0
	case float64:
		return parquet.DoubleValue(v), 0
	case time.Time:
		if kind == views.Date {
			return parquet.Int32Value(int32(v.Unix() / (24 * 60 * 60))), 0 //nolint:gosec // years have four digits
		}
		return parquet.Int64Value(v.UnixMicro()), 0
	}
	return parquet.NullValue(), 0
}

func (t *parquetTable) close() error { return t.out.Close() }

// ordered is a Parquet group that keeps the order of its fields. parquet.Group sorts them by name.
type ordered struct {
	parquet.Group

	fields []parquet.Field
}

// Fields implements parquet.Node.
func (o ordered) Fields() []parquet.Field { return o.fields }

type field struct {
	parquet.Node

	name string
}

// Name implements parquet.Field.
func (f field) Name() string { return f.name }

// Value implements parquet.Field. Rows are written as values, so it is never called.
func (f field) Value(base reflect.Value) reflect.Value { return base.FieldByName(f.name) }

func schemaOf(columns []views.Column) parquet.Node {
	schema := ordered{Group: parquet.Group{}, fields: nil}
	for _, column := range columns {
		node := parquet.Optional(nodeOf(column.Cells()))
		schema.Group[column.Name] = node
		schema.fields = append(schema.fields, field{node, column.Name})
	}
	return schema
}

func nodeOf(kind views.Kind) parquet.Node {
	switch kind {
	case views.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case views.Integer:
		return parquet.Int(32)
	case views.Long:
		return parquet.Int(64)
	case views.Double:
		return parquet.Leaf(parquet.DoubleType)
	case views.Date:
		return parquet.Date()
	case views.Timestamp:
		return parquet.Timestamp(parquet.Microsecond)
	case views.Any, views.Text, views.Decimal:
	}
	return parquet.String()
}
