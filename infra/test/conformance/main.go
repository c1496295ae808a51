// Command conformance runs the embedded AWS's scripts against third-party servers. (A test in this package runs the
// same scripts against the embedded AWS itself.) A difference is a failure unless differences.yaml lists it with a
// reason.
//
//	go run ./infra/test/conformance -servers DIR [-server NAME] [-run PART] [-list FILE] [-v]
//
// DIR is the folder where .ci/conformance installed the servers. The exit status is 1 if a difference is not listed or
// a server is missing.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"

	"recordbridge/infra/test/conformance/corpus"
	"recordbridge/infra/test/conformance/suite"
)

//go:embed scripts
var files embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := suite.Options{Out: out}
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.StringVar(&o.Folder, "servers", "", "folder in which .ci/conformance installed the servers")
	flags.StringVar(&o.Part, "run", "", "play only scripts whose id holds this")
	flags.BoolVar(&o.Verbose, "v", false, "tell the listed differences, too")
	only := flags.String("server", "", "play to this server only")
	list := flags.String("list", "infra/test/conformance/differences.yaml", "file of the listed differences")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	text, err := os.ReadFile(*list)
	if err != nil {
		return fmt.Errorf("read the listed differences: %w", err)
	}
	o.List = string(text)
	scripts, err := fs.Sub(files, "scripts")
	if err != nil {
		return fmt.Errorf("find the scripts: %w", err)
	}
	if o.Scripts, err = corpus.Load(scripts); err != nil {
		return fmt.Errorf("load the scripts: %w", err)
	}
	o.Scripts = slices.DeleteFunc(o.Scripts, func(s corpus.Script) bool { return !strings.Contains(s.ID, o.Part) })
	o.Servers = slices.DeleteFunc(servers(),
		func(s suite.Server) bool { return *only != "" && !strings.EqualFold(*only, s.Name) })
	return suite.Run(ctx, o)
}
