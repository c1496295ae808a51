package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"recordbridge/infra/ctl/clinical"
	"recordbridge/shared/fhir/ccda"
)

func ccdaCommands() []command {
	return []command{{
		name: "ccda", flags: "[-report FILE] FILE ...\n-diff FILE FILE\n-diff FOLDER FOLDER", offline: true, operands: true,
		declare: convertDocuments,
		help:    "Converts C-CDA documents to FHIR R4, or compares two conversions",
	}}
}

// convertDocuments converts documents, prints the resources one per line, and writes the report to standard error.
func convertDocuments(flags *flag.FlagSet) action {
	report := flags.String("report", "", "`file` for the report (default: standard error)")
	diff := flags.Bool("diff", false,
		"compare the clinical facts of two files, each a document or printed resources, or count the differences "+
			"between the *.xml and *.ndjson files of two folders by kind; exits with 1 if they differ")
	return func(_ context.Context, s session) (any, error) {
		files := flags.Args()
		switch {
		case *diff && (len(files) != 2 || *report != ""):
			return nil, misused("-diff needs exactly two files or two folders")
		case *diff:
			return compare(files[0], files[1])
		case len(files) == 0:
			return nil, misused("a file is required; usage: ctl ccda FILE ...")
		}
		told, err := convertFiles(files, s.out)
		if len(told.Documents) == 0 {
			return nil, err
		}
		return nil, errors.Join(err, s.reportTo(*report, told))
	}
}

// reportTo writes a report to a file, or to standard error if file is empty.
func (s session) reportTo(file string, report ccda.Report) error {
	if file == "" {
		return show(s.said, report)
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}

// memoryGoal is the soft memory limit in bytes, above which the garbage collector runs more often. Converting a 50 MB
// document must take less than 200 MB, including the program's own memory.
const memoryGoal = 150 << 20

// convertFiles prints the resources of every file that can be converted. The error lists the files that can't be
// converted.
func convertFiles(files []string, out io.Writer) (ccda.Report, error) {
	debug.SetGCPercent(50) // converting a 50 MB document needs several times that much memory
	debug.SetMemoryLimit(memoryGoal)
	var set ccda.Set
	var invalid error
	for _, file := range files {
		document, err := os.ReadFile(file) //nolint:gosec // the operator names the file
		if err != nil {
			return ccda.Report{}, err
		}
		err = set.Add(document)
		switch {
		case errors.Is(err, ccda.ErrInvalid):
			invalid = errors.Join(invalid, fmt.Errorf("%s: %w", file, err))
		case err != nil:
			return ccda.Report{}, err
		}
	}
	lines := bufio.NewWriter(out)
	report, err := set.WriteLines(lines)
	return report, errors.Join(err, lines.Flush(), invalid)
}

type differentError struct{ found clinical.Difference }

func (d *differentError) Error() string {
	return fmt.Sprintf("the files differ: %d added, %d removed, %d changed", len(d.found.Added), len(d.found.Removed),
		len(d.found.Changed))
}

func (d *differentError) shown() any { return d.found }

func compareFiles(before, after string) (any, error) {
	first, err := factsIn(before)
	if err != nil {
		return nil, err
	}
	second, err := factsIn(after)
	if err != nil {
		return nil, err
	}
	found := clinical.Compare(first, second)
	if !found.Equal() {
		return nil, &differentError{found}
	}
	return found, nil
}

// factsIn returns the facts in a file of resources, or in a document, which it converts first.
func factsIn(file string) ([]clinical.Fact, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(strings.TrimSpace(string(content[:min(len(content), 1<<10)])), "{") {
		var resources bytes.Buffer
		if _, err := convertFiles([]string{file}, &resources); err != nil {
			return nil, err
		}
		content = resources.Bytes()
	}
	return clinical.Read(content)
}
