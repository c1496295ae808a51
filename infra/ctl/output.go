package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// formatValue is the value of a flag that selects an output format.
type formatValue struct{ format *string }

// String implements flag.Value.
func (f formatValue) String() string {
	if f.format == nil {
		return ""
	}
	return *f.format
}

// Set implements flag.Value.
func (f formatValue) Set(value string) error {
	if value != formatTable && value != formatJSON {
		return errors.New("must be table or json")
	}
	*f.format = value
	return nil
}

func formatFlag(flags *flag.FlagSet, format *string) {
	flags.Var(formatValue{format}, "o", "output `format`: table or json (default: table on a terminal, otherwise json)")
}

// print prints a result in the session's format.
func (s session) print(result any) error {
	if s.format != formatTable {
		return show(s.out, result)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return tabulate(s.out, value)
}

// tabulate prints a decoded JSON value: a list as a table, and an object as lines of names and values, followed by a
// table for each list of objects.
func tabulate(out io.Writer, value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return printList(out, value)
	}
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var lists []string
	for _, name := range inOrder(object) {
		if len(rowsOf(object[name])) > 0 {
			lists = append(lists, name)
			continue
		}
		printFields(lines, name, object[name])
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	for _, name := range lists {
		fmt.Fprintf(out, "\n%s:\n", name)
		if err := printList(out, object[name]); err != nil {
			return err
		}
	}
	return nil
}

// printFields prints a value's line. A nested object has a line for each of its fields.
func printFields(lines io.Writer, name string, value any) {
	nested, ok := value.(map[string]any)
	if !ok || len(nested) == 0 {
		text := cell(value)
		if list, isList := value.([]any); isList && len(list) == 0 {
			text = "none"
		}
		fmt.Fprintf(lines, "%s\t%s\n", name, text)
		return
	}
	for _, field := range inOrder(nested) {
		printFields(lines, name+"."+field, nested[field])
	}
}

// printList prints a list of objects as a table that has a column for every field with a value.
func printList(out io.Writer, value any) error {
	rows := rowsOf(value)
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, cmp.Or(cell(value), "none"))
		return err
	}
	all := map[string]any{}
	for _, row := range rows {
		for name, value := range row {
			if cell(value) != "" {
				all[name] = value
			}
		}
	}
	columns := inOrder(all)
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(lines, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range rows {
		cells := make([]string, 0, len(columns))
		for _, name := range columns {
			cells = append(cells, cell(row[name]))
		}
		fmt.Fprintln(lines, strings.Join(cells, "\t"))
	}
	return lines.Flush()
}

// rowsOf returns a list's objects, or nil if value is not a list of objects.
func rowsOf(value any) []map[string]any {
	list, _ := value.([]any)
	rows := make([]map[string]any, 0, len(list))
	for _, one := range list {
		row, ok := one.(map[string]any)
		if !ok {
			return nil
		}
		rows = append(rows, row)
	}
	return rows
}

// cell returns a value's text for one line. It replaces characters that could control a terminal.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return plain(v)
	case []any:
		texts := make([]string, 0, len(v))
		for _, one := range v {
			texts = append(texts, cell(one))
		}
		return strings.Join(texts, ", ")
	case map[string]any:
		texts := make([]string, 0, len(v))
		for _, name := range inOrder(v) {
			if text := cell(v[name]); text != "" {
				texts = append(texts, plain(name)+"="+text)
			}
		}
		return strings.Join(texts, " ")
	}
	return fmt.Sprint(value)
}

// first lists the fields that identify a row, which precede all others. Times and advice come last.
var first = [...]string{
	"check", "id", "seq", "public_id", "task_id", "endpoint_id", "client_auth_id", "inquiry_id", "message_id",
	"platform_type", "org", "name", "mode", "state", "status", "what",
}

// inOrder returns an object's field names: first those that identify it, then the others by name.
func inOrder(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	return names
}

func rank(name string) int {
	if at := slices.Index(first[:], name); at >= 0 {
		return at
	}
	switch {
	case name == "do":
		return len(first) + 2
	case strings.HasSuffix(name, "_at"):
		return len(first) + 1
	}
	return len(first)
}
