// Command ctl is the operator's command line. The command manages organisations, credentials, webhooks, institutions
// and client registrations, and explains log lines. By default, ctl uses the local stack described in .local/run.json.
// The -stack flag selects a stack on AWS by name. The -outputs flag selects a stack by a file that contains its
// outputs:
//
//	go run ./infra/ctl organisation create -name "Alder Clinic App"
//	go run ./infra/ctl -stack recordbridge organisation list
//
// The command prints tables to a terminal and JSON to anything else, unless -o selects a format. It prints the stack's
// name to standard error. Before a change that can't be undone or that affects patients at once, the command states the
// change and asks; -yes skips the question. Private keys and webhook secrets
// are printed only once, when they are created. The exit code is 0 for success, 2 for an invalid command line, and 1
// for any other failure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

func main() {
	here := streams{
		input: os.Stdin, out: os.Stdout, said: os.Stderr, format: formatJSON,
		asks: isTerminal(os.Stdin) && isTerminal(os.Stderr),
	}
	if isTerminal(os.Stdout) {
		here.format = formatTable
	}
	err := run(context.Background(), os.Args[1:], here)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ctl:", err)
	}
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return 2
	}
	return 1
}

type streams struct {
	input io.Reader // input for secrets and log lines
	out   io.Writer // receives results
	said  io.Writer // receives messages about omissions and the stack in use

	format string // output format; JSON if empty
	asks   bool   // true if a person can answer questions
}

// isTerminal reports whether a file is a terminal. A null device also counts; reading an answer from it then fails.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func run(ctx context.Context, args []string, s streams) error {
	known, help := commands(), false
	flags := flag.NewFlagSet("ctl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var at where
	flags.StringVar(&at.stack, "stack", "", "")
	flags.StringVar(&at.outputs, "outputs", "", "")
	formatFlag(flags, &s.format)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		help = true
	} else if err != nil {
		return misused("%w; ctl itself has only the flags -stack, -outputs and -o, and other flags come after the "+
			"command", err)
	}
	if err := refuseEmptyFlags(flags); err != nil {
		return err
	}
	if at.stack != "" && at.outputs != "" {
		return misused("-stack and -outputs can't be combined")
	}
	words := flags.Args()
	if len(words) > 0 && asks(words[0]) {
		help, words = true, words[1:]
	}
	if len(words) == 2 && asks(words[1]) {
		help, words = true, words[:1]
	}
	if help {
		text, err := known.help(words)
		if err != nil {
			return err
		}
		return tell(s.out, text)
	}
	chosen, err := known.find(words)
	if err != nil {
		return err
	}
	return chosen.run(ctx, at, words[len(strings.Fields(chosen.name)):], s)
}

// run parses the flags, opens a stack if the command needs one, and prints the result.
func (c command) run(ctx context.Context, at where, args []string, s streams) error {
	opened := session{streams: s, at: at, line: append(strings.Fields(c.name), args...)}
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	act := c.declare(flags)
	c.common(flags, &opened.format, &opened.yes)
	err := parse(flags, args, c.operands)
	if errors.Is(err, flag.ErrHelp) {
		return tell(s.out, c.usage())
	}
	if err == nil {
		err = needed(flags, c.needs...)
	}
	if err != nil {
		return misused("%w\nusage: ctl %s", err, strings.ReplaceAll(c.synopsis(), "\n", "\n       ctl "))
	}
	if !c.offline {
		if opened, err = opened.open(ctx); err != nil {
			return err
		}
	}
	result, err := act(audit.WithSource(ctx, "ctl"), opened)
	if printed, ok := errors.AsType[printedError](err); ok {
		return errors.Join(opened.print(printed.shown()), err)
	}
	if err != nil {
		return located(naming(flags, err))
	}
	if result == nil {
		return nil
	}
	return opened.print(result)
}

// located adds the affected row or table to an error, if known. For temporary failures, located also adds the remedy.
func located(err error) error {
	at := fault.SpotOf(err)
	switch {
	case at.Row != "":
		return fmt.Errorf("attribute %s of row %s can't be read (%s): %w", at.Attribute, at.Row, at.Operation, err)
	case at.Table == "":
		return err
	case slices.Contains([]string{
		"ThrottlingException", "ProvisionedThroughputExceededException",
		"RequestLimitExceeded",
	}, at.Class):
		return fmt.Errorf("table %s, %s: %s; try again in a moment (docs/operate/runbooks/tables.md): %w",
			at.Table, at.Operation,
			at.Class, err)
	}
	return fmt.Errorf("table %s, %s: %s: %w", at.Table, at.Operation, at.Class, err)
}

func show(out io.Writer, result any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

func tell(out io.Writer, text string) error {
	_, err := fmt.Fprintln(out, text)
	return err
}

// printedError is an error returned together with a result to print.
type printedError interface {
	error
	shown() any
}

// unfinishedError reports that an object was created but a later step failed, such as writing the audit row.
type unfinishedError struct {
	result any
	cause  error
}

func (u *unfinishedError) Error() string {
	return "the printed result was created, but a later step failed: " + u.cause.Error()
}

func (u *unfinishedError) Unwrap() error { return u.cause }

func (u *unfinishedError) shown() any { return u.result }

// showing returns the result of a command that creates a secret. The secret is printed even if a later step fails,
// because ctl can't show it again.
func showing(result any, made secret.Text, err error) (any, error) {
	if err == nil || made.Empty() {
		return result, err
	}
	return nil, &unfinishedError{result: result, cause: err}
}
