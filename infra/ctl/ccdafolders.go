package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recordbridge/infra/ctl/clinical"
)

// differentFoldersError reports that two folders of conversions differ, and holds a summary of the differences.
type differentFoldersError struct{ found *clinical.Summary }

func (d *differentFoldersError) Error() string {
	return fmt.Sprintf("%d of %d documents differ, %d are in only one folder", d.found.Different, d.found.Documents,
		len(d.found.OnlyBefore)+len(d.found.OnlyAfter))
}

func (d *differentFoldersError) shown() any { return d.found }

// compare compares two files, or the files with matching names in two folders.
func compare(before, after string) (any, error) {
	first, second := isFolder(before), isFolder(after)
	switch {
	case first && second:
		return compareFolders(before, after)
	case first || second:
		return nil, misused("-diff needs two files or two folders")
	default:
		return compareFiles(before, after)
	}
}

func isFolder(path string) bool {
	found, err := os.Stat(path)
	return err == nil && found.IsDir()
}

// compareFolders counts the differences between files with matching names in two folders. The files may contain
// documents or resources.
func compareFolders(before, after string) (any, error) {
	first, err := documentsIn(before)
	if err != nil {
		return nil, err
	}
	second, err := documentsIn(after)
	if err != nil {
		return nil, err
	}
	s := &clinical.Summary{OnlyBefore: []string{}, OnlyAfter: []string{}, Kinds: []*clinical.Kind{}}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if second[name] == "" {
			s.OnlyBefore = append(s.OnlyBefore, name)
			continue
		}
		was, err := factsIn(first[name])
		if err != nil {
			return nil, err
		}
		is, err := factsIn(second[name])
		if err != nil {
			return nil, err
		}
		s.Add(name, clinical.Compare(was, is))
	}
	for _, name := range slices.Sorted(maps.Keys(second)) {
		if first[name] == "" {
			s.OnlyAfter = append(s.OnlyAfter, name)
		}
	}
	if !s.Equal() {
		return nil, &differentFoldersError{s}
	}
	return s, nil
}

// documentsIn lists a folder's documents (*.xml) and resource files (*.ndjson) by base name without extension. It
// returns an error if there are no such files, or if a document and a resource file share a name.
func documentsIn(folder string) (map[string]string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, file := range files {
		ending := filepath.Ext(file.Name())
		if !slices.Contains([]string{".xml", ".ndjson"}, ending) {
			continue
		}
		name := strings.TrimSuffix(file.Name(), ending)
		if found[name] != "" {
			return nil, misused("%s has two files named %s", folder, name)
		}
		found[name] = filepath.Join(folder, file.Name())
	}
	if len(found) == 0 {
		return nil, misused("%s has no *.xml or *.ndjson files", folder)
	}
	return found, nil
}
