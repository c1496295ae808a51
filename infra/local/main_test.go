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
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	awslambda "github.com/aws/aws-lambda-go/lambda"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/runfile"
)

// The test binary also serves as the bootstrap of both functions in testdata/template.yaml.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_FUNCTION_NAME") == "local-EchoFunction" {
		fmt.Println("started")
	}
	switch os.Getenv("AWS_LAMBDA_FUNCTION_NAME") {
	case "local-EchoFunction":
		awslambda.Start(func(ctx context.Context,
			event events.APIGatewayProxyRequest,
		) (events.APIGatewayProxyResponse, error) {
			answer := events.APIGatewayProxyResponse{
				StatusCode: 200, Body: os.Getenv("ANSWER") + " " + os.Getenv("RANGES"),
				Headers: map[string]string{"Files": os.Getenv("AWS_ENDPOINT_URL_S3")},
			}
			if event.QueryStringParameters["look"] != "" {
				answer.Body = fmt.Sprint(look(ctx))
			}
			return answer, nil
		})
	case "local-WorkerFunction":
		awslambda.Start(report)
	default:
		os.Exit(runTests(m))
	}
}

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

// report accesses the worker's queue and posts the function's input to the test.
func report(ctx context.Context, event json.RawMessage) error {
	_ = look(ctx) // other tests check the result
	response, err := http.Post(os.Getenv("REPORT_URL"), "application/json", strings.NewReader(string(event)))
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// look reads the attributes of a queue that only the worker is permitted to read.
func look(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	_, err = sqs.NewFromConfig(cfg).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: awssdk.String(os.Getenv("AWS_ENDPOINT_URL") + "/000000000000/local-WorkQueue"),
	})
	return err
}

// project creates a directory with everything that a runner needs to start.
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
	if err = os.WriteFile(filepath.Join(dir, ".version"), []byte("1.2.3\n"), 0o600); err != nil {
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

// started is a runner that has reported that it is ready.
type started struct {
	*exec.Cmd

	url       string // base URL without the stage
	dashboard string
	aws       runfile.AWS
}

func start(t *testing.T, dir string, arguments ...string) started {
	t.Helper()
	command := exec.CommandContext(t.Context(), runner,
		append([]string{"-no-build", "-seed=false", "-addr", "127.0.0.1:0"}, arguments...)...)
	command.Dir = dir
	if !slices.Contains(arguments, "-sam") { // with -sam, functions can't access a directory on this machine
		command.Env = append(os.Environ(), "SANDBOX_DATA_DIR=bundles")
	}
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
		if strings.Contains(scanner.Text(), "Press Ctrl-C to stop.") {
			break
		}
	}
	file := filepath.Join(dir, ".local", "run.json")
	if i := slices.Index(arguments, "-run-file"); i >= 0 {
		file = arguments[i+1]
	}
	var run runfile.Run
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &run); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(run.Release, "-1.2.3-unknown") {
		t.Errorf("the run file names the release %q", run.Release)
	}
	return started{command, strings.TrimSuffix(run.BaseURL, "/v1"), run.DashboardURL, run.AWS}
}

func (s started) send(t *testing.T, queue, text string) {
	t.Helper()
	if err := s.trySend(t.Context(), queue, text); err != nil {
		t.Fatal(err)
	}
}

func (s started) trySend(ctx context.Context, queue, text string) error {
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &s.url, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("test", s.aws.SecretAccessKey, ""),
	})
	_, err := client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: awssdk.String(s.url + "/000000000000/" + queue), MessageBody: &text,
	})
	return err
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

func TestRunnerServesAPIQueuesAndConsoleOnOnePort(t *testing.T) {
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
	dashboard := strings.Replace(s.url, "127.0.0.1", "localhost", 1) + "/v1/dashboard" // passkeys require a host name
	want := s.url + "/v1 true " + filepath.Join(bundles, "bundles") + " " + dashboard + " 127.0.0.0/8,::1/128"
	if status != http.StatusOK || body != want || s.dashboard != dashboard {
		t.Errorf("the API answered %d %q, want %q; the run file has %q", status, body, want, s.dashboard)
	}
	s.send(t, "local-WorkQueue", "a message")
	var batch events.SQSEvent
	if err := json.Unmarshal([]byte(<-reports), &batch); err != nil || len(batch.Records) != 1 ||
		batch.Records[0].Body != "a message" {
		t.Errorf("the worker got %+v (%v), want the message", batch, err)
	}
	if status, body := s.do(t, "POST", "/_local/api/functions/WorkerFunction/fire", ""); status != http.StatusOK {
		t.Errorf("fire: got %d %s", status, body)
	}
	if got := <-reports; !strings.Contains(got, `"detail-type":"Scheduled Event"`) {
		t.Errorf("the worker got %s, want a scheduled event", got)
	}
	for path, want := range map[string]int{
		"/": http.StatusOK, "/_local": http.StatusOK, "/_local/api/state": http.StatusOK,
		"/_local/inbox/alder": http.StatusOK,
		"/v1/nothing":         http.StatusForbidden, "/nothing": http.StatusForbidden,
		"/_runtime/nobody/2018-06-01/runtime/invocation/next": http.StatusGone,
	} {
		if got, _ := s.do(t, "GET", path, ""); got != want {
			t.Errorf("GET %s: got %d, want %d", path, got, want)
		}
		if got, _ := s.do(t, "GET", path, "rebound.example:4566"); got != http.StatusMisdirectedRequest {
			t.Errorf("GET %s as rebound.example: got %d, want 421", path, got)
		}
	}
	if got, _ := s.do(t, "GET", "/_local/api/state", "localhost:4566"); got != http.StatusOK {
		t.Errorf("as localhost: got %d, want 200", got)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("got %v, want an orderly end", err)
	}
}
