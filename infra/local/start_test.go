package main_test

import (
	"encoding/json"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Acknowledged data must survive even if the runner is killed during other writes.
func TestAcknowledgedMessagesSurviveRunnerKill(t *testing.T) {
	t.Parallel()
	dir := project(t)
	first := start(t, dir, "-data", "data")

	const senders = 4
	var confirmed atomic.Int64
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for first.trySend(t.Context(), "local-DeadLetterQueue", "a dead letter") == nil {
				if confirmed.Add(1) == 50 {
					_ = first.Process.Signal(syscall.SIGKILL)
				}
			}
		})
	}
	sending.Wait()
	_ = first.Wait() // returns "signal: killed"

	second := start(t, dir, "-data", "data")
	_, body := second.do(t, "GET", "/_local/api/queues", "")
	var console struct {
		Queues []struct {
			Name    string
			Visible int64
		}
	}
	if err := json.Unmarshal([]byte(body), &console); err != nil {
		t.Fatal(err)
	}
	least := confirmed.Load()
	for _, q := range console.Queues {
		if q.Name == "local-DeadLetterQueue" && (q.Visible < least || q.Visible > least+senders) {
			t.Errorf("%d messages are there, want the %d that were confirmed, or up to %d more", q.Visible, least, senders)
		}
	}
	if least < 50 || len(console.Queues) == 0 {
		t.Errorf("%d messages were confirmed in %s", least, body)
	}
}

func TestStartErrorSuggestsRemedy(t *testing.T) {
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
		{
			"the port is taken", taken.Addr().String() + " is in use by another program",
			[]string{"-addr", taken.Addr().String()},
		},
		{"the address is not of this machine only", "must be a loopback address", []string{"-addr", "0.0.0.0:0"}},
		{"the address is no address", "must be a loopback address", []string{"-addr", "4566"}},
		{"the parameter is unknown", "Nonsense", []string{"-addr", "127.0.0.1:0", "-param", "Nonsense=1"}},
		{"the parameter has no value", "want Key=Value", []string{"-param", "Nonsense"}},
		{"the catalogue is unknown", "known are [none sandbox us]", []string{"-catalog", "mars"}},
		{"the flag is unknown", "nonsense", []string{"-nonsense"}},
		{"there is a word too many", "is not a flag", []string{"up"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), runner,
				append([]string{"-no-build", "-seed=false"}, test.arguments...)...)
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
