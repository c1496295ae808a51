package build

import (
	"bytes"
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

// flags must equal the Makefile's: other ones compile the SDK a second time (docs/architecture.md, "Builds").
func flags() []string {
	return []string{"-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags", tags}
}

const tags = "lambda.norpc,grpcnotrace"

// Options of Functions.
type Options struct {
	Root     string    // folder of go.mod, which holds functions/<folder>/bootstrap
	Out      string    // gets <folder>/bootstrap
	Progress io.Writer // is told what is done, in lines for a person
}

// Functions builds every function whose binary is missing or not made from the present sources.
//
// Go offers no cheap way to ask that for many binaries of the same name: one `go build` per function took 1.0 s for 13
// functions of which none had changed, one `go list` with hashes of the sources takes 0.06 s.
func Functions(ctx context.Context, o Options) error {
	wanted, err := fingerprints(ctx, o.Root)
	if err != nil {
		return err
	}
	var stale []string
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		if stamped(o.Out, folder) != wanted[folder] {
			stale = append(stale, folder)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	if err := compile(ctx, o.Root, stale); err != nil {
		return err
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

// progress counts what is done, for a person.
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
	_, _ = fmt.Fprintf(p.out, "  built %d of %d functions: %s\n", p.done, p.total, folder) // a closed terminal stops no build
}

// compile compiles what the functions share before they are linked side by side, when each would do it for itself.
func compile(ctx context.Context, root string, folders []string) error {
	arguments := append([]string{"list", "-tags", tags, "-f", `{{join .Imports "\n"}}`}, mains(folders)...)
	imports, err := goTool(ctx, root, arguments...)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	packages := strings.Fields(string(imports))
	if len(packages) == 0 {
		return nil
	}
	arguments = append(append([]string{"build"}, flags()...), packages...)
	if _, err := goTool(ctx, root, arguments...); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}

func mains(folders []string) []string {
	list := make([]string, len(folders))
	for i, folder := range folders {
		list[i] = "./functions/" + folder + "/bootstrap"
	}
	return list
}

func link(ctx context.Context, o Options, folder string) error {
	out, err := filepath.Abs(binary(o.Out, folder))
	if err != nil {
		return fmt.Errorf("build %s: %w", folder, err)
	}
	// What the repository looks like is asked by git, which is not needed here.
	arguments := append(append([]string{"build", "-buildvcs=false"}, flags()...), "-o", out)
	if _, err = goTool(ctx, o.Root, append(arguments, mains([]string{folder})...)...); err != nil {
		return fmt.Errorf("build %s: %w", folder, err)
	}
	return nil
}

// goTool runs the go command for this machine, without cgo, and returns what it printed.
func goTool(ctx context.Context, root string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // our own arguments
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", arguments[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

func binary(out, folder string) string { return filepath.Join(out, folder, "bootstrap") }
