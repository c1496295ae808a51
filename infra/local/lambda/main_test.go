package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/lambda"
)

// The test binary also serves as the function. If the environment variable RECORDBRIDGE_TEST_ROLE is set, the test
// binary acts as a function's bootstrap.
const roleVariable = "RECORDBRIDGE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "function":
		awslambda.Start(handle)
	case "reports an init error":
		reportInitError()
	case "exits in init":
		os.Exit(4)
	case "complains in init":
		fmt.Fprintln(os.Stderr, "CONTROL_TABLE is missing")
		os.Exit(4)
	case "hangs in init":
		<-time.After(time.Hour) // without cgo, Go reports a deadlock if nothing can wake the program
	case "runner":
		runAlone(os.Getenv("URL"))
	default:
		// A developer's shell may contain AWS variables, which must not reach a function.
		os.Setenv("AWS_PROFILE", "someone")
		os.Setenv("AWS_CA_BUNDLE", "/nowhere/ca.pem")
		os.Setenv("AWS_ENDPOINT_URL_S3", "https://elsewhere.example")
		os.Exit(m.Run())
	}
}

// order is a command that a test sends to the simulated function.
type order struct {
	Do  string `json:"do"`
	URL string `json:"url,omitempty"`
}

type answer struct {
	PID         int      `json:"pid"`
	RequestID   string   `json:"request_id"`
	ARN         string   `json:"arn"`
	RemainingMS int64    `json:"remaining_ms"`
	Environment []string `json:"environment"`
	Padding     string   `json:"padding,omitempty"`
}

func handle(ctx context.Context, o order) (*answer, error) {
	switch o.Do {
	case "crash":
		os.Exit(3)
	case "panic":
		panic("an unexpected state")
	case "fail":
		return nil, errors.New("the portal is closed")
	case "hang":
		select {}
	case "be verbose":
		return &answer{Padding: strings.Repeat("x", 6<<20)}, nil
	case "log":
		fmt.Print("one\n\ntwo\npartial ")
		fmt.Print("three\n", strings.Repeat("y", 20<<10), "\n")
		fmt.Fprintln(os.Stderr, "to stderr")
		os.Exit(0)
	case "log much":
		for i := range 60 {
			fmt.Println("line", i+1)
		}
	case "call AWS":
		return nil, callAWS(ctx)
	case "meet":
		response, err := http.Get(o.URL)
		if err != nil {
			return nil, err
		}
		response.Body.Close()
	}
	deadline, _ := ctx.Deadline()
	invocation, _ := lambdacontext.FromContext(ctx)
	return &answer{
		PID: os.Getpid(), RequestID: invocation.AwsRequestID, ARN: invocation.InvokedFunctionArn,
		RemainingMS: time.Until(deadline).Milliseconds(), Environment: os.Environ(),
	}, nil
}

// callAWS makes an AWS call with an SDK configured by the environment, as Recordbridge's functions do.
func callAWS(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	_, err = sqs.NewFromConfig(cfg).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	return err
}

func reportInitError() {
	url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/init/error"
	body := `{"errorType":"Runtime.BadConfiguration","errorMessage":"CONTROL_TABLE is missing"}`
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err == nil {
		response.Body.Close()
	}
	os.Exit(1)
}

// runAlone starts a runner with a single function. The function waits at url.
func runAlone(url string) {
	server := httptest.NewUnstartedServer(nil)
	functions := lambda.New(lambda.Options{
		Address: server.Listener.Addr().String(), Region: "us-east-1",
		Functions: []lambda.Function{{
			ID: "Meet", Bootstrap: os.Args[0], Timeout: time.Minute, Environment: map[string]string{roleVariable: "function"},
		}},
	})
	server.Config.Handler = functions
	server.Start()
	_, _ = functions.Invoke(context.Background(), "Meet", payload("meet", url))
}

func payload(do, url string) []byte {
	text, err := json.Marshal(order{Do: do, URL: url})
	if err != nil {
		return nil
	}
	return text
}

// start serves a function whose bootstrap is this test binary.
func start(t *testing.T, change ...func(*lambda.Function)) *lambda.Subprocesses {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	function := lambda.Function{
		ID: "EchoFunction", Name: "local-EchoFunction", LogGroup: "/recordbridge/local/echo", Bootstrap: executable,
		Timeout: time.Minute, MemoryMB: 256, Concurrency: 2,
		Environment: map[string]string{roleVariable: "function", "CONTROL_TABLE": "local-ControlTable"},
	}
	for _, f := range change {
		f(&function)
	}
	server := httptest.NewUnstartedServer(nil)
	functions := lambda.New(lambda.Options{
		Address: server.Listener.Addr().String(), ObjectsURL: "http://127.0.0.1:4567", SecretKey: "of this run",
		Region: "us-east-1", Account: "000000000000",
		Functions: []lambda.Function{function},
		Line:      func(_, line string) { fmt.Fprintln(t.Output(), line) },
	})
	server.Config.Handler = functions
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(functions.Close)
	return functions
}

func invoke(t *testing.T, functions *lambda.Subprocesses, do string) (answer, error) {
	t.Helper()
	body, err := functions.Invoke(t.Context(), "EchoFunction", payload(do, ""))
	if err != nil {
		return answer{}, err
	}
	var got answer
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("answer %q: %v", body, err)
	}
	return got, nil
}

func mustInvoke(t *testing.T, functions *lambda.Subprocesses, do string) answer {
	t.Helper()
	got, err := invoke(t, functions, do)
	if err != nil {
		t.Fatalf("%s: %v", do, err)
	}
	return got
}

// place is a barrier at which functions wait until the test releases them.
type place struct {
	*httptest.Server

	arrived  chan struct{} // receives one value per waiting function
	released chan struct{} // each value sent releases one waiting function
	left     chan struct{} // receives one value per function that ended while waiting
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{arrived: make(chan struct{}, 16), released: make(chan struct{}), left: make(chan struct{}, 16)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.arrived <- struct{}{}
		select {
		case <-p.released:
			_, _ = io.WriteString(w, "go on")
		case <-r.Context().Done():
			p.left <- struct{}{}
		}
	}))
	t.Cleanup(p.Close)
	return p
}
