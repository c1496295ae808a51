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

// Tree holds the text of a repository's sources and documents, its parsed Go files, and the names of all other files.
type Tree struct {
	Files []File // sorted by path

	fileSet *token.FileSet
	paths   map[string]bool // all files and folders, including "."
}

// File is a source file or a document.
type File struct {
	Path string // slash-separated path relative to the root
	Text []byte
	Go   *ast.File // parsed Go file; nil for other languages
}

// ReadTree reads the repository rooted at fsys, skipping folders of build outputs or personal files. Files in testdata
// folders are listed but not read.
func ReadTree(fsys fs.FS) (*Tree, error) {
	t := &Tree{fileSet: token.NewFileSet(), paths: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isSkipped(name):
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

// isSkipped reports whether ReadTree skips a folder because it holds build outputs, installed packages or personal
// files.
func isSkipped(folder string) bool {
	return slices.Contains([]string{".git", ".local", ".aws-sam", "build"}, folder) ||
		path.Base(folder) == "node_modules"
}

func readable(name string) bool {
	if strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/") {
		return false
	}
	return isCode(name) || isScript(name) || path.Ext(name) == ".md" || name == ".version"
}

// isScript reports whether a file is an extensionless script that belongs to CI or is stored next to the data that it
// fetches or builds.
func isScript(name string) bool {
	folder, base := path.Split(name)
	return (strings.HasPrefix(folder, ".ci/") || strings.HasPrefix(folder, "infra/")) && path.Ext(base) == ""
}

// isCode reports whether a file is hand-written in a programming or configuration language.
func isCode(name string) bool {
	return path.Base(name) == "Makefile" ||
		slices.Contains([]string{".go", ".ts", ".tsx", ".js", ".html", ".css", ".yaml", ".yml", ".sh", ".py"}, path.Ext(name))
}

// Text returns a file's text, or nil if the file does not exist.
func (t *Tree) Text(name string) []byte {
	for _, f := range t.Files {
		if f.Path == name {
			return f.Text
		}
	}
	return nil
}

// Functions returns the names of the folders directly below functions/.
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

func (t *Tree) folders() map[string][]File {
	all := map[string][]File{}
	for _, f := range t.Files {
		if f.Go != nil {
			all[path.Dir(f.Path)] = append(all[path.Dir(f.Path)], f)
		}
	}
	return all
}

// production returns the Go files other than tests.
func (t *Tree) production() []File {
	return slices.DeleteFunc(slices.Clone(t.Files), func(f File) bool { return f.Go == nil || f.isTest() })
}

// where formats a position as path:line.
func (t *Tree) where(at token.Pos) string {
	p := t.fileSet.Position(at)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func (f File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }
