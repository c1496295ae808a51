package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"recordbridge/infra/demo/job"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/testkit/expect"
)

// binary builds the runner once for all tests in the package.
var binary = sync.OnceValues(func() (string, error) {
	file, err := filepath.Abs("../../../build/local-under-test")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags",
		"lambda.norpc,grpcnotrace", "-o", file, "./infra/local")
	build.Dir, build.Stderr, build.Env = "../../..", os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	return file, errors.Join(build.Run(), touchSources())
})

// touchSources opens every folder from which the tests' binaries are built. If it didn't, go test would reuse cached
// results when these sources change, because it tracks only files that the test itself opens.
func touchSources() error {
	_, err := os.Stat("../../../template.yaml")
	for _, folder := range []string{
		"functions/connect", "functions/callback", "functions/createexport", "functions/exportworker",
		"functions/downloadexport",
		"functions/webhookworker", "functions/sweeper", "functions/sandboxehr", "shared", "infra/local", "infra/sandbox",
	} {
		err = errors.Join(err, filepath.WalkDir("../../../"+folder,
			func(_ string, _ fs.DirEntry, err error) error { return err }))
	}
	return err
}

type runner struct {
	t       testing.TB
	address string
	args    []string
	runFile string
	command *exec.Cmd
	seeded  runfile.Run
	took    time.Duration // time from the start until the run file exists
	client  http.Client
}

// newRunner starts a runner with the given arguments and stops it when the test ends.
func newRunner(tb testing.TB, args ...string) *runner {
	tb.Helper()
	free, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	expect.NoError(tb, err)
	r := &runner{
		t: tb, address: free.Addr().String(), args: args, runFile: filepath.Join(tb.TempDir(), "run.json"),
		client: http.Client{
			Transport:     &http.Transport{}, // httptest.Server.Close closes the default transport's idle connections
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	expect.NoError(tb, free.Close())
	r.start()
	tb.Cleanup(func() { r.end(syscall.SIGTERM) })
	return r
}

// start starts the runner and waits until it is ready.
func (r *runner) start() {
	r.t.Helper()
	file, err := binary()
	expect.NoError(r.t, err)
	_ = os.Remove(r.runFile)
	r.command = exec.Command(file, append([]string{"-addr", r.address, "-run-file", r.runFile}, r.args...)...)
	r.command.Dir, r.command.Stdout, r.command.Stderr = "../../..", io.Discard, io.Discard
	began := time.Now()
	expect.NoError(r.t, r.command.Start())
	r.until("the runner is ready", func() bool {
		body, err := os.ReadFile(r.runFile)
		return err == nil && json.Unmarshal(body, &r.seeded) == nil
	})
	r.took = time.Since(began)
}

func (r *runner) end(signal syscall.Signal) {
	_ = r.command.Process.Signal(signal)
	_ = r.command.Wait()
}

// until polls until done returns true, and fails the test after a timeout.
func (r *runner) until(what string, done func() bool) {
	r.t.Helper()
	// the runner may have to build every function first, without a build cache
	late := time.After(4 * time.Minute)
	for !done() {
		select {
		case <-late:
			r.t.Fatalf("it never came that %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (r *runner) send(method, address string) []byte {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, address, nil)
	expect.NoError(r.t, err)
	response, err := r.client.Do(request)
	expect.NoError(r.t, err)
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	expect.NoError(r.t, err)
	return body.Bytes()
}

// function calls the console's function API at a path such as "/SweeperFunction/fire".
func (r *runner) function(path string) {
	r.t.Helper()
	r.send(http.MethodPost, "http://"+r.address+"/_local/api/functions"+path)
}

func (r *runner) json(path string, into any) {
	r.t.Helper()
	expect.NoError(r.t, json.Unmarshal(r.send(http.MethodGet, "http://"+r.address+path), into))
}

func (r *runner) job(persona string) *job.Job {
	r.t.Helper()
	j, err := job.New(r.seeded, persona, io.Discard)
	expect.NoError(r.t, err)
	return j
}
