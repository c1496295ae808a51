// Package tablefile writes the tables of views as CSV and Parquet files. A file appears under its name only when it is
// complete. Only its owner can read it, because it contains health data.
package tablefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"recordbridge/infra/recordbridge/views"
)

// Formats lists the formats of tables, which are also the extensions of the files.
func Formats() []string { return []string{"csv", "parquet"} }

// File is a table in progress.
type File struct {
	path  string
	temp  *os.File
	table table
	rows  int
}

// table encodes rows.
type table interface {
	write(row []any) error
	close() error // writes the rest
}

// Create starts a table with the columns. It returns an error if the file exists, unless overwrite is set.
func Create(folder, name, format string, columns []views.Column, overwrite bool) (*File, error) {
	path := filepath.Join(folder, name+"."+format)
	if _, err := os.Lstat(path); !overwrite && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s already exists; -force overwrites it", path)
	}
	temp, err := os.CreateTemp(folder, "."+name+"-*.tmp") // only the owner can read it
	if err != nil {
		return nil, err
	}
	f := &File{path: path, temp: temp, table: nil, rows: 0}
	if format == "parquet" {
		f.table = newParquet(temp, columns)
	} else {
		f.table, err = newCSV(temp, columns)
	}
	if err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// Write appends a row, whose cells have the types of the columns' kinds.
func (f *File) Write(row []any) error {
	f.rows++
	return f.table.write(row)
}

// Rows returns the number of rows.
func (f *File) Rows() int { return f.rows }

// Path returns the path of the complete file.
func (f *File) Path() string { return f.path }

// Commit completes the file and gives it its name.
func (f *File) Commit() error {
	err := f.table.close()
	if err == nil {
		err = f.temp.Sync()
	}
	if err = errors.Join(err, f.temp.Close()); err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("write %s: %w", f.path, err), os.Remove(f.temp.Name()))
	}
	return err
}

// Discard removes the unfinished file.
func (f *File) Discard() {
	_ = f.temp.Close()
	_ = os.Remove(f.temp.Name())
}
