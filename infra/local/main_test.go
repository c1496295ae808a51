package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	awslambda "github.com/aws/aws-lambda-go/lambda"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

// The test binary is the bootstrap of both functions of testdata/template.yaml.
func TestMain(m *testing.M) {
	switch os.Getenv("AWS_LAMBDA_FUNCTION_NAME") {
	case "local-EchoFunction":
		awslambda.Start(func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
			return events.APIGatewayProxyResponse{StatusCode: 200, Body: os.Getenv("ANSWER") + " " + os.Getenv("RANGES")}, nil
		})
	case "local-WorkerFunction":
		awslambda.Start(report)
	default:
		os.Exit(runTests(m))
	}
}

// runner is the program under test.
var runner string

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "runner")
	if err != nil {
		return fail("temporary folder: %v", err)
	}
	defer os.RemoveAll(dir)
	runner = filepath.Join(dir, "runner")
	if out, err := exec.Command("go", "build", "-o", runner, ".").CombinedOutput(); err != nil {
		return fail("build: %v\n%s", err, out)
	}
	return m.Run()
}

func fail(format string, arguments ...any) int {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	return 1
}

// report sends what the function was given to the test.
func report(event json.RawMessage) error {
	response, err := http.Post(os.Getenv("REPORT_URL"), "application/json", strings.NewReader(string(event)))
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// project makes a folder in which the runner can be started.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	content, err := os.ReadFile(filepath.Join("testdata", "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(dir, "template.yaml"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"echo", "worker"} {
		if err := os.MkdirAll(filepath.Join(dir, "build", folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(dir, "build", folder, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// started is a runner that has said that it is ready.
type started struct {
	*exec.Cmd

	url string // without the stage
}

func start(t *testing.T, dir string, arguments ...string) started {
	t.Helper()
	command := exec.CommandContext(t.Context(), runner, append([]string{"-no-build", "-seed=false", "-addr", "127.0.0.1:0"}, arguments...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "SANDBOX_DATA_DIR=bundles")
	command.Stderr = t.Output()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		if strings.Contains(scanner.Text(), "Ctrl-C ends it.") {
			break
		}
	}
	var run map[string]any
	content, err := os.ReadFile(filepath.Join(dir, ".local", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &run); err != nil {
		t.Fatal(err)
	}
	base, _ := run["base_url"].(string)
	return started{command, strings.TrimSuffix(base, "/v1")}
}

// send sends text to a queue of the embedded AWS.
func (s started) send(t *testing.T, queue, text string) {
	t.Helper()
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &s.url, Credentials: credentials.NewStaticCredentialsProvider("test", "local", ""),
	})
	_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: awssdk.String(s.url + "/000000000000/" + queue), MessageBody: &text,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s started) do(t *testing.T, method, path, host string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func TestEverythingIsServedOnOnePort(t *testing.T) {
	t.Parallel()
	reports := make(chan string, 1)
	report := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reports <- string(body)
	}))
	t.Cleanup(report.Close)
	dir := project(t)
	s := start(t, dir, "-param", "ReportUrl="+report.URL)

	status, body := s.do(t, "GET", "/v1/echo", "")
	bundles, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := s.url + "/v1 true " + filepath.Join(bundles, "bundles") + " 127.0.0.0/8,::1/128"
	if status != http.StatusOK || body != want {
		t.Errorf("the API answered %d %q, want %q", status, body, want)
	}
	s.send(t, "local-WorkQueue", "a nudge")
	var batch events.SQSEvent
	if err := json.Unmarshal([]byte(<-reports), &batch); err != nil || len(batch.Records) != 1 || batch.Records[0].Body != "a nudge" {
		t.Errorf("the worker got %+v (%v), want the message", batch, err)
	}
	if status, body := s.do(t, "POST", "/_local/fire/WorkerFunction", ""); status != http.StatusOK {
		t.Errorf("fire: got %d %s", status, body)
	}
	if got := <-reports; !strings.Contains(got, `"detail-type":"Scheduled Event"`) {
		t.Errorf("the worker got %s, want a scheduled event", got)
	}
	for path, want := range map[string]int{
		"/": http.StatusOK, "/_local": http.StatusOK, "/_local/state": http.StatusOK, "/_local/inbox/alder": http.StatusOK,
		"/v1/nothing": http.StatusForbidden, "/nothing": http.StatusForbidden, "/_runtime/nobody/2018-06-01/runtime/invocation/next": http.StatusGone,
	} {
		if got, _ := s.do(t, "GET", path, ""); got != want {
			t.Errorf("GET %s: got %d, want %d", path, got, want)
		}
		if got, _ := s.do(t, "GET", path, "rebound.example:4566"); got != http.StatusMisdirectedRequest {
			t.Errorf("GET %s as rebound.example: got %d, want 421", path, got)
		}
	}
	if got, _ := s.do(t, "GET", "/_local/state", "localhost:4566"); got != http.StatusOK {
		t.Errorf("as localhost: got %d, want 200", got)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("got %v, want an orderly end", err)
	}
}

// state is what the test reads of /_local/state.
type state struct {
	Functions []functionState `json:"functions"`
	Queues    []queueState    `json:"queues"`
	Webhooks  []webhookState  `json:"webhooks"`
}

type functionState struct {
	ID          string `json:"id"`
	Schedule    string `json:"schedule"`
	Processes   int    `json:"processes"`
	Invocations int    `json:"invocations"`
}

type queueState struct {
	Name       string `json:"name"`
	Visible    int    `json:"visible"`
	DeadLetter bool   `json:"dead_letter"`
}

type webhookState struct {
	Path    string `json:"path"`
	Verdict string `json:"verdict"`
}

func TestTheConsoleTellsHowTheStackStands(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := start(t, dir)
	s.do(t, "GET", "/v1/echo", "")
	s.send(t, "local-DeadLetterQueue", "a dead letter")
	s.do(t, "POST", "/_local/inbox/alder", "")
	_, body := s.do(t, "GET", "/_local/state", "")
	var got state
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := state{
		Functions: []functionState{
			{ID: "EchoFunction", Processes: 1, Invocations: 1},
			{ID: "WorkerFunction", Schedule: "every 1h0m0s"},
		},
		Queues:   []queueState{{Name: "local-DeadLetterQueue", Visible: 1, DeadLetter: true}, {Name: "local-WorkQueue"}},
		Webhooks: []webhookState{{Path: "/_local/inbox/alder", Verdict: "unknown"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if status, body := s.do(t, "POST", "/_local/kill/EchoFunction", ""); status != http.StatusOK || body != "{\"killed\":1}\n" {
		t.Errorf("kill: got %d %s, want one process killed", status, body)
	}
}
