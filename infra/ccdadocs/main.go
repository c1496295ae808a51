// Command ccdadocs writes the tables in docs/reference/ccda-tables.md. The tables list the resources converted from the
// project's documents and, if installed, from the public documents. They also list omissions with their reasons, and
// rules with their templates.
//
//	go run ./infra/ccdadocs
//
// Run the command in the repository's root folder. If a table's source documents are missing on this machine, the table
// is left unchanged.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"recordbridge/infra/marked"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ccdadocs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("ccdadocs", flag.ContinueOnError)
	file := flags.String("o", "docs/reference/ccda-tables.md", "document whose tables are renewed")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if text, err = renew(text, "."); err != nil {
		return err
	}
	return os.WriteFile(*file, text, 0o644) //nolint:gosec // a document, for everybody to read
}

func renew(text []byte, root string) ([]byte, error) {
	ours, err := convertAll(root + "/" + testdata)
	if err != nil {
		return nil, err
	}
	public, err := convertAll(root + "/../shared/data/ccda")
	if err != nil {
		return nil, err
	}
	return marked.Renew(text, func(name string) (string, error) { return tableOf(name, root, ours, public) })
}

// tableOf generates the named table. If the table's source documents are missing on this machine, the result is empty.
func tableOf(name, root string, ours, public []converted) (string, error) {
	switch name {
	case "our resources":
		return resources(ours), nil
	case "public resources":
		return resources(public), nil
	case "our omissions":
		return omissions(ours), nil
	case "public omissions":
		return omissions(public), nil
	case "templates":
		return templates(root)
	case "public templates without a rule":
		return without(public), nil
	}
	return "", fmt.Errorf("unknown table %q", name)
}
