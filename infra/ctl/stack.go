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
	// localRun is what make run writes of itself, in the repository's folder.
	localRun = ".local/run.json"
	// actor is who the audit rows name.
	actor = "operator"
)

// where says which stack is meant: one on AWS by its name, one by a file, or with neither that of make run.
type where struct{ stack, outputs string }

// session is what a command works with: the rules, opened on a stack.
type session struct {
	*wiring.Operator // nil until the stack is open
	streams

	at    where
	stack target.Stack
}

// open opens the stack that is meant, and says which one that is.
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
		return target.Filed(ctx, w.outputs)
	}
	_, err := os.Stat(localRun)
	if errors.Is(err, fs.ErrNotExist) {
		return target.Stack{}, misused("no stack: there is no local run here (%s, which make run writes). Start one "+
			"with make run, or use -stack NAME or -outputs FILE", localRun)
	}
	return target.Filed(ctx, localRun)
}
