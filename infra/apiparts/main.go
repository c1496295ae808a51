// Command apiparts writes the OpenAPI documents from which clients are generated: one for the organisations' backends,
// one for the widget's pages and one for the dashboard. Their sources are docs/openapi.yaml, whose schemas describe
// responses exactly, and docs/asyncapi.yaml, whose messages are the variants of an event. Generators need less: the
// documents have a name for every object, and no keyword that only narrows a value
// (docs/adr/0057-one-description-three-documents.md).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

func main() {
	folder := flag.String("out", "build/openapi", "`folder` to which the documents are written")
	source := flag.String("source", "docs", "`folder` with openapi.yaml and asyncapi.yaml")
	flag.Parse()
	if err := run(*source, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "apiparts:", err)
		os.Exit(1)
	}
}

func run(source, folder string) error {
	described, err := readDescription(source)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // build output, which everyone may read
		return err
	}
	for _, p := range parts() {
		written, err := p.document(described)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		path := filepath.Join(folder, p.name+".yaml")
		if err := os.WriteFile(path, written, 0o644); err != nil { //nolint:gosec // build output, which everyone may read
			return err
		}
	}
	return nil
}

// description holds the texts of openapi.yaml and asyncapi.yaml.
type description struct{ api, events []byte }

func readDescription(folder string) (description, error) {
	api, err := os.ReadFile(filepath.Join(folder, "openapi.yaml")) //nolint:gosec // the caller names the folder
	if err != nil {
		return description{}, err
	}
	events, err := os.ReadFile(filepath.Join(folder, "asyncapi.yaml")) //nolint:gosec // the caller names the folder
	return description{api: api, events: events}, err
}

// document returns the part's OpenAPI document in YAML.
func (p part) document(source description) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(source.api, &file); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	d := document{root: file.Content[0]}
	d.keep(p)
	if err := d.addEvents(source.events); err != nil {
		return nil, err
	}
	if err := d.simplify(); err != nil {
		return nil, err
	}
	if err := d.nameSchemas(); err != nil {
		return nil, err
	}
	d.prune()
	return yaml.Marshal(d.root)
}
