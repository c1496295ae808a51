package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"recordbridge/infra/apidocs/asyncapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "apidocs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("apidocs", flag.ContinueOnError)
	file := flags.String("o", "docs/asyncapi.yaml", "where to write")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	text, err := asyncapi.Document()
	if err != nil {
		return fmt.Errorf("describe the webhooks: %w", err)
	}
	return os.WriteFile(*file, text, 0o644) //nolint:gosec // a document, for everybody to read
}
