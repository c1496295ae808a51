// Package explain explains log lines that report failures. An explanation contains the failure's name, owner, location,
// cause and remedy, and relevant ctl commands. The descriptions of failures come from docs/operate/failures.md, the
// document that operators read. An explanation includes only the known fields of its line. The package doesn't query
// any stack.
package explain

import (
	"errors"
	"path"
	"regexp"
	"strings"
)

// Failure is a row in the failures table.
type Failure struct {
	Name string
	// Fields holds the expected fields of the line, including msg. The value "" matches any value, "-" matches a
	// missing value, and "…text…" matches a value that contains text.
	Fields map[string]string
	Advice string // recommended action
}

// Table holds the content of docs/operate/failures.md.
type Table struct {
	failures []Failure
	words    map[string]string // meanings of codes such as class and reason
}

const (
	failuresHead = "| Failure | Line | Fields | What to do |\n|---|---|---|---|\n"
	wordsHead    = "| Word | Means |\n|---|---|\n"
)

// NewTable parses document, the text of docs/operate/failures.md.
func NewTable(document string) (Table, error) {
	t := Table{words: map[string]string{}}
	for _, cells := range rows(document, failuresHead, 4) {
		t.failures = append(t.failures, Failure{Name: cells[0], Fields: fields(cells[1], cells[2]), Advice: advice(cells[3])})
	}
	for _, cells := range rows(document, wordsHead, 2) {
		t.words[strings.Trim(cells[0], "`")] = cells[1]
	}
	if len(t.failures) == 0 || len(t.words) == 0 {
		return Table{}, errors.New("the document lacks the table of failures or the table of words")
	}
	return t, nil
}

// Failures returns the rows in document order.
func (t Table) Failures() []Failure { return t.failures }

// rows returns the cells of the table in document whose header row is head.
func rows(document, head string, width int) [][]string {
	_, table, _ := strings.Cut(document, head)
	var all [][]string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		if len(cells) != width {
			break
		}
		all = append(all, cells)
	}
	return all
}

var (
	marked = regexp.MustCompile("`([^`]+)`")
	link   = regexp.MustCompile(`\[[^\]]+\]\(([^)]+)\)`)
)

// fields parses the cell that lists a row's fields, and adds the fields common to all log lines. Values in the cell
// take precedence over these defaults.
func fields(message, cell string) map[string]string {
	all := map[string]string{"msg": strings.Trim(message, "`"), "result": "failed", "org_id": "", "mode": ""}
	for _, field := range marked.FindAllStringSubmatch(cell, -1) {
		name, value, _ := strings.Cut(field[1], "=")
		all[name] = value
	}
	return all
}

// advice returns a cell's text with links replaced by document paths, because terminals can't follow links.
func advice(cell string) string {
	return link.ReplaceAllStringFunc(cell,
		func(l string) string { return path.Join("docs/operate", link.FindStringSubmatch(l)[1]) })
}
