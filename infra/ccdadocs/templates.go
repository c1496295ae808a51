package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda"
)

const (
	converter = "shared/fhir/ccda"
	testdata  = converter + "/testdata"
)

// rule describes a converter rule and the templates that it handles.
type rule struct {
	name, target, folder string
	roots                []string
	tested               []string // tests and documents that contain at least one of the rule's templates
}

// templates returns a Markdown table of the conversion rules and their templates, with one row per rule.
func templates(root string) (string, error) {
	all, err := rules(root)
	if err != nil {
		return "", err
	}
	rows := make([][]string, 0, len(all))
	for _, r := range all {
		by := fmt.Sprintf("[%s](../../%s/%s)", r.folder, converter, r.folder)
		rows = append(rows, []string{r.name, "`" + strings.Join(r.roots, "` `") + "`", r.target, by})
	}
	return markdown([]string{"Name", "Templates", "Becomes", "By"}, rows), nil
}

// rules lists the converter's rules, sorted by folder and template.
func rules(root string) ([]rule, error) {
	folder := root + "/" + converter
	tests, err := readAll(
		folder+"/*_test.go", folder+"/*/*_test.go", folder+"/section/*/*_test.go", root+"/"+testdata+"/*.xml",
	)
	if err != nil {
		return nil, err
	}
	var all []rule
	for _, t := range ccda.Templates() {
		i := slices.IndexFunc(all, func(r rule) bool {
			return r.name == t.Name && r.target == t.Target && r.folder == t.Folder
		})
		if i < 0 {
			i, all = len(all), append(all, rule{name: t.Name, target: t.Target, folder: t.Folder})
		}
		all[i].roots = append(all[i].roots, t.Root)
	}
	slices.SortFunc(all, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.roots[0], b.roots[0]))
	})
	for i, r := range all {
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			if slices.ContainsFunc(r.roots, func(root string) bool { return has(tests[name], root) }) {
				all[i].tested = append(all[i].tested, name)
			}
		}
	}
	return all, nil
}

// has reports whether text contains the template root, with or without the suffix ".1", which denotes a section with
// required entries.
func has(text []byte, root string) bool {
	return bytes.Contains(text, []byte(`"`+root+`"`)) || bytes.Contains(text, []byte(`"`+root+`.1"`))
}

// readAll returns the contents of the files that match patterns, by base name.
func readAll(patterns ...string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // of the repository
			if err != nil {
				return nil, err
			}
			texts[filepath.Base(file)] = text
		}
	}
	return texts, nil
}

// without returns a Markdown table of the templates that occur in the documents but have no rule. The table groups the
// templates by conversion method and counts each template's uses.
func without(documents []converted) string {
	if len(documents) == 0 {
		return ""
	}
	ruled := map[string]bool{}
	for _, t := range ccda.Templates() {
		ruled[t.Root] = true
	}
	counts, generic := map[string]int{}, map[string]bool{}
	for _, d := range documents {
		for _, root := range d.roots {
			if !ruled[root] {
				counts[root]++
			}
		}
		for _, part := range d.report.Documents {
			for root := range part.Unknown {
				generic[root] = true
			}
		}
	}
	const part, other = "part of the enclosing statement", "by section, class and mood, or as a generic Observation"
	uses := map[string][]string{}
	for _, root := range slices.Sorted(maps.Keys(counts)) {
		way := part
		if generic[root] {
			way = other
		}
		uses[way] = append(uses[way], fmt.Sprintf("`%s` (%d)", root, counts[root]))
	}
	var rows [][]string
	for _, way := range []string{part, other} {
		if len(uses[way]) > 0 {
			rows = append(rows, []string{way, strings.Join(uses[way], ", ")})
		}
	}
	return markdown([]string{"Conversion", "Templates (uses)"}, rows)
}
