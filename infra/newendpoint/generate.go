package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed parts
var parts embed.FS

// generate returns the files that a new endpoint adds or changes, keyed by path in the repository.
func generate(repository fs.FS, e endpoint) (map[string][]byte, error) {
	t, err := template.ParseFS(parts, "parts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the parts: %w", err)
	}
	w := &writer{repository: repository, parts: t, endpoint: e, files: map[string][]byte{}}
	if _, err := fs.Stat(repository, "functions/"+e.Folder); err == nil {
		return nil, fmt.Errorf("functions/%s: %w", e.Folder, errTaken)
	}
	folder := "functions/" + e.Folder + "/"
	w.add(folder+e.Folder+".go", "handler.go.tmpl")
	w.add(folder+e.Folder+"_test.go", "handler_test.go.tmpl")
	w.add(folder+"wiring/wiring.go", "wiring.go.tmpl")
	w.add(folder+"bootstrap/main.go", "bootstrap.go.tmpl")
	w.template()
	w.documents()
	w.tests()
	return w.files, w.err
}

// writer collects files and stores the first error, so callers can call its methods in sequence without checking each
// error.
type writer struct {
	repository fs.FS
	parts      *template.Template
	endpoint   endpoint
	files      map[string][]byte
	err        error
}

func (w *writer) failf(layout string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(layout, args...)
	}
}

// part renders a part of the template.
func (w *writer) part(name string) string {
	var text bytes.Buffer
	if err := w.parts.ExecuteTemplate(&text, name, w.endpoint); err != nil {
		w.failf("render %s: %w", name, err)
	}
	return text.String()
}

// add adds a Go file that contains the given part of the template.
func (w *writer) add(file, part string) { w.put(file, w.part(part)) }

// put stores the content of a file. If the file contains Go code, put formats it, which sorts imports and aligns
// columns.
func (w *writer) put(file, text string) {
	if !strings.HasSuffix(file, ".go") {
		w.files[file] = []byte(text)
		return
	}
	formatted, err := format.Source([]byte(text))
	if err != nil {
		w.failf("format %s: %w", file, err)
	}
	w.files[file] = formatted
}

// read returns a file's current content, including the changes made so far.
func (w *writer) read(file string) string {
	if text, ok := w.files[file]; ok {
		return string(text)
	}
	text, err := fs.ReadFile(w.repository, file)
	if err != nil {
		w.failf("read %s: %w", file, err)
	}
	return string(text)
}

// before inserts text before the only line in a file that begins with anchor. after inserts text after that line.
func (w *writer) before(file, anchor, text string) { w.replace(file, anchor, text+anchor) }

func (w *writer) after(file, anchor, text string) { w.replace(file, anchor, anchor+text) }

// replace replaces a text that must occur exactly once in a file. If the text does not occur exactly once, the file's
// layout has changed and this program must be updated.
func (w *writer) replace(file, old, text string) {
	all := w.read(file)
	if n := strings.Count(all, old); n != 1 && w.err == nil {
		w.failf("%s contains this text %d times instead of once: %q", file, n, old)
		return
	}
	w.put(file, strings.Replace(all, old, text, 1))
}
