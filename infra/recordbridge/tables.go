package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"recordbridge/infra/recordbridge/tablefile"
	"recordbridge/infra/recordbridge/views"
)

// maxReports is the number of lines with errors that tables prints.
const maxReports = 20

// tables writes one table per view from the resources of NDJSON files (docs/guide/tables.md).
func (t tool) tables(ctx context.Context, flags *flag.FlagSet, args []string) error {
	format := flags.String("format", "csv", "`format` of the tables: "+strings.Join(tablefile.Formats(), " or "))
	out := flags.String("out", ".", "`folder` for the tables, created if missing")
	force := flags.Bool("force", false, "overwrite existing tables")
	list := flags.Bool("views", false, "list the built-in views, or print the ViewDefinition NAME")
	var selected []string
	flags.Func("view", "`file` with a ViewDefinition, or name of a built-in view, instead of all built-in views; "+
		"may be repeated", func(view string) error {
		selected = append(selected, view)
		return nil
	})
	flags.Usage = func() {
		fmt.Fprintln(t.out, "usage: recordbridge tables [flags] FILE...\n       recordbridge tables -views [NAME]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		return t.printViews(flags.Args())
	}
	if flags.NArg() == 0 {
		return errors.New("tables needs the path of an NDJSON file")
	}
	if !slices.Contains(tablefile.Formats(), *format) {
		return fmt.Errorf("unknown format %q; use %s", *format, strings.Join(tablefile.Formats(), " or "))
	}
	parsed, err := loadViews(selected)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(*out, 0o700); err != nil { //nolint:gosec // the folder that the user names
		return fmt.Errorf("create the tables' folder: %w", err)
	}
	run := &tabulation{out: t.out, views: parsed, files: nil, bad: 0}
	defer run.discard()
	for _, view := range parsed {
		file, err := tablefile.Create(*out, view.Name, *format, view.Columns, *force)
		if err != nil {
			return err
		}
		run.files = append(run.files, file)
	}
	for _, path := range flags.Args() {
		if err := run.read(ctx, path); err != nil {
			return err
		}
	}
	return run.commit()
}

// printViews lists the built-in views, or prints the named ones.
func (t tool) printViews(names []string) error {
	for _, name := range names {
		data, err := views.BuiltinJSON(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%s", data)
	}
	if len(names) > 0 {
		return nil
	}
	builtin, err := loadViews(nil)
	if err != nil {
		return err
	}
	for _, view := range builtin {
		fmt.Fprintf(t.out, "%-12s  %-18s  %s\n", view.Name, view.Resource, view.Description)
	}
	return nil
}

// loadViews parses the selected views, or all built-in views if none is selected.
func loadViews(selected []string) ([]*views.View, error) {
	if len(selected) == 0 {
		selected = views.BuiltinNames()
	}
	var parsed []*views.View
	for _, source := range selected {
		data, err := views.BuiltinJSON(source)
		if err != nil {
			if data, err = os.ReadFile(source); err != nil { //nolint:gosec // the file that the user names
				return nil, fmt.Errorf("read a view: %w", err)
			}
		}
		view, err := views.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if slices.ContainsFunc(parsed, func(v *views.View) bool { return strings.EqualFold(v.Name, view.Name) }) {
			return nil, fmt.Errorf("%s: another view has the name %s", source, view.Name)
		}
		parsed = append(parsed, view)
	}
	return parsed, nil
}

// errInterrupted isn't context.Canceled, which is a normal end for other commands.
var errInterrupted = errors.New("interrupted; no tables were written")

// tabulation is a run of tables.
type tabulation struct {
	out   io.Writer
	views []*views.View
	files []*tablefile.File // in the order of the views
	bad   int               // number of errors in lines
}

// read adds the rows of a file's resources. An error in a line affects only that line.
func (r *tabulation) read(ctx context.Context, path string) error {
	return eachLine(path, maxLine, func(number int, line []byte, long bool) error {
		if ctx.Err() != nil {
			return errInterrupted
		}
		if long {
			r.report(path, number, fmt.Errorf("the line has more than %d MB", maxLine>>20))
			return nil
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return nil
		}
		resource, ok := parseObject(line)
		if !ok {
			r.report(path, number, errors.New("the line isn't a JSON object"))
			return nil
		}
		return r.add(path, number, resource)
	})
}

// parseObject parses a line with one JSON object. It returns no error, because the decoder's errors quote the line.
func parseObject(line []byte) (object map[string]any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	ok = decoder.Decode(&object) == nil && decoder.InputOffset() == int64(len(line)) && object != nil
	return object, ok
}

// add writes a resource's rows.
func (r *tabulation) add(path string, number int, resource map[string]any) error {
	for i, view := range r.views {
		rows, err := view.Rows(resource)
		if err != nil {
			r.report(path, number, fmt.Errorf("view %s: %w", view.Name, err))
			continue
		}
		for _, row := range rows {
			if err := r.files[i].Write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *tabulation) report(path string, number int, err error) {
	if r.bad++; r.bad <= maxReports {
		fmt.Fprintf(r.out, "%s:%d: %v\n", path, number, err)
	}
}

// commit completes the files, and returns an error if a line had errors.
func (r *tabulation) commit() error {
	for len(r.files) > 0 {
		file := r.files[0]
		r.files = r.files[1:]
		if err := file.Commit(); err != nil {
			return err
		}
		unit := "rows"
		if file.Rows() == 1 {
			unit = "row"
		}
		fmt.Fprintf(r.out, "%s  %d %s\n", file.Path(), file.Rows(), unit)
	}
	if r.bad > 0 {
		return fmt.Errorf("%d errors; the tables don't contain the affected rows", r.bad)
	}
	return nil
}

// discard removes the files that aren't complete.
func (r *tabulation) discard() {
	for _, file := range r.files {
		file.Discard()
	}
}
