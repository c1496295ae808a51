// Package sam runs the functions in template.yaml in containers, using the SAM CLI's `sam local start-lambda`. The
// package checks the functions' binaries, writes a fully resolved template, and manages the CLI's process and
// containers. Packages triggers and gateway invoke the functions.
package sam

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/template"
)

const (
	startTime = 2 * time.Minute  // time limit for starting the CLI, which loads slowly
	stopTime  = 20 * time.Second // time limit for stopping the CLI and its containers
	lookEvery = 50 * time.Millisecond
)

var (
	errNoCLI = errors.New("functions in containers need the SAM CLI, but the sam command is missing: install it " +
		"(https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/install-sam-cli.html)")
	errNotReady = errors.New("`sam local start-lambda` does not respond")
	errEnded    = errors.New("`sam local start-lambda` has exited")
)

// Options configures Start.
type Options struct {
	Template  string // file that contains the output of Place.Template
	Functions []template.Function
	Place     Place
	Host      netip.Addr // this machine's address for containers
	// Line is called with each line of output from the CLI and the functions.
	Line func(line string)
}

// Lambda is a running `sam local start-lambda` process.
type Lambda struct {
	URL string // URL is the base URL of Lambda's Invoke API.

	command  *exec.Cmd
	mounting []string // docker filters for the functions' containers, including those of other runs in this directory
	reaching string   // environment variable set only in this run's containers
	output   *lineWriter
	gone     chan struct{} // closed when the process has exited
}

// FindCLI returns an error if the SAM CLI is not installed. The error explains how to install the SAM CLI.
func FindCLI() error {
	if _, err := exec.LookPath("sam"); err != nil {
		return errNoCLI
	}
	return nil
}

// Start starts the CLI and waits until it accepts connections. Inside containers, localhost also refers to this
// machine, so that URLs of local portals and webhooks work both inside and outside containers. On success, the caller
// must close the Lambda.
func Start(ctx context.Context, o Options) (*Lambda, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(address, ":")
	// The process lives as long as the Lambda. Close ends the process in an orderly way, even after ctx is done.
	//nolint:gosec // our own arguments
	command := exec.CommandContext(context.WithoutCancel(ctx), "sam", "local", "start-lambda", "--template", o.Template,
		"--host", host, "--port", port, "--skip-pull-image", "--warm-containers", "LAZY", "--add-host",
		"localhost:"+o.Host.String())
	command.Env = cliEnvironment(o.Functions)
	command.SysProcAttr = lambda.Detached(syscall.SIGTERM)
	command.WaitDelay = time.Second
	l := &Lambda{
		URL: "http://" + address, command: command, output: &lineWriter{to: o.Line}, gone: make(chan struct{}),
		reaching: "AWS_ENDPOINT_URL=" + o.Place.URL,
	}
	command.Stdout, command.Stderr = l.output, l.output
	if err = command.Start(); err != nil {
		return nil, fmt.Errorf("start sam: %w", err)
	}
	for _, f := range o.Functions {
		l.mounting = append(l.mounting, "--filter", "volume="+o.Place.folder(f))
	}
	go func() {
		_ = command.Wait() // the last output line explains why the process exited
		close(l.gone)
	}()
	if err = l.wait(ctx, address); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	return l, nil
}

// cliEnvironment returns the runner's environment, which Docker needs, without two groups of variables. AWS variables
// are excluded, because the CLI would pass real credentials to the functions. Variables declared by the functions are
// excluded, because the CLI would prefer the shell's values.
func cliEnvironment(functions []template.Function) []string {
	all := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "AWS_") || slices.ContainsFunc(functions, func(f template.Function) bool {
			_, declared := f.Environment[name]
			return declared
		})
	})
	return append(all, "SAM_CLI_TELEMETRY=0", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true")
}

// Close stops the containers and the CLI. On its own, the CLI would stop its containers one by one and might start more
// in the meantime.
func (l *Lambda) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	_ = l.remove(ctx)                             // a later call repeats this and returns its error
	_ = l.command.Process.Signal(syscall.SIGTERM) // an error means that the process has already exited
	select {
	case <-l.gone:
	case <-ctx.Done():
		_ = l.command.Process.Kill()
		<-l.gone
	}
	return l.remove(context.WithoutCancel(ctx))
}

// wait waits until the CLI accepts connections.
func (l *Lambda) wait(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		var dialer net.Dialer
		if connection, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			return connection.Close()
		}
		select {
		case <-ticker.C:
		case <-l.gone:
			return fmt.Errorf("%w: %s", errEnded, l.output)
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", errNotReady, l.output)
		}
	}
}

func (l *Lambda) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	all, err := engine.Run(ctx, append([]string{"ps", "--all", "--quiet"}, l.mounting...)...)
	if err != nil {
		return fmt.Errorf("containers may be left: %w", err)
	}
	own := slices.DeleteFunc(strings.Fields(all), func(container string) bool {
		variables, gone := engine.Run(ctx, "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", container)
		return gone != nil || !slices.Contains(strings.Fields(variables), l.reaching) // removed, or of another run
	})
	if len(own) == 0 {
		return nil
	}
	if _, err = engine.Run(ctx, append([]string{"rm", "--force"}, own...)...); err != nil {
		return fmt.Errorf("containers may be left: %w", err)
	}
	return nil
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for sam: %w", err)
	}
	address := listener.Addr().String()
	if err = listener.Close(); err != nil {
		return "", fmt.Errorf("listen for sam: %w", err)
	}
	return address, nil
}

// lineWriter forwards a program's output line by line and stores the last line, which explains why the program exited.
type lineWriter struct {
	to    func(line string)
	begun []byte
	last  atomic.Pointer[string]
}

// Write implements io.Writer.
func (s *lineWriter) Write(text []byte) (int, error) {
	s.begun = append(s.begun, text...)
	for {
		line, rest, found := bytes.Cut(s.begun, []byte("\n"))
		if !found {
			return len(text), nil
		}
		s.begun = rest
		if whole := strings.TrimSpace(string(line)); whole != "" {
			s.last.Store(&whole)
			s.to(whole)
		}
	}
}

// String returns the last complete line, or a message if there is none.
func (s *lineWriter) String() string {
	if last := s.last.Load(); last != nil {
		return *last
	}
	return "it has written nothing"
}

var errWrongBinary = errors.New("is not a program for containers here")

// CheckBinaries returns an error if a function's binary is missing or was built for a processor other than the
// containers'. The error explains how to fix the problem. For a binary with the wrong architecture, the CLI itself
// reports only that the function timed out.
func (p Place) CheckBinaries(functions []template.Function) error {
	machine := elf.EM_X86_64
	if p.Architecture == "arm64" {
		machine = elf.EM_AARCH64
	}
	for _, f := range functions {
		file := filepath.Join(p.folder(f), "bootstrap")
		program, err := elf.Open(file)
		if err != nil {
			return fmt.Errorf("%s: %w; leave out -no-build, or -bin", file, err)
		}
		found := program.Machine
		if err = program.Close(); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if found != machine {
			return fmt.Errorf("%s %w: it is for %v, and they run linux/%s; leave out -no-build, or -bin", file, errWrongBinary,
				found, p.Architecture)
		}
	}
	return nil
}
