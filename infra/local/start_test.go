package main_test

import (
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestDataOutlivesAKilledRunner(t *testing.T) {
	t.Parallel()
	dir := project(t)
	first := start(t, dir, "-data", "data")
	first.send(t, "local-DeadLetterQueue", "a dead letter")
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // "signal: killed"

	second := start(t, dir, "-data", "data")
	if _, body := second.do(t, "GET", "/_local/api/queues", ""); !strings.Contains(body, `{"name":"local-DeadLetterQueue","visible":1,`) {
		t.Errorf("got %s, want the message of the killed runner", body)
	}
}

func TestAStartThatCannotSucceedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	tests := []struct {
		name, want string
		arguments  []string
	}{
		{"the port is taken", taken.Addr().String() + " is in use by another program", []string{"-addr", taken.Addr().String()}},
		{"the address is not of this machine only", "want a loopback address", []string{"-addr", "0.0.0.0:0"}},
		{"the address is no address", "want a loopback address", []string{"-addr", "4566"}},
		{"the parameter is unknown", "Nonsense", []string{"-addr", "127.0.0.1:0", "-param", "Nonsense=1"}},
		{"the parameter has no value", "want Key=Value", []string{"-param", "Nonsense"}},
		{"the flag is unknown", "nonsense", []string{"-nonsense"}},
		{"there is a word too many", "is no flag", []string{"up"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), runner, append([]string{"-no-build", "-seed=false"}, test.arguments...)...)
			command.Dir = dir
			output, err := command.CombinedOutput()
			if err == nil {
				t.Error("it started")
			}
			if !strings.Contains(string(output), test.want) {
				t.Errorf("got %s, want %q in it", output, test.want)
			}
		})
	}
}
