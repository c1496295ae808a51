package main

import (
	"context"
	"fmt"
	"io"

	"recordbridge/infra/local/own"
	"recordbridge/infra/local/runfile"
)

// wanted specifies the stack that the demo uses.
type wanted struct {
	runFile string // run file of a running stack
	name    string // name that the stack must have; "" accepts any
	own     bool   // true if the demo uses the runner to start a separate stack
	runner  string
}

// find returns the selected stack and prints its name. If find started the stack, stop ends it.
func find(ctx context.Context, w wanted, out io.Writer) (stack runfile.Run, stop func(), err error) {
	stop = func() {}
	if w.own {
		var started *own.Stack
		if started, err = own.Start(ctx, "", w.runner, out); err == nil {
			stack, stop = started.Run, started.Stop
		}
	} else {
		stack, err = running(ctx, w.runFile)
	}
	if err != nil {
		return runfile.Run{}, nil, err
	}
	if w.name != "" && stack.Stack != w.name {
		stop()
		return runfile.Run{}, nil, fmt.Errorf("the stack at %s is %q, not %q", stack.BaseURL, stack.Stack, w.name)
	}
	fmt.Fprintf(out, "The stack is %q at %s\n", stack.Stack, stack.BaseURL)
	return stack, stop, nil
}

func running(ctx context.Context, file string) (runfile.Run, error) {
	const advice = "start one with make run or make local-sam, or use -own to let the demo start one"
	stack, err := own.Read(file)
	if err != nil {
		return runfile.Run{}, fmt.Errorf("no stack: %w; %s", err, advice)
	}
	if !own.Responds(ctx, stack) {
		return runfile.Run{}, fmt.Errorf("the stack of %s does not respond at %s; %s", file, stack.BaseURL, advice)
	}
	return stack, nil
}
