// Command newendpoint generates an endpoint that organisations call with their key. The command writes a handler, its
// wiring and a test, and adds the endpoint to template.yaml, the documents and the tests that name every function (make
// endpoint, CONTRIBUTING.md). The generated endpoint compiles, and make run deploys it. The generated handler only
// returns the caller's organisation, in a single line for the engineer to replace.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "newendpoint:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("newendpoint", flag.ContinueOnError)
	flags.SetOutput(out)
	root := flags.String("root", ".", "repository folder")
	name := flags.String("name", "", "name of the function, such as GetSomething or getsomething")
	method := flags.String("method", "GET", "HTTP method; only GET is supported")
	path := flags.String("path", "", "path below the stage, such as /bridge/something")
	access := flags.String("access", "key", "caller; only key is supported")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("command line: %w", err)
	}
	e, err := newEndpoint(*name, *method, *path, *access)
	if err != nil {
		return err
	}
	files, err := generate(os.DirFS(*root), e)
	if err != nil {
		return err
	}
	return write(*root, files, out)
}

// write writes all generated files and prints their names. It is called only if every file was generated successfully.
func write(root string, files map[string][]byte, out io.Writer) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // others read source code
			return fmt.Errorf("create folder: %w", err)
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil { //nolint:gosec // source code, which others read
			return fmt.Errorf("write %s: %w", name, err)
		}
		fmt.Fprintln(out, " ", name)
	}
	return nil
}
