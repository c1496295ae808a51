// Package build builds the functions' bootstrap binaries for this machine if their inputs have changed. Deployments do
// not use this package: `sam build` builds the arm64 binaries from the Makefile, with the same flags.
package build

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// flags returns the build flags, which must match the Makefile's. With different flags, the SDK would be compiled a
// second time (docs/develop/architecture.md, "Builds").
func flags() []string {
	return []string{"-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags", "lambda.norpc,grpcnotrace"}
}

// Options configures Functions.
type Options struct {
	Root     string    // directory that contains go.mod and functions/<folder>/bootstrap
	Out      string    // output directory for <folder>/bootstrap
	Progress io.Writer // receives human-readable progress messages
	Platform Platform  // platform of the binaries; this machine's if empty
}

// Platform is a binary's target platform, in Go's names.
type Platform struct{ OS, Architecture string }

func here() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// Folder returns the platform's output directory below out, or out itself for this machine's platform.
func (p Platform) Folder(out string) string {
	if p == here() {
		return out
	}
	return filepath.Join(out, p.Architecture)
}

// Functions builds every function whose binary is missing or out of date. A single go command compiles all functions
// and links only those that have changed. Running a separate go command for each of 20 functions would take seconds
// even if nothing has changed.
func Functions(ctx context.Context, o Options) error {
	wanted, err := fingerprints(ctx, o)
	if err != nil {
		return err
	}
	var stale []string
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		if stamped(o.Out, folder) != wanted[folder] {
			stale = append(stale, folder)
		}
	}
	var links errgroup.Group
	links.SetLimit(runtime.NumCPU())
	said := progress{total: len(stale), out: o.Progress}
	for _, folder := range stale {
		links.Go(func() error {
			if err := link(ctx, o, folder); err != nil {
				return err
			}
			said.built(folder)
			return stamp(o.Out, folder, wanted[folder])
		})
	}
	return links.Wait()
}

type progress struct {
	total int
	out   io.Writer

	mu   sync.Mutex
	done int
}

func (p *progress) built(folder string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	// a closed terminal must not stop the build
	_, _ = fmt.Fprintf(p.out, "  built %d of %d functions: %s\n", p.done, p.total, folder)
}

func link(ctx context.Context, o Options, folder string) error {
	out, err := filepath.Abs(binary(o.Out, folder))
	if err != nil {
		return fmt.Errorf("build %s: %w", folder, err)
	}
	// Stamping the repository's state would require git, and local builds don't need the stamp.
	arguments := slices.Concat([]string{"build", "-buildvcs=false"}, flags(), []string{"-o", out, mainPackage(folder)})
	if _, err = o.goTool(ctx, arguments...); err != nil {
		return fmt.Errorf("build %s: %w", folder, err)
	}
	return nil
}

// goTool runs the go command for the platform, without cgo, and returns its output.
func (o Options) goTool(ctx context.Context, arguments ...string) ([]byte, error) {
	platform := cmp.Or(o.Platform, here())
	command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // our own arguments
	command.Dir = o.Root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", arguments[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

func binary(out, folder string) string { return filepath.Join(out, folder, "bootstrap") }
