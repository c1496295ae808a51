// Command apiparts writes the OpenAPI documents from which clients are generated: one for the organisations' backends,
// one for the widget's pages and one for the dashboard. Their only source is docs/openapi.yaml, whose schemas describe
// responses exactly. Generators need less: the parts have a name for every object and no keyword that only narrows a
// value (docs/adr/0057-one-description-three-documents.md).
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
	source := flag.String("source", "docs/openapi.yaml", "`file` with the complete description")
	flag.Parse()
	if err := run(*source, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "apiparts:", err)
		os.Exit(1)
	}
}

func run(source, folder string) error {
	text, err := os.ReadFile(source) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	if err = os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // build output, which everyone may read
		return err
	}
	for _, p := range parts() {
		written, err := p.document(text)
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

// document returns the part's OpenAPI document in YAML.
func (p part) document(source []byte) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(source, &file); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	d := document{root: file.Content[0]}
	d.keep(p)
	if err := d.simplify(); err != nil {
		return nil, err
	}
	if err := d.nameSchemas(); err != nil {
		return nil, err
	}
	d.prune()
	return yaml.Marshal(d.root)
}
