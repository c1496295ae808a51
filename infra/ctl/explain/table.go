// Package explain owns what a log line of a failure means: what has failed, whose it is, where, why, what to do, and by
// which commands of ctl. It reads lines as functions write them, and knows no more of failures than docs/operate/failures.md,
// which people read, too. It asks no stack and prints nothing of a line but fields that it knows.
package explain

import (
	"errors"
	"path"
	"regexp"
	"strings"
)

// Failure is a row of the table of failures.
type Failure struct {
	Name string
	// Fields are those that its line has, msg among them: "" stands for any value, "-" for none, and what stands between
	// … is a part of the value.
	Fields map[string]string
	Advice string // what to do
}

// Table is what docs/operate/failures.md says.
type Table struct {
	failures []Failure
	words    map[string]string // what class, reason and the like mean
}

const (
	failuresHead = "| Failure | Line | Fields | What to do |\n|---|---|---|---|\n"
	wordsHead    = "| Word | Means |\n|---|---|\n"
)

// NewTable reads docs/operate/failures.md.
func NewTable(document string) (Table, error) {
	t := Table{words: map[string]string{}}
	for _, cells := range rows(document, failuresHead, 4) {
		t.failures = append(t.failures, Failure{Name: cells[0], Fields: fields(cells[1], cells[2]), Advice: advice(cells[3])})
	}
	for _, cells := range rows(document, wordsHead, 2) {
		t.words[strings.Trim(cells[0], "`")] = cells[1]
	}
	if len(t.failures) == 0 || len(t.words) == 0 {
		return Table{}, errors.New("the document has no table of failures, or none of words")
	}
	return t, nil
}

// Failures are the rows in their order.
func (t Table) Failures() []Failure { return t.failures }

// rows are the cells of the table with this head.
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

// fields reads the fields of a row, and adds those that every line has unless the row says otherwise.
func fields(message, cell string) map[string]string {
	all := map[string]string{"msg": strings.Trim(message, "`"), "result": "failed", "org_id": "", "mode": ""}
	for _, field := range marked.FindAllStringSubmatch(cell, -1) {
		name, value, _ := strings.Cut(field[1], "=")
		all[name] = value
	}
	return all
}

// advice has the paths of documents in place of links, since whoever reads it has no page to click on.
func advice(cell string) string {
	return link.ReplaceAllStringFunc(cell,
		func(l string) string { return path.Join("docs/operate", link.FindStringSubmatch(l)[1]) })
}
