package e2e_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/testkit/expect"
)

type seenFields struct {
	mu    sync.Mutex
	names map[string]bool
}

func (f *seenFields) note(t *testing.T, lines []string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range lines {
		var line map[string]any
		expect.NoError(t, json.Unmarshal([]byte(text), &line))
		for name := range line {
			f.names[name] = true
		}
	}
}

// checkQueries fails the test if a query in the operator's documents uses a field that no log line contains. Fields
// that begin with @ are exempt because Logs Insights provides them.
func (f *seenFields) checkQueries(t *testing.T) {
	t.Helper()
	queries := documentedQueries(t)
	if len(queries) < 15 {
		t.Errorf("only %d queries were found", len(queries))
	}
	// The fields stack and panic are logged only for crashes and panics.
	maps.Copy(f.names, map[string]bool{"stack": true, "panic": true})
	literal, alias := regexp.MustCompile(`"[^"]*"|/(?:[^/\\ ]|\\.| )+/`), regexp.MustCompile(`\bas (\w+)`)
	word := regexp.MustCompile(`[@A-Za-z_]\w*|\d\w*`)
	for _, query := range queries {
		query = literal.ReplaceAllString(query, "")
		named := alias.FindAllStringSubmatch(query, -1)
		known := make([]string, 0, len(named))
		for _, one := range named {
			known = append(known, one[1])
		}
		for _, name := range word.FindAllString(query, -1) {
			isField := name[0] >= 'A' // excludes numbers and @ fields
			if isField && !f.names[name] && !slices.Contains(known, name) && !isOfTheLanguage(name) {
				t.Errorf("no line has %s, which a query asks for: %s", name, query)
			}
		}
	}
}

func isOfTheLanguage(word string) bool {
	return slices.Contains([]string{
		"filter", "fields", "stats", "sort", "limit", "by", "as", "and", "or", "in", "like", "desc", "asc",
		"ispresent", "count", "count_distinct", "min", "max", "avg", "pct", "latest", "bin",
	}, word)
}

// documentedQueries returns the Logs Insights queries in docs/operate and its runbooks, from code blocks and inline
// code.
func documentedQueries(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../docs/operate/*.md")
	expect.NoError(t, err)
	runbooks, err := filepath.Glob("../../../docs/operate/runbooks/*.md")
	expect.NoError(t, err)
	block, inline := regexp.MustCompile("(?ms)^```(?:\\w*)\n(.*?)^```$"), regexp.MustCompile("`(filter [^`\n]+)`")
	var queries []string
	for _, file := range append(files, runbooks...) {
		text, err := os.ReadFile(file)
		expect.NoError(t, err)
		for _, found := range append(block.FindAllStringSubmatch(string(text), -1),
			inline.FindAllStringSubmatch(string(text), -1)...) {
			if strings.HasPrefix(found[1], "filter ") || strings.HasPrefix(found[1], "fields ") {
				queries = append(queries, found[1])
			}
		}
	}
	return queries
}
