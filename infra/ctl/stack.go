package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"recordbridge/infra/ctl/target"
	"recordbridge/infra/ctl/wiring"
)

const (
	// localRun is the path of make run's run file, relative to the repository root.
	localRun = ".local/run.json"
	actor    = "operator"
)

// where selects a stack, either by its name on AWS or by its outputs file. The zero value selects the stack that make
// run started.
type where struct{ stack, outputs string }

// session holds a command's streams and, once its stack is open, an Operator.
type session struct {
	*wiring.Operator // nil until the stack is open
	streams

	at    where
	stack target.Stack
	yes   bool     // true if -yes was given
	line  []string // command and its arguments
}

// open opens the selected stack and prints its name.
func (s session) open(ctx context.Context) (session, error) {
	stack, err := s.at.find(ctx)
	if err != nil {
		return session{}, err
	}
	fmt.Fprintln(s.said, "ctl: "+stack.Name)
	s.stack = stack
	s.Operator, err = stack.Open(ctx, actor)
	return s, err
}

func (w where) find(ctx context.Context) (target.Stack, error) {
	switch {
	case w.stack != "":
		return target.Named(ctx, w.stack)
	case w.outputs != "":
		return target.FromFile(ctx, w.outputs)
	}
	_, err := os.Stat(localRun)
	if errors.Is(err, fs.ErrNotExist) {
		return target.Stack{}, misused("no stack: there is no local run here (%s, which make run writes). Start a local "+
			"run with make run, or use -stack NAME or -outputs FILE", localRun)
	}
	return target.FromFile(ctx, localRun)
}
