package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"

	"recordbridge/docs"
	"recordbridge/infra/ctl/explain"
)

func explainCommands() []command {
	return []command{{
		name: "explain", flags: "[-line FILE|-]", offline: true, declare: explainLines,
		help: "Explains log lines: what failed, for whom, where, and what to do",
	}}
}

// longestLine is the maximum length of a log line in bytes. CloudWatch accepts lines of up to 256 KiB.
const longestLine = 1 << 20

// explainLines reads log lines and prints each explanation immediately, because the input may never end.
func explainLines(flags *flag.FlagSet) action {
	file := flags.String("line", "-", "`file` with log lines, - for standard input")
	return func(ctx context.Context, s session) (any, error) {
		table, err := explain.NewTable(docs.Failures())
		if err != nil {
			return nil, err
		}
		input, err := s.reader(*file)
		if err != nil {
			return nil, err
		}
		defer input.Close()
		lines := bufio.NewScanner(input)
		lines.Buffer(nil, longestLine)
		known, told, other, broken := &names{session: s, known: map[string]string{}}, 0, 0, 0
		for lines.Scan() {
			line, err := explain.ReadLine(lines.Text())
			switch {
			case err != nil:
				broken++
			case !line.Failed():
				other++
			default:
				told++
				explanation := table.Explain(line)
				known.add(ctx, explanation)
				if err := s.print(explanation); err != nil {
					return nil, err
				}
			}
		}
		fmt.Fprintf(s.said, "ctl: %d lines explained, %d without a failure, %d malformed\n", told, other, broken)
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read -line: %w", err)
		}
		return nil, nil
	}
}

// reader opens the file that -line names. Errors don't contain the file name, because the operator may have passed a
// log line by mistake.
func (s session) reader(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(s.input), nil
	}
	opened, err := os.Open(file) //nolint:gosec // the operator names the file
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	if err != nil {
		return nil, fmt.Errorf("-line: can't read the file: %w", err)
	}
	return opened, nil
}
