package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// tableName matches a cell's first word, such as Sandbox in "Sandbox (test mode)".
var tableName = regexp.MustCompile(`^\s*(\w+)`)

// TableRows compares the template's DynamoDB tables with the document table whose header starts with "Table". TableRows
// reports tables without a row, rows without a table, and rows whose third column does not name the table's indexes.
func TableRows(s *Stack, document []byte) []Finding {
	const where = "docs/develop/architecture.md"
	var found findings
	rows := dataRows(string(document))
	for _, t := range s.of(kindTable) {
		name := strings.TrimSuffix(t.ID, "Table")
		row, ok := rows[name]
		if !ok {
			found.addf(where, "the table of data has no row for %s", name)
			continue
		}
		delete(rows, name)
		var indexes []string
		for _, g := range list(t.Properties["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, scalar(at(g, "IndexName")))
		}
		if got, want := strings.TrimSpace(row), strings.Join(indexes, ", "); got != want {
			found.addf(where, "%s has the indexes %q, and by its row %q", name, want, got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		found.addf(where, "%s is a row of the table of data and no table of the template", name)
	}
	return found.sorted()
}

// dataRows parses the document's data table. Keys are the first words in the table's first column; values come from its
// third column.
func dataRows(document string) map[string]string {
	rows := map[string]string{}
	in := false
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case len(cells) < 5:
			in = false
		case strings.TrimSpace(cells[1]) == "Table":
			in = true
		case in:
			if m := tableName.FindStringSubmatch(cells[1]); m != nil {
				rows[m[1]] = cells[3]
			}
		}
	}
	return rows
}
