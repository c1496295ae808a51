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

// generate returns the files that a new endpoint adds or changes, keyed by repository path.
func generate(repository fs.FS, e endpoint) (map[string][]byte, error) {
	t, err := template.ParseFS(parts, "parts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the parts: %w", err)
	}
	w := &writer{repository: repository, parts: t, endpoint: e, files: map[string][]byte{}}
	if _, err := fs.Stat(repository, "functions/"+e.Folder); err == nil {
		return nil, fmt.Errorf("functions/%s: %w", e.Folder, errTaken)
	}
	if strings.Contains(w.read(apiFile), "operationId: "+e.Operation()+"\n") {
		return nil, fmt.Errorf("operation %s in %s: %w", e.Operation(), apiFile, errTaken)
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

// writer collects files and stores the first error, so callers need to check for an error only once, at the end.
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

func (w *writer) part(name string) string {
	var text bytes.Buffer
	if err := w.parts.ExecuteTemplate(&text, name, w.endpoint); err != nil {
		w.failf("render %s: %w", name, err)
	}
	return text.String()
}

func (w *writer) add(file, part string) { w.put(file, w.part(part)) }

// put stores a file's content. It formats Go code, sorting imports and aligning columns.
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

// read returns a file's content, including any changes made so far.
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

// before inserts text before the only line of a file that begins with anchor.
func (w *writer) before(file, anchor, text string) { w.replace(file, anchor, text+anchor) }

func (w *writer) after(file, anchor, text string) { w.replace(file, anchor, anchor+text) }

// replace replaces old, which must occur exactly once in a file. If old does not occur exactly once, the file's layout
// has changed and this program must be updated.
func (w *writer) replace(file, old, text string) {
	all := w.read(file)
	if n := strings.Count(all, old); n != 1 && w.err == nil {
		w.failf("%s contains this text %d times instead of once: %q", file, n, old)
		return
	}
	w.put(file, strings.Replace(all, old, text, 1))
}
