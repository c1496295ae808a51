// Command drill stages incidents on this machine (make drill). With -name, it stages one incident on a stack of its
// own, prints what an operator would see, and waits until the operator has mended the incident by the runbook's
// commands. Without -name, it runs the commands of every runbook itself, as they are written, and fails if they don't
// mend the incident (docs/operate/drills.md).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/infra/drill/incident"
	"recordbridge/infra/drill/runbook"
	"recordbridge/infra/drill/scene"
	"recordbridge/infra/local/own"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "drill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("drill", flag.ContinueOnError)
	name := flags.String("name", "", "drill to stage and to wait for (default: run the commands of all drills)")
	written := flags.Bool("commands", false, "run the runbook's commands of the drill that -name selects")
	runner := flags.String("runner", "build/local", "program that runs the stack")
	control := flags.String("ctl", "build/ctl", "ctl program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctl, err := filepath.Abs(*control)
	if err != nil {
		return err
	}
	all := incident.All()
	if *name == "" {
		return runAll(ctx, all, *runner, ctl, out)
	}
	at := slices.IndexFunc(all, func(d incident.Drill) bool { return d.Name == *name })
	if at < 0 {
		names := make([]string, 0, len(all))
		for _, d := range all {
			names = append(names, d.Name)
		}
		return fmt.Errorf("no drill %q; the drills are %s", *name, strings.Join(names, ", "))
	}
	mend := byHand(out)
	if *written {
		mend = incident.AsWritten
	}
	_, err = one(ctx, all[at], *runner, ctl, out, mend)
	return err
}

// atOnce is the number of concurrent drills, which mostly wait.
const atOnce = 4

// runAll runs the commands of every drill's runbook, and reports all drills that fail. It prints each drill's output at
// its end, and a table of all drills last.
func runAll(ctx context.Context, all []incident.Drill, runner, ctl string, out io.Writer) error {
	warm, err := own.Start(ctx, "", runner, io.Discard) // builds the functions, which several runners can't do at once
	if err != nil {
		return err
	}
	warm.Stop()
	var group errgroup.Group
	group.SetLimit(atOnce)
	var printing sync.Mutex
	rows, failed := make([]string, len(all)), make([]error, len(all)+1)
	for i, d := range all {
		group.Go(func() error {
			var text bytes.Buffer
			result, failure := one(ctx, d, runner, ctl, &text, incident.AsWritten, "-no-build")
			if failure != nil {
				failed[i] = fmt.Errorf("%s: %w", d.Name, failure)
			}
			rows[i] = fmt.Sprintf("%-22s told after %4.1f s, mended after %4.1f s, commands: %d", d.Name,
				result.Told.Seconds(), result.Mended.Seconds(), result.Commands)
			printing.Lock()
			defer printing.Unlock()
			_, failure = out.Write(text.Bytes())
			return failure
		})
	}
	failed[len(all)] = group.Wait()
	fmt.Fprintln(out, "\n"+strings.Join(rows, "\n"))
	return errors.Join(failed...)
}

func one(ctx context.Context, d incident.Drill, runner, ctl string, out io.Writer,
	mend func(*scene.Scene) incident.Mend, arguments ...string,
) (incident.Result, error) {
	stack, err := own.Start(ctx, "", runner, io.Discard, arguments...)
	if err != nil {
		return incident.Result{}, err
	}
	defer stack.Stop()
	s := scene.New(stack, ".", ctl)
	return d.Run(ctx, s, out, mend(s))
}

// byHand returns a Mend that waits until the operator has mended the incident from another terminal.
func byHand(out io.Writer) func(*scene.Scene) incident.Mend {
	return func(s *scene.Scene) incident.Mend {
		return func(ctx context.Context, _ []runbook.Section, staged incident.Staged) error {
			file := filepath.Join(filepath.Dir(s.RunFile), "environment.sh")
			if err := os.WriteFile(file, []byte(s.Environment()), 0o600); err != nil {
				return err
			}
			fmt.Fprintf(out, "  Run the runbook's commands in another terminal, after: . %s\n", file)
			if staged.Others != nil {
				if err := staged.Others(ctx); err != nil {
					return err
				}
			}
			for staged.Mended(ctx) != nil {
				select {
				case <-ctx.Done():
					return errors.New("stopped before the incident was mended")
				case <-time.After(time.Second):
				}
			}
			return nil
		}
	}
}
