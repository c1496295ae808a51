package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// TableClass is how a class of data is kept (docs/adr/0002-a-table-per-class-of-data.md).
type TableClass struct {
	Lasting      bool // backed up continuously, and neither a person nor a deployment deletes the table
	RecoveryDays int  // how far back it can be restored; 0 is DynamoDB's own 35 days
	Expires      bool // rows end by themselves
}

// Tables finds tables that are not encrypted with a key of KMS or not kept as their class says, tables without a class
// and classes without a table.
func Tables(s *Stack, classes map[string]TableClass) []Finding {
	var found findings
	for _, t := range s.of(kindTable) {
		if scalar(at(t.Properties, "SSESpecification", "SSEEnabled")) != "true" {
			found.addf(t.ID, "is not encrypted with a key of KMS")
		}
		class, known := classes[t.ID]
		if !known {
			found.addf(t.ID, "has no class: how are its rows kept?")
			continue
		}
		if class.Lasting {
			lasting(t, class.RecoveryDays, &found)
		}
		if expires := scalar(at(t.Properties, "TimeToLiveSpecification", "Enabled")) == "true"; expires != class.Expires {
			found.addf(t.ID, "rows expire: %v, and by its class %v", expires, class.Expires)
		}
	}
	for id := range classes {
		if !slices.ContainsFunc(s.of(kindTable), func(t Resource) bool { return t.ID == id }) {
			found.addf(id, "is not in the template")
		}
	}
	return found.sorted()
}

// lasting finds what may lose a table whose rows nobody can make again.
func lasting(t Resource, days int, found *findings) {
	backup := at(t.Properties, "PointInTimeRecoverySpecification")
	if scalar(at(backup, "PointInTimeRecoveryEnabled")) != "true" {
		found.addf(t.ID, "has no point-in-time recovery")
	}
	if got := seconds(at(backup, "RecoveryPeriodInDays"), 0); got != days {
		found.addf(t.ID, "can be restored for %d days, and by its class for %d (0 is the default of 35)", got, days)
	}
	if scalar(t.Properties["DeletionProtectionEnabled"]) != "true" {
		found.addf(t.ID, "is not protected against deletion")
	}
	if t.DeletionPolicy != "RetainExceptOnCreate" || t.UpdateReplacePolicy != "Retain" {
		found.addf(t.ID, "goes with the stack or a replacement: DeletionPolicy is not RetainExceptOnCreate or UpdateReplacePolicy not Retain")
	}
}

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

// AppendOnly finds permissions to change or remove what is in a table that is only ever added to: the trail of who did
// what has to stand against whoever did it.
func AppendOnly(s *Stack, table string) []Finding {
	var found, other findings
	arn := fmt.Sprintf("${%s.Arn}", table)
	add := []string{"dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"}
	for _, r := range s.Resources {
		for _, st := range s.allowed(r, &other) {
			for _, a := range st.actions {
				if slices.Contains(st.resources, arn) && !slices.Contains(add, a) {
					found.addf(r.ID, "%s allows %s on %s, which is only added to", st.sid, a, table)
				}
			}
		}
	}
	return found.sorted()
}
