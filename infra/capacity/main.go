package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	var l load
	l.bind(flags)
	file := flags.String("template", "template.yaml", "the stack")
	parameters := flags.String("parameters", "", "parameters of the stack, as samconfig.toml has them: \"Name=Value Name=Value\"")
	journeys := flags.Bool("journeys", false, "tell what each journey takes, in place of what the load does")
	within := flags.Float64("within", 0, "tell only the limits that are reached within so many times the load; 0 tells all")
	document := flags.String("document", "", "a document, whose figures are to be made anew")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	if *document != "" {
		return renewFile(*document, *file)
	}
	given, err := readParameters(*parameters)
	if err != nil {
		return err
	}
	m, err := newModel(l, deployment{file: *file, parameters: given})
	if err != nil {
		return err
	}
	text := m.report(*within)
	if *journeys {
		text = m.journeys()
	}
	if missing := m.figures.missing(); len(missing) > 0 {
		return fmt.Errorf("figures.csv has no %s", strings.Join(missing, ", "))
	}
	_, err = io.WriteString(out, text)
	return err
}

// renewFile makes the figures of a document anew.
func renewFile(document, file string) error {
	text, err := os.ReadFile(document) //nolint:gosec // the file is named by whoever starts the command
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if text, err = renew(text, file); err != nil {
		return err
	}
	return os.WriteFile(document, text, 0o644) //nolint:gosec // a document, for everybody to read
}

// prompt begins a block of a document that this command has written.
const prompt = "```text\n$ go run ./infra/capacity"

// renew makes the blocks of a document anew, each with the flags that it names.
func renew(text []byte, file string) ([]byte, error) {
	var out bytes.Buffer
	for {
		before, block, found := bytes.Cut(text, []byte(prompt))
		out.Write(before)
		if !found {
			return out.Bytes(), nil
		}
		command, rest, _ := bytes.Cut(block, []byte("\n"))
		_, after, ended := bytes.Cut(rest, []byte("```\n"))
		if !ended {
			return nil, errors.New("renew the document: a block has no end")
		}
		fmt.Fprintf(&out, "%s%s\n", prompt, command)
		if err := run(append(strings.Fields(string(command)), "-template", file), &out); err != nil {
			return nil, err
		}
		out.WriteString("```\n")
		text = after
	}
}
