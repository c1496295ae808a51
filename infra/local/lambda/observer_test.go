package lambda_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/lambda"
)

type notes struct {
	mu     sync.Mutex
	told   []string
	traces []string
	memory int64
}

func (n *notes) Requested(trace, function string, payload []byte) {
	n.notef(trace, "asked %s %s", function, payload)
}
func (n *notes) Starting(trace string)    { n.notef(trace, "starting") }
func (n *notes) Assigned(trace, _ string) { n.notef(trace, "given") }
func (n *notes) Wrote(trace, line string) { n.notef(trace, "wrote %s", line) }
func (n *notes) Ended(trace string, answer []byte, err error, memory int64) {
	n.notef(trace, "over %d %v", len(answer), err)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory = memory
}

func (n *notes) notef(trace, format string, arguments ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.traces, trace) {
		n.traces = append(n.traces, trace)
	}
	n.told = append(n.told, fmt.Sprint(slices.Index(n.traces, trace), " ")+fmt.Sprintf(format, arguments...))
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.told)
}

// observed serves a single function, whose AWS calls go to serve.
func observed(t *testing.T, role string, serve http.HandlerFunc) (*lambda.Subprocesses, *notes) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	told := &notes{}
	server := httptest.NewUnstartedServer(nil)
	functions := lambda.New(lambda.Options{
		Address: server.Listener.Addr().String(), SecretKey: "local", Region: "us-east-1", Account: "000000000000",
		Observer: told,
		Functions: []lambda.Function{{
			ID: "EchoFunction", Name: "local-EchoFunction", Bootstrap: executable, Timeout: time.Minute,
			Environment: map[string]string{roleVariable: role},
		}},
	})
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, lambda.Prefix) {
			functions.ServeHTTP(w, r)
			return
		}
		serve(w, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(functions.Close)
	return functions, told
}

func TestObserverPassesTraceIDToAWSCalls(t *testing.T) {
	t.Parallel()
	headers := make(chan string, 2)
	functions, told := observed(t, "function", func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header.Get("X-Amzn-Trace-Id")
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"QueueUrl":"http://127.0.0.1/q"}`)
	})
	got := make([]string, 0, 2)
	for range 2 {
		if _, err := functions.Invoke(t.Context(), "EchoFunction", payload("call AWS", "")); err != nil {
			t.Fatal(err)
		}
		got = append(got, <-headers)
	}
	for i, header := range got {
		if want := "Root=" + told.traces[i] + ";Sampled=0"; header != want {
			t.Errorf("call %d carried %q, want %q", i, header, want)
		}
		if !regexp.MustCompile(`^1-[0-9a-f]{8}-[0-9a-f]{24}$`).MatchString(told.traces[i]) {
			t.Errorf("the trace %q is none of X-Ray's", told.traces[i])
		}
	}
	if got[0] == got[1] {
		t.Errorf("two invocations have one trace: %q", got[0])
	}
}

func TestObserverReceivesInvocationProgress(t *testing.T) {
	t.Parallel()
	functions, told := observed(t, "function", http.NotFound)
	for _, do := range []string{"fail", "fail"} {
		if _, err := functions.Invoke(t.Context(), "EchoFunction", payload(do, "")); err == nil {
			t.Fatal("no error")
		}
	}
	want := []string{
		`0 asked EchoFunction {"do":"fail"}`, "0 starting", "0 given", "0 over 0 errorString: the portal is closed",
		`1 asked EchoFunction {"do":"fail"}`, "1 given", "1 over 0 errorString: the portal is closed",
	}
	got := slices.DeleteFunc(told.all(), func(note string) bool { return strings.Contains(note, " wrote ") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if runtime.GOOS == "linux" && (told.memory < 1<<20 || told.memory > 1<<30) {
		t.Errorf("got %d bytes of memory for a small process", told.memory)
	}
}

func TestLogLinesBelongToCurrentInvocation(t *testing.T) {
	t.Parallel()
	for role, want := range map[string][]string{
		"function": {
			"0 wrote one", "0 wrote two", "0 wrote partial three", "0 wrote " + strings.Repeat("y", 16<<10),
			"0 wrote to stderr",
		},
		"complains in init": {"0 wrote CONTROL_TABLE is missing"},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			functions, told := observed(t, role, http.NotFound)
			if _, err := functions.Invoke(t.Context(), "EchoFunction", payload("log", "")); err == nil {
				t.Fatal("the process did not end")
			}
			// All output of the process has been read, because the process has ended.
			got := slices.DeleteFunc(told.all(), func(note string) bool { return !strings.HasPrefix(note, "0 wrote ") })
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
	if runtime.GOOS != "linux" {
		return
	}
	t.Run("the memory of a process that has ended is known", func(t *testing.T) {
		t.Parallel()
		functions, told := observed(t, "function", http.NotFound)
		_, _ = functions.Invoke(t.Context(), "EchoFunction", payload("crash", ""))
		if told.memory < 1<<20 {
			t.Errorf("got %d bytes", told.memory)
		}
	})
}
