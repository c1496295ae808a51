package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Tree is the repository: the text of its sources and documents, its Go files parsed, and the names of all else.
type Tree struct {
	Files []File // in the order of their paths

	fileSet *token.FileSet
	paths   map[string]bool // every file and folder, "." too
}

// File is one source or document.
type File struct {
	Path string // from the root, with slashes
	Text []byte
	Go   *ast.File // nil for anything but Go
}

// ReadTree reads fsys, the root of a repository. Folders that hold build outputs or a person's own files are left
// out; what stands in a testdata folder is known by name only.
func ReadTree(fsys fs.FS) (*Tree, error) {
	t := &Tree{fileSet: token.NewFileSet(), paths: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && left(name):
			return fs.SkipDir
		}
		t.paths[name] = true
		if entry.IsDir() || !readable(name) {
			return nil
		}
		return t.read(fsys, name)
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	return t, nil
}

// left tells which folders hold what was built, installed or left by a person, not the repository.
func left(folder string) bool {
	return slices.Contains([]string{".git", ".local", ".aws-sam", "build"}, folder) ||
		path.Base(folder) == "node_modules"
}

// readable tells which files are read.
func readable(name string) bool {
	if strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/") {
		return false
	}
	return isCode(name) || isScript(name) || path.Ext(name) == ".md" || name == ".version"
}

// isScript tells which files are programs of a shell, which have no extension: those of CI, and those beside
// what they fetch or build.
func isScript(name string) bool {
	folder, base := path.Split(name)
	return (strings.HasPrefix(folder, ".ci/") || strings.HasPrefix(folder, "infra/")) && path.Ext(base) == ""
}

// isCode tells which files are written by hand in some programming or configuration language.
func isCode(name string) bool {
	return path.Base(name) == "Makefile" ||
		slices.Contains([]string{".go", ".ts", ".tsx", ".js", ".html", ".css", ".yaml", ".yml", ".sh", ".py"}, path.Ext(name))
}

// Text gives the text of a file, nil when there is none of this name.
func (t *Tree) Text(name string) []byte {
	for _, f := range t.Files {
		if f.Path == name {
			return f.Text
		}
	}
	return nil
}

// Functions lists the folders directly under functions/.
func (t *Tree) Functions() []string {
	var folders []string
	for name := range t.paths {
		folder, under := strings.CutPrefix(name, "functions/")
		if under && !strings.Contains(folder, "/") && path.Ext(folder) == "" {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return folders
}

// read adds one file.
func (t *Tree) read(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	file := File{Path: name, Text: text}
	if path.Ext(name) == ".go" {
		file.Go, err = parser.ParseFile(t.fileSet, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
	}
	t.Files = append(t.Files, file)
	return nil
}

// folders groups the Go files by folder.
func (t *Tree) folders() map[string][]File {
	all := map[string][]File{}
	for _, f := range t.Files {
		if f.Go != nil {
			all[path.Dir(f.Path)] = append(all[path.Dir(f.Path)], f)
		}
	}
	return all
}

// production lists the Go files that are not tests.
func (t *Tree) production() []File {
	return slices.DeleteFunc(slices.Clone(t.Files), func(f File) bool { return f.Go == nil || f.isTest() })
}

// where gives a position as path:line.
func (t *Tree) where(at token.Pos) string {
	p := t.fileSet.Position(at)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// isTest tells whether go test alone compiles the file.
func (f File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }
