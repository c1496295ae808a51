package main

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHelpRunsWithoutStack checks that ctl prints requested help to standard output and usage errors to standard error.
func TestHelpRunsWithoutStack(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ line, want, not string }{
		{"-h", "registration show      Shows the registration in use", "create the endpoint even if"},
		{"--help", "endpoint create", ""},
		{"help", "endpoint create        Creates an endpoint, so that patients", ""},
		{"help endpoint", "ctl endpoint approve -id ID [-origin ORIGIN ...]", "webhook"},
		{"endpoint help", "ctl endpoint approve -id ID", "webhook"},
		{"endpoint -h", "ctl endpoint approve -id ID", "webhook"},
		{"help endpoint create", "-unpinned\n    \tcreate the endpoint even if the server's discovery", "endpoint show"},
		{"endpoint create -h", "usage: ctl endpoint create -fhir-base URL", "endpoint show"},
		{"endpoint create -name X --help", "-name name\n    \tinstitution's name", ""},
		{"-stack nowhere client rotate -help", "       ctl client rotate -id ID -key-id KID", ""},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(test.line), to(&out))
		if exitCode(err) != 0 || !strings.Contains(out.String(), test.want) || test.not != "" &&
			strings.Contains(out.String(), test.not) {
			t.Errorf("%q: %v, %s", test.line, err, out.String())
		}
	}
}

func TestUsageErrorSuggestsSimilarCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"":                  "endpoint create        Creates an endpoint, so that patients",
		"endpoint":          "ctl endpoint approve -id ID",
		"endpont create":    "did you mean endpoint?",
		"organization list": "did you mean organisation?",
		"help webhok":       "did you mean webhook?",
		"endpoint craete":   "did you mean create?",
		"endpoint zzzzzzzz": "to list its subcommands, run ctl help endpoint",
		"zzzzzzzz create":   "to list all commands, run ctl help",
		"-output x organisation list": "flag provided but not defined: -output; ctl itself has only the flags -stack, " +
			"-outputs and -o",
		"-stack= organisation list":         "-stack is empty",
		"-stack a -outputs b platform show": "-stack and -outputs can't be combined",
		"endpoint create -nme X":            "flag provided but not defined: -nme\nusage: ctl endpoint create",
		"endpoint create -name X":           "-fhir-base is required: FHIR base URL\nusage: ctl endpoint create",
		"endpoint create left over":         "unexpected arguments after the flags (2)",
		"organisation list":                 "no local run here (.local/run.json",
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(line), to(&out))
		if exitCode(err) != 2 || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %v, printed %q; want %q", line, exitCode(err), err, out.String(), want)
		}
	}
	if code := exitCode(errors.New("anything else")); code != 1 {
		t.Errorf("a failure exits with %d", code)
	}
}

// TestSynopsisMatchesFlags checks that the synopsis of each command lists exactly the flags that the command accepts.
func TestSynopsisMatchesFlags(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`(?:^|[\s\[(])-([a-z-]+)`)
	for _, c := range commands() {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(flags)
		var told, declared []string
		for _, m := range word.FindAllStringSubmatch(c.flags, -1) {
			told = append(told, m[1])
		}
		flags.VisitAll(func(f *flag.Flag) { declared = append(declared, f.Name) })
		slices.Sort(told)
		if told = slices.Compact(told); !slices.Equal(told, declared) {
			t.Errorf("%s tells of %v and parses %v", c.name, told, declared)
		}
		for _, name := range c.needs {
			if !slices.Contains(declared, name) {
				t.Errorf("%s needs -%s, which it does not parse", c.name, name)
			}
		}
	}
}

// TestDocumentedCommandsExist checks that every ctl command in a code span or an example in the documents exists.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	all := commands()
	cited := regexp.MustCompile("(?m)(?:`(?:ctl )?" + `|^\s*(?:ctl|go run \./infra/ctl(?: -stack \S+)?) |&& ctl )` +
		`([a-z]+(?: [a-z-]+)+)`)
	seen := map[string]bool{}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range cited.FindAllStringSubmatch(string(body), -1) {
			words, _, _ := strings.Cut(m[1], " -")
			if len(all.group(strings.Fields(words)[0])) == 0 {
				continue
			}
			seen[words] = true
			if _, err := all.find(strings.Fields(words)); err != nil {
				t.Errorf("%s names %q: %v", path, words, err)
			}
		}
		return nil
	})
	if err != nil || len(seen) < 50 {
		t.Errorf("%d commands found: %v", len(seen), err)
	}
}
