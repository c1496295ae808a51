package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// TestMain runs as the function under test instead of running the tests if PLAY is set.
func TestMain(m *testing.M) {
	switch os.Getenv("PLAY") {
	case "":
		os.Exit(m.Run())
	case "function":
		lambda.Start(play)
	}
	os.Exit(3) // simulates a function that exits immediately
}

func play(ctx context.Context, does string) (string, error) {
	fmt.Println("asked to", does)
	switch does {
	case "fail":
		return "", errors.New("as it was told")
	case "exit":
		os.Exit(1)
	case "hang":
		<-make(chan struct{})
	case "tell the deadline":
		deadline, _ := ctx.Deadline()
		return deadline.UTC().Format(time.RFC3339), nil
	}
	return does + " " + os.Getenv("LOCALSTACK_RUNTIME_ID") + os.Getenv("GREETING"), nil
}

type report struct{ path, body string }

// begun starts an environment connected to a fake LocalStack that only records reports.
func begun(t *testing.T, role string, limit time.Duration) (*httptest.Server, <-chan report) {
	t.Helper()
	told := make(chan report, 10)
	localstack := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- report{r.URL.Path, string(body)}
	}))
	t.Cleanup(localstack.Close)
	folder := t.TempDir()
	if program, err := os.Executable(); err != nil || role != "" &&
		os.Symlink(program, filepath.Join(folder, "bootstrap")) != nil {
		t.Fatal(err)
	}
	e, err := newEnvironment(options{
		reports: reports{to: localstack.URL, id: "container"}, limit: limit, folder: folder,
		now:       func() time.Time { return time.Date(2126, 3, 4, 5, 6, 7, 0, time.UTC) },
		variables: forFunctions([]string{"PLAY=" + role, "GREETING=hello", "LOCALSTACK_RUNTIME_ID=container"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; (err == nil) != (role == "function") {
			t.Errorf("it ended with %v", err)
		}
	})
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return server, told
}

func ask(t *testing.T, server *httptest.Server, told <-chan report, does string) (log, answer report) {
	t.Helper()
	body := encode(invocation{ID: "id-1", ARN: "arn", Payload: string(encode(does)), Trace: "Root=1"})
	response, err := server.Client().Post(server.URL+"/invoke", "application/json", bytes.NewReader(body))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	_ = response.Body.Close()
	return <-told, <-told
}

func TestEnvironmentRestartsFunctionAfterFailure(t *testing.T) {
	t.Parallel()
	server, told := begun(t, "function", time.Second)
	if got := <-told; got.path != "/status/container/ready" {
		t.Fatalf("got %v, want it to be ready", got)
	}
	for _, test := range []struct{ does, path, body string }{
		{"work", "response", `"work hello"`}, // the function's environment contains no LocalStack variables
		{"fail", "error", "as it was told"},
		{"exit", "error", "Runtime.ExitError"},
		{"work again", "response", `"work again hello"`},
		{"hang", "error", "id-1 Task timed out after 1.00 seconds"},
		{"tell the deadline", "response", `"2126-03-04T05:06:08Z"`},
	} {
		log, answer := ask(t, server, told, test.does)
		if answer.path != "/invocations/id-1/"+test.path || !strings.Contains(answer.body, test.body) {
			t.Errorf("%s: got %v, want %s %s", test.does, answer, test.path, test.body)
		}
		if log.path != "/invocations/id-1/logs" || !strings.Contains(log.body, "START RequestId: id-1") {
			t.Errorf("%s: the log is %v", test.does, log)
		}
		if said := log.body + answer.body; !strings.Contains(said, "asked to "+test.does) {
			t.Errorf("%s: its output is missing in %s", test.does, said)
		}
	}
}

func TestEnvironmentReportsStartFailure(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"none": "exit status 3", "": "Runtime.InvalidEntrypoint"} {
		_, told := begun(t, role, time.Second)
		if got := <-told; got.path != "/status/container/error" || !strings.Contains(got.body, want) {
			t.Errorf("%q: got %v, want %s", role, got, want)
		}
	}
}

func TestEnvironmentRejectsUnknownRequests(t *testing.T) {
	t.Parallel()
	server, _ := begun(t, "function", time.Second)
	for path, body := range map[string]string{"/invoke": "no JSON", "/": "{}"} {
		response, err := server.Client().Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil || response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %s: %v, %v", path, body, response, err)
		}
		_ = response.Body.Close()
	}
}
