package policy

import (
	"path"
	"regexp"
	"strings"

	"recordbridge/infra/local/template"
)

// Gaps is a part of a document that says what there is not yet.
type Gaps struct {
	Document string
	Heading  string
	Claims   []Claim
}

// Claim is one thing that Gaps call missing.
type Claim struct {
	Words string // as the list has them
	// Would is an expression for the names that the thing would have if it were there: "GET /path" of a route,
	// "functions/name" or any other folder, "make target".
	Would string
}

// Missing finds what a list calls missing although it is there, claims that the list does not make any more, and items of
// the list that no claim checks.
func Missing(t *Tree, functions []template.Function, list Gaps) []Finding {
	var found findings
	items := listed(section(string(t.Text(list.Document)), list.Heading))
	if len(items) == 0 {
		found.addf(list.Document, "there is no list under %q", list.Heading)
	}
	checked := map[string]bool{}
	for _, claim := range list.Claims {
		would := regexp.MustCompile(claim.Would)
		made := false
		for _, item := range items {
			if strings.Contains(item, claim.Words) {
				made, checked[item] = true, true
			}
		}
		if !made {
			found.addf(list.Document, "does not say any more that there is no %q", claim.Words)
		}
		for _, name := range present(t, functions) {
			if would.MatchString(name) {
				found.addf(list.Document, "%q is called missing, but there is %s", claim.Words, name)
			}
		}
	}
	for _, item := range items {
		if !checked[item] {
			found.addf(list.Document, "nothing checks that this is missing: %s", item)
		}
	}
	return found.sorted()
}

// present lists the names of what there is.
func present(t *Tree, functions []template.Function) []string {
	var names []string
	for _, f := range functions {
		for _, r := range f.Routes {
			names = append(names, r.Method+" "+r.Path)
		}
	}
	for name := range t.paths {
		if path.Ext(name) == "" {
			names = append(names, name)
		}
	}
	for _, name := range targets(t) {
		names = append(names, "make "+name)
	}
	return names
}

// section is what stands under a heading, up to the next one.
func section(document, heading string) string {
	_, rest, _ := strings.Cut(document, "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// listed are the items of a section's lists, each one line, and the first cells of its tables' rows.
func listed(section string) []string {
	var items []string
	isItem := false
	for line := range strings.Lines(section) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "- "):
			items, isItem = append(items, text[2:]), true
		case isItem && strings.HasPrefix(line, "  "):
			items[len(items)-1] += " " + text
		case strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| What "):
			cell, _, _ := strings.Cut(text[2:], " |")
			items, isItem = append(items, cell), false
		default:
			isItem = false
		}
	}
	return items
}
