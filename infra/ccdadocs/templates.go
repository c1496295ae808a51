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

// templates has a row for each rule: the templates that it takes, what they become, and which tests and documents have
// one of them.
func templates(root string) (string, error) {
	folder := root + "/" + converter
	tests, err := readAll(
		folder+"/*_test.go", folder+"/*/*_test.go", folder+"/section/*/*_test.go", root+"/"+testdata+"/*.xml",
	)
	if err != nil {
		return "", err
	}
	type rule struct{ name, target, folder string }
	var order []rule
	roots := map[rule][]string{}
	for _, t := range ccda.Templates() {
		r := rule{t.Name, t.Target, t.Folder}
		if roots[r] == nil {
			order = append(order, r)
		}
		roots[r] = append(roots[r], t.Root)
	}
	slices.SortFunc(order, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(roots[a][0], roots[b][0]))
	})
	rows := make([][]string, 0, len(order))
	for _, r := range order {
		var tested []string
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			if slices.ContainsFunc(roots[r], func(root string) bool { return has(tests[name], root) }) {
				tested = append(tested, name)
			}
		}
		by := fmt.Sprintf("[%s](../%s/%s)", r.folder, converter, r.folder)
		rows = append(rows, []string{
			r.name, "`" + strings.Join(roots[r], "` `") + "`", r.target, by,
			strings.Join(tested, ", "),
		})
	}
	return markdown([]string{"Name", "Templates", "Becomes", "By", "Tested in"}, rows), nil
}

// has reports whether a text contains a template or its variant for a section with required entries, which has ".1"
// appended.
func has(text []byte, root string) bool {
	return bytes.Contains(text, []byte(`"`+root+`"`)) || bytes.Contains(text, []byte(`"`+root+`.1"`))
}

// readAll reads files and keys them by their names without folders.
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

// without has a row for each template of documents that has no rule of its own.
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
	rows := make([][]string, 0, len(counts))
	for _, root := range slices.Sorted(maps.Keys(counts)) {
		taken := "as part of what is around it"
		if generic[root] {
			taken = "by its section, class and mood, or as a general Observation"
		}
		rows = append(rows, []string{"`" + root + "`", count(counts[root]), taken})
	}
	return markdown([]string{"Template", "Times", "Taken"}, rows)
}
