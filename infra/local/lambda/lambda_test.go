package lambda_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/lambda"
)

func TestIdleProcessIsReused(t *testing.T) {
	t.Parallel()
	functions := start(t)
	first := mustInvoke(t, functions, "echo")
	second := mustInvoke(t, functions, "echo")

	if first.PID != second.PID {
		t.Errorf("got processes %d and %d, want one", first.PID, second.PID)
	}
	if first.RequestID == second.RequestID || first.RequestID == "" {
		t.Errorf("got request ids %q and %q, want two", first.RequestID, second.RequestID)
	}
	if got, want := first.ARN, "arn:aws:lambda:us-east-1:000000000000:function:local-EchoFunction"; got != want {
		t.Errorf("got ARN %q, want %q", got, want)
	}
	want := lambda.Status{ID: "EchoFunction", Processes: 1, Busy: 0, Invocations: 2}
	if diff := cmp.Diff([]lambda.Status{want}, functions.Status()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestIdleProcessEndsAfterIdleTimeout(t *testing.T) {
	t.Parallel()
	const idle = 50 * time.Millisecond
	functions := start(t, func(f *lambda.Function) { f.IdleLife, f.Concurrency = idle, 1 })
	began := time.Now()
	first := mustInvoke(t, functions, "echo")
	for late := time.After(10 * time.Second); functions.Status()[0].Processes > 0; {
		select {
		case <-late:
			t.Fatal("it is still there")
		case <-time.After(time.Millisecond):
		}
	}
	if took := time.Since(began); took < idle {
		t.Errorf("it ended after %v, want it to be kept for %v", took, idle)
	}
	for range 2 { // the slot must be released exactly once
		if next := mustInvoke(t, functions, "echo"); next.PID == first.PID {
			t.Error("the process that has ended was used again")
		}
	}
	if status := functions.Status()[0]; status.Failures > 0 {
		t.Errorf("%d invocations failed", status.Failures)
	}
}

func TestInvocationDeadlineMatchesFunctionTimeout(t *testing.T) {
	t.Parallel()
	functions := start(t, func(f *lambda.Function) { f.Timeout = time.Hour })
	got := mustInvoke(t, functions, "echo").RemainingMS
	if limit := time.Hour.Milliseconds(); got > limit || got < limit-time.Minute.Milliseconds() {
		t.Errorf("got %d ms left, want a little less than %d", got, limit)
	}
}

func TestFunctionEnvironmentExcludesRunnerVariables(t *testing.T) {
	t.Parallel()
	functions := start(t, func(f *lambda.Function) { f.Environment["AWS_REGION"] = "eu-west-1" })
	want := []string{
		"AWS_ACCESS_KEY_ID=EchoFunction", "AWS_CONFIG_FILE=/dev/null", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:4567", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_FUNCTION_NAME=local-EchoFunction", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand", "AWS_LAMBDA_LOG_GROUP_NAME=/recordbridge/local/echo",
		"AWS_REGION=us-east-1", "AWS_SECRET_ACCESS_KEY=of this run", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
		"CONTROL_TABLE=local-ControlTable", "LAMBDA_TASK_ROOT=.", roleVariable + "=function", "TZ=:UTC", "_HANDLER=bootstrap",
	}
	// The values of these variables differ between runs. The function's response shows that these variables have valid
	// values.
	varying := []string{
		"AWS_ENDPOINT_URL", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_RUNTIME_API", "HOME", "PATH", "PWD", "TMPDIR",
		"_X_AMZN_TRACE_ID",
	}
	got := slices.DeleteFunc(mustInvoke(t, functions, "echo").Environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(varying, name)
	})
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestConcurrencyLimitsProcesses(t *testing.T) {
	t.Parallel()
	functions, meeting := start(t), newPlace(t)
	var all sync.WaitGroup
	failures := make(chan error, 3)
	for range 3 {
		all.Go(func() {
			_, err := functions.Invoke(t.Context(), "EchoFunction", payload("meet", meeting.URL))
			failures <- err
		})
	}
	<-meeting.arrived
	<-meeting.arrived
	if got := functions.Status()[0]; got.Processes != 2 || got.Busy != 2 {
		t.Errorf("got %d processes, %d busy, want 2 and 2", got.Processes, got.Busy)
	}
	meeting.released <- struct{}{}
	<-meeting.arrived // the third function starts when the first has finished
	meeting.released <- struct{}{}
	meeting.released <- struct{}{}
	all.Wait()
	for range 3 {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	if got := functions.Status()[0].Processes; got != 2 {
		t.Errorf("got %d processes for three invocations, want 2", got)
	}
}

func TestInvokeReturnsFunctionErrorWhenFunctionFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, role, do string
		want           lambda.FunctionError
		survives       bool
	}{
		{
			name: "it returns an error", do: "fail", survives: true,
			want: lambda.FunctionError{Type: "errorString", Message: "the portal is closed"},
		},
		{name: "it panics", do: "panic", want: lambda.FunctionError{Type: "string", Message: "an unexpected state"}},
		{name: "its process ends", do: "crash", want: lambda.FunctionError{
			Type:    "Runtime.ExitError",
			Message: "exit status 3",
		}},
		{
			name: "it answers too much", do: "be verbose",
			want: lambda.FunctionError{Type: "Function.ResponseSizeTooLarge", Message: "the response exceeds 6 MB"},
		},
		{
			name: "it reports that it cannot start", role: "reports an init error",
			want: lambda.FunctionError{Type: "Runtime.BadConfiguration", Message: "CONTROL_TABLE is missing"},
		},
		{
			name: "it ends before it asks for work", role: "exits in init",
			want: lambda.FunctionError{Type: "Runtime.ExitError", Message: "exit status 4"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			functions := start(t, func(f *lambda.Function) {
				if test.role != "" {
					f.Environment[roleVariable] = test.role
				}
			})
			_, err := invoke(t, functions, test.do)
			got, ok := errors.AsType[*lambda.FunctionError](err)
			if !ok {
				t.Fatalf("got %v, want a FunctionError", err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := functions.Status()[0].Failures; got != 1 {
				t.Errorf("got %d failures counted, want 1", got)
			}
			if test.role == "" {
				mustInvoke(t, functions, "echo") // invocations succeed again, in a new process if the old one has ended
			}
		})
	}
}

func TestTimedOutFunctionIsKilled(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"function", "hangs in init"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			functions := start(t, func(f *lambda.Function) {
				f.Timeout = 2 * time.Second
				f.Environment[roleVariable] = role
			})
			_, err := invoke(t, functions, "hang")
			want := &lambda.FunctionError{Type: "Sandbox.Timedout", Message: "Task timed out after 2.00 seconds"}
			if got, ok := errors.AsType[*lambda.FunctionError](err); !ok || *got != *want {
				t.Fatalf("got %v, want %v", err, want)
			}
			if got := functions.Status()[0].Processes; got != 0 {
				t.Errorf("got %d processes afterwards, want none", got)
			}
		})
	}
}

func TestInvokeKeepsFunctionRunningWhenContextIsCanceled(t *testing.T) {
	t.Parallel()
	functions, meeting := start(t, func(f *lambda.Function) { f.Concurrency = 1 }), newPlace(t)
	first := mustInvoke(t, functions, "echo")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-meeting.arrived
		cancel()
	}()
	if _, err := functions.Invoke(ctx, "EchoFunction", payload("meet", meeting.URL)); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the end of the waiting", err)
	}
	_, err := functions.Invoke(ctx, "EchoFunction", payload("echo", ""))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v while the only process is busy, want the end of the waiting", err)
	}
	meeting.released <- struct{}{} // if the function was killed, this send blocks until the test times out
	if second := mustInvoke(t, functions, "echo"); first.PID != second.PID {
		t.Errorf("got processes %d and %d, want one", first.PID, second.PID)
	}
}

func TestKillTerminatesBusyFunction(t *testing.T) {
	t.Parallel()
	functions, meeting := start(t), newPlace(t)
	failed := make(chan error, 1)
	go func() {
		_, err := functions.Invoke(t.Context(), "EchoFunction", payload("meet", meeting.URL))
		failed <- err
	}()
	<-meeting.arrived
	if got := functions.Kill("EchoFunction"); got != 1 {
		t.Errorf("got %d processes killed, want 1", got)
	}
	<-meeting.left
	if got, ok := errors.AsType[*lambda.FunctionError](<-failed); !ok || got.Type != "Runtime.ExitError" ||
		got.Message != "signal: killed" {
		t.Errorf("got %v, want a process that was killed", got)
	}
	first := mustInvoke(t, functions, "echo")
	functions.Kill("EchoFunction")
	if second := mustInvoke(t, functions, "echo"); first.PID == second.PID {
		t.Error("a killed process answered")
	}
	if got := functions.Kill("NoFunction"); got != 0 {
		t.Errorf("got %d processes killed of a function that does not exist", got)
	}
}

func TestCloseTerminatesAllProcesses(t *testing.T) {
	t.Parallel()
	functions, meeting := start(t), newPlace(t)
	failed := make(chan error, 1)
	go func() {
		_, err := functions.Invoke(t.Context(), "EchoFunction", payload("meet", meeting.URL))
		failed <- err
	}()
	<-meeting.arrived
	functions.Close()
	<-meeting.left
	if err := <-failed; err == nil {
		t.Error("the invocation succeeded")
	}
	if _, err := invoke(t, functions, "echo"); err == nil {
		t.Error("a closed runner ran a function")
	}
	if got := functions.Status()[0].Processes; got != 0 {
		t.Errorf("got %d processes, want none", got)
	}
}

func TestFunctionProcessExitsWhenRunnerIsKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process of its parent's death")
	}
	meeting := newPlace(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := exec.CommandContext(t.Context(), executable)
	runner.Env = []string{roleVariable + "=runner", "URL=" + meeting.URL}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	<-meeting.arrived
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-meeting.left
	_ = runner.Wait() // the error is "signal: killed"
}

func TestFunctionOutputIsStoredAsLines(t *testing.T) {
	t.Parallel()
	functions := start(t)
	_, _ = invoke(t, functions, "log")
	got := logged(t, functions, func(lines []string) bool { return len(lines) == 5 })
	slices.Sort(got)
	want := []string{"one", "partial three", "to stderr", "two", strings.Repeat("y", 16<<10)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	_, _ = invoke(t, functions, "log much")
	last := logged(t, functions, func(lines []string) bool { return lines[len(lines)-1] == "line 60" })
	if len(last) != 50 || last[0] != "line 11" || last[49] != "line 60" {
		t.Errorf("got %d lines from %q to %q, want the last 50 of 60", len(last), last[0], last[len(last)-1])
	}
}

// logged waits until the function's lines satisfy expected, and returns them. An invocation's output may arrive after
// its response.
func logged(t *testing.T, functions *lambda.Subprocesses, expected func(lines []string) bool) []string {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		lines := functions.Status()[0].Log
		if len(lines) > 0 && expected(lines) {
			return lines
		}
		select {
		case <-late:
			return lines
		case <-time.After(time.Millisecond):
		}
	}
}

func TestInvokeReturnsPlainErrorWhenFunctionCannotStart(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "bootstrap")
	functions := start(t, func(f *lambda.Function) { f.Bootstrap = missing })
	for name, invoke := range map[string]func() error{
		"no such function": func() error { _, err := functions.Invoke(t.Context(), "Nobody", nil); return err },
		"no binary": func() error {
			_, err := functions.Invoke(t.Context(), "EchoFunction",
				[]byte("{}"))
			return err
		},
		"too much": func() error {
			_, err := functions.Invoke(t.Context(), "EchoFunction", make([]byte, 6<<20+1))
			return err
		},
	} {
		err := invoke()
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, ok := errors.AsType[*lambda.FunctionError](err); ok {
			t.Errorf("%s: got a FunctionError: %v", name, err)
		}
	}
}
