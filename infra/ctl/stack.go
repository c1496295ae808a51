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
	// localRun is the path of the run file that make run writes to the repository folder.
	localRun = ".local/run.json"
	// actor is the actor name recorded in audit rows.
	actor = "operator"
)

// where selects a stack on AWS by name, or any stack by its outputs file. If both fields are empty, where selects the
// stack that make run started.
type where struct{ stack, outputs string }

// session holds the streams of a command. After the command's stack is open, session also holds the operator's rules.
type session struct {
	*wiring.Operator // nil until the stack is open
	streams

	at    where
	stack target.Stack
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
