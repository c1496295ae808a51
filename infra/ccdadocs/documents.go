package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda"
)

type converted struct {
	name   string // file name without extension
	roots  []string
	report ccda.Report
}

var templateID = regexp.MustCompile(`<templateId[^>]*\broot="([^"]+)"`)

// convertAll converts each document in a folder separately.
func convertAll(folder string) ([]converted, error) {
	files, err := filepath.Glob(folder + "/*.xml")
	if err != nil {
		return nil, err
	}
	all := make([]converted, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // of the repository, or of the folder beside it
		if err != nil {
			return nil, err
		}
		c := converted{name: strings.TrimSuffix(filepath.Base(file), ".xml")}
		if c.report, err = ccda.Convert(text, func(ccda.Resource) error { return nil }); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		for _, m := range templateID.FindAllSubmatch(text, -1) {
			c.roots = append(c.roots, string(m[1]))
		}
		all = append(all, c)
	}
	return all, nil
}

// resources returns a Markdown table with a row for each resource type and a column for each document.
func resources(documents []converted) string {
	if len(documents) == 0 {
		return ""
	}
	types, names := map[string]bool{}, make([]string, 0, len(documents))
	for _, d := range documents {
		names = append(names, d.name)
		for kind := range d.report.Resources {
			types[kind] = true
		}
	}
	rows := make([][]string, 0, len(types)+1)
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		row := []string{kind}
		for _, d := range documents {
			row = append(row, count(d.report.Resources[kind]))
		}
		rows = append(rows, row)
	}
	all := []string{"Total"}
	for _, d := range documents {
		sum := 0
		for _, n := range d.report.Resources {
			sum += n
		}
		all = append(all, count(sum))
	}
	return markdown(append([]string{"Type"}, names...), append(rows, all))
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// omissions returns a Markdown table with a row for each reason for omitting data.
func omissions(documents []converted) string {
	type omission struct{ what, reason string }
	if len(documents) == 0 {
		return ""
	}
	counts, in := map[omission]int{}, map[omission][]string{}
	for _, d := range documents {
		for _, part := range d.report.Documents {
			for _, dropped := range part.Dropped {
				o := omission{dropped.What, dropped.Reason}
				counts[o] += dropped.Count
				in[o] = append(in[o], d.name)
			}
		}
	}
	var rows [][]string
	for _, o := range slices.SortedFunc(maps.Keys(counts),
		func(a, b omission) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.reason, b.reason)) }) {
		rows = append(rows, []string{
			"`" + o.what + "`", o.reason, count(counts[o]),
			strings.Join(slices.Compact(in[o]), ", "),
		})
	}
	if len(rows) == 0 {
		return "Nothing is left out.\n"
	}
	return markdown([]string{"Element", "Reason", "Times", "Documents"}, rows)
}

// markdown formats a Markdown table. Cells are not padded, because a wide table would consist mostly of spaces.
func markdown(head []string, rows [][]string) string {
	var text strings.Builder
	line := func(cells []string) { fmt.Fprintf(&text, "|%s|\n", strings.Join(cells, "|")) }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, row := range rows {
		line(row)
	}
	return text.String()
}
