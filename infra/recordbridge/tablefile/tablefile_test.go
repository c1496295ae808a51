package tablefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"recordbridge/infra/recordbridge/tablefile"
	"recordbridge/infra/recordbridge/views"
)

// columns has a column of each kind. Their names aren't in alphabetical order.
var columns = []views.Column{
	{Name: "text", Kind: views.Text, Collection: false},
	{Name: "any", Kind: views.Any, Collection: false},
	{Name: "decimal", Kind: views.Decimal, Collection: false},
	{Name: "boolean", Kind: views.Boolean, Collection: false},
	{Name: "integer", Kind: views.Integer, Collection: false},
	{Name: "long", Kind: views.Long, Collection: false},
	{Name: "double", Kind: views.Double, Collection: false},
	{Name: "day", Kind: views.Date, Collection: false},
	{Name: "at", Kind: views.Timestamp, Collection: false},
}

var row = []any{
	"a, \"b\"\nc", "1", "1.50", true, int32(2), int64(1) << 40, 0.1, time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC),
	time.Date(2024, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600)),
}

// write returns the content of a table with the row and a row of NULLs.
func write(t *testing.T, format string) []byte {
	t.Helper()
	file, err := tablefile.Create(t.TempDir(), "t", format, columns, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range [][]any{row, make([]any, len(row))} {
		if err = file.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	if err = file.Commit(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file.Path())
	if err != nil || file.Rows() != 2 {
		t.Fatalf("%d rows, %v", file.Rows(), err)
	}
	return data
}

func TestCSVQuotesCells(t *testing.T) {
	t.Parallel()
	want := "text,any,decimal,boolean,integer,long,double,day,at\n" +
		"\"a, \"\"b\"\"\nc\",1,1.50,true,2,1099511627776,0.1,1969-12-30,2024-01-02T02:04:05.000006Z\n,,,,,,,,\n"
	if got := string(write(t, "csv")); got != want {
		t.Errorf("CSV:\n%s\nwant:\n%s", got, want)
	}
}

func TestCSVKeepsRowOfSingleNull(t *testing.T) {
	t.Parallel()
	file, err := tablefile.Create(t.TempDir(), "t", "csv", columns[:1], false)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []any{"a", nil, "b"} {
		if err = file.Write([]any{cell}); err != nil {
			t.Fatal(err)
		}
	}
	if err = file.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file.Path()); err != nil || string(got) != "text\na\n\"\"\nb\n" {
		t.Errorf("CSV: %q, %v", got, err)
	}
}

func TestParquetKeepsTypesAndOrderOfColumns(t *testing.T) {
	t.Parallel()
	data := write(t, "parquet")
	file, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"message table {", "optional binary text (STRING);", "optional binary any (STRING);",
		"optional binary decimal (STRING);", "optional boolean boolean;", "optional int32 integer (INT(32,true));",
		"optional int64 long (INT(64,true));", "optional double double;", "optional int32 day (DATE);",
		"optional int64 at (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));", "}",
	}, "\n\t")
	if got := file.Schema().String(); got != strings.Replace(want, "\n\t}", "\n}", 1) {
		t.Errorf("schema:\n%s\nwant:\n%s", got, want)
	}
	rows := file.RowGroups()[0].Rows()
	defer rows.Close()
	found := make([]parquet.Row, 2)
	if n, err := rows.ReadRows(found); n != 2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	values := make([]string, 0, len(columns))
	for _, value := range found[0] {
		values = append(values, value.String())
	}
	wantValues := "a, \"b\"\nc|1|1.50|true|2|1099511627776|0.1|-2|1704161045000006"
	if got := strings.Join(values, "|"); got != wantValues {
		t.Errorf("values: %s, want %s", got, wantValues)
	}
	for i, value := range found[1] {
		if !value.IsNull() {
			t.Errorf("column %d of the second row is %v, want NULL", i, value)
		}
	}
}

func TestParquetStartsRowGroupWhenTextsAreLarge(t *testing.T) {
	t.Parallel()
	file, err := tablefile.Create(t.TempDir(), "t", "parquet", columns[:1], false)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err = file.Write([]any{strings.Repeat("x", 8<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if err = file.Commit(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file.Path())
	if err != nil {
		t.Fatal(err)
	}
	table, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
	if err != nil || len(table.RowGroups()) != 2 || table.NumRows() != 3 {
		t.Errorf("%v: %d row groups, want 2", err, len(table.RowGroups()))
	}
}

func TestFileAppearsCompleteAndPrivate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, err := tablefile.Create(folder, "t", "csv", columns, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = os.Stat(filepath.Join(folder, "t.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished table: %v, want no file", err)
	}
	if err = file.Commit(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "t.csv"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if _, err = tablefile.Create(folder, "t", "csv", columns, false); err == nil {
		t.Error("Create overwrites an existing table")
	}
	replaced, err := tablefile.Create(folder, "t", "csv", columns, true)
	if err != nil {
		t.Fatal(err)
	}
	replaced.Discard()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("Discard left %v, %v", entries, err)
	}
}
