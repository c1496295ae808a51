// Command functiontable writes the table of functions in docs/develop/functions.md. For each function, the table
// lists its routes or triggers, the files in shared/ that its handler and wiring use, and the resources that its role
// may access. Routes and roles come from template.yaml, methods from docs/openapi.yaml, and files from the source code.
//
//	functiontable [-o docs/develop/functions.md]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
	"recordbridge/infra/marked"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "functiontable:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("functiontable", flag.ContinueOnError)
	file := flags.String("o", "docs/develop/functions.md", "document whose table is renewed")
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

// renew regenerates a document's table of functions from the repository at root.
func renew(text []byte, root string) ([]byte, error) {
	return marked.Renew(text, func(name string) (string, error) {
		if name != "functions" {
			return "", fmt.Errorf("unknown table %q", name)
		}
		return functions(root)
	})
}

func functions(root string) (string, error) {
	loaded, err := template.Load(root+"/template.yaml", template.Options{
		BaseURL: "http://localhost", StackName: "stack", Parameters: map[string]string{"EnableSandbox": "true"},
	})
	if err != nil {
		return "", err
	}
	methods, err := methodsOf(root + "/docs/openapi.yaml")
	if err != nil {
		return "", err
	}
	source := source{root: root}
	names := namesOf(loaded)
	var rows []string
	for _, f := range loaded.Functions {
		files, err := source.files(f.Folder)
		if err != nil {
			return "", err
		}
		rows = append(rows, fmt.Sprintf("| [%s](../../functions/%[1]s) | %s | %s | %s |\n", f.Folder,
			strings.Join(triggers(f, methods), "<br>"), strings.Join(files, ", "), touched(f, names)))
	}
	slices.Sort(rows)
	return "| Function | Route or trigger | Code in `shared/` | May touch |\n|---|---|---|---|\n" +
		strings.Join(rows, ""), nil
}

func triggers(f template.Function, methods map[string][]string) []string {
	all := make([]string, 0, len(f.Routes)+len(f.QueueTriggers)+len(f.Schedules))
	for _, r := range f.Routes {
		named := methods[r.Path]
		if len(named) == 0 || r.Method != "ANY" {
			named = []string{r.Method}
		}
		all = append(all, strings.Join(named, ", ")+" "+r.Path)
	}
	for _, q := range f.QueueTriggers {
		_, name, _ := strings.Cut(q.QueueARN[strings.LastIndex(q.QueueARN, ":")+1:], "-")
		all = append(all, name)
	}
	for _, s := range f.Schedules {
		all = append(all, "every "+strings.TrimSuffix(strings.TrimSuffix(s.Every.String(), "0s"), "0m"))
	}
	return all
}

// methodsOf returns the HTTP methods of each path in the OpenAPI description.
func methodsOf(file string) (map[string][]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the repository's own description
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	var description struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(text, &description); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	methods := map[string][]string{}
	for path, operations := range description.Paths {
		for _, m := range []string{"get", "post", "put", "patch", "delete"} {
			if _, ok := operations[m]; ok {
				methods[path] = append(methods[path], strings.ToUpper(m))
			}
		}
	}
	return methods, nil
}
