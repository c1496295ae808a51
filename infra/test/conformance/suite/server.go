package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	startTime = 60 * time.Second // long enough for a JVM to start on a busy machine
	pollEvery = 50 * time.Millisecond
)

// Server is a third-party server that the suite starts and tests.
type Server struct {
	Name     string
	Services []string // services whose scripts are run against the server
	File     string   // path that exists in the installation folder only if the server is installed
	// Command returns the command that starts the server on the given port of 127.0.0.1. folder is the installation
	// folder. The server's working directory is initially empty.
	Command func(ctx context.Context, folder, port string) *exec.Cmd
}

const loopback = "127.0.0.1"

// running is a third-party server that has started.
type running struct {
	url     string
	process *exec.Cmd
	exited  chan struct{}
	folder  string // the server's working directory
}

func (s Server) start(ctx context.Context, folder string, client *http.Client) (*running, error) {
	if _, err := os.Stat(filepath.Join(folder, s.File)); err != nil {
		return nil, fmt.Errorf("%s is not installed: %w", s.Name, err)
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	r := &running{url: "http://" + net.JoinHostPort(loopback, port), exited: make(chan struct{})}
	if r.folder, err = os.MkdirTemp("", "conformance"); err != nil {
		return nil, fmt.Errorf("folder for %s: %w", s.Name, err)
	}
	r.process = s.Command(ctx, folder, port)
	r.process.Dir, r.process.Stdout, r.process.Stderr = r.folder, io.Discard, io.Discard
	if err := r.process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	go func() {
		_ = r.process.Wait() // always returns an error, because the process is killed
		close(r.exited)
	}()
	if err := r.answers(ctx, client); err != nil {
		r.stop()
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return r, nil
}

// answers waits until the server responds to an HTTP request. It returns an error if the server exits or startTime
// elapses.
func (r *running) answers(ctx context.Context, client *http.Client) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-limited.Done():
			return errors.New("it does not answer")
		case <-r.exited:
			return errors.New("it ended at once")
		case <-ticker.C:
		}
		request, err := http.NewRequestWithContext(limited, http.MethodGet, r.url+"/", http.NoBody)
		if err != nil {
			return fmt.Errorf("make a request: %w", err)
		}
		if response, err := client.Do(request); err == nil {
			return response.Body.Close()
		}
	}
}

func (r *running) stop() {
	_ = r.process.Process.Kill() // ignore the error if the process has already exited
	<-r.exited
	_ = os.RemoveAll(r.folder) // errors are harmless in the system's temporary folder
}

func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil || !ok {
		return "", errors.Join(errors.New("find a port"), err)
	}
	return strconv.Itoa(address.Port), nil
}
