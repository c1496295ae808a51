package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// tableName is the first word of a cell, such as Sandbox in "Sandbox (test mode)".
var tableName = regexp.MustCompile(`^\s*(\w+)`)

// TableRows finds tables of the template that have no row in the table of data of a document (the one whose header
// starts with "Table"), rows of no table, and rows whose third column does not name the table's indexes.
func TableRows(s *Stack, document []byte) []Finding {
	const where = "docs/architecture.md"
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

// dataRows reads the table of data: the third column by the first word of the first.
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

// TouchedRows finds tables that a function has permissions on but that the last cell of its row in a document does not
// name, and the reverse. A function's row starts with its folder in code.
func TouchedRows(s *Stack, document []byte) []Finding {
	const where = "docs/architecture.md"
	var found, other findings
	cells := lastCells(string(document))
	for _, f := range s.of(kindFunction) {
		var touched []string
		for _, st := range s.allowed(s.roleOf(f), &other) {
			touched = append(touched, references([]any{map[string]any{"Fn::Sub": strings.Join(st.resources, " ")}})...)
		}
		folder := strings.ToLower(strings.TrimSuffix(f.ID, "Function"))
		for _, t := range s.of(kindTable) {
			name := strings.TrimSuffix(t.ID, "Table")
			told := slices.Contains(words(cells[folder]), name)
			switch may := slices.Contains(touched, t.ID); {
			case may && !told:
				found.addf(where, "the row of %s does not say that it may touch %s", folder, name)
			case told && !may:
				found.addf(where, "the row of %s names %s, which it may not touch", folder, name)
			}
		}
	}
	return found.sorted()
}

// functionRow is a row of a table that starts with a function's folder in code.
var functionRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\|([^|]*)\\|\\s*$")

// lastCells reads the last cell of every function's row.
func lastCells(document string) map[string]string {
	cells := map[string]string{}
	for _, m := range functionRow.FindAllStringSubmatch(document, -1) {
		cells[m[1]] = m[2]
	}
	return cells
}

// words cuts a text at everything but letters.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
