package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRunnerDiscardsLogsAndTracesWithoutPermission(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without            string
		lines, invocations int
	}{"with all": {"", 1, 1}, "no logs": {"Sid: Logs", 0, 1}, "no traces": {"Sid: Trace", 1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			withoutEchos(t, dir, c.without)
			s := start(t, dir)
			s.do(t, "GET", "/v1/echo", "")
			if lines, invocations := s.echosLines(t, c.lines), len(s.settled(t)); lines != c.lines ||
				invocations != c.invocations {
				t.Errorf("got %d lines and %d invocations, want %d and %d", lines, invocations, c.lines, c.invocations)
			}
		})
	}
}

// withoutEchos removes the policy statement that contains text from the echo function's role in a project template.
func withoutEchos(t *testing.T, dir, text string) {
	t.Helper()
	file := filepath.Join(dir, "template.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, role, _ := strings.Cut(string(content), "  EchoRole:")
	at := strings.Index(role, "              - {"+text)
	if text != "" {
		role = role[:at] + role[at+strings.IndexByte(role[at:], '\n')+1:]
	}
	if err := os.WriteFile(file, []byte(before+"  EchoRole:"+role), 0o600); err != nil {
		t.Fatal(err)
	}
}

// echosLines waits until the echo function has logged at least want lines, and returns their number, or 0 after five
// seconds. A log line may arrive after the function's response.
func (s started) echosLines(t *testing.T, want int) int {
	t.Helper()
	for late := time.After(5 * time.Second); ; {
		var state struct{ Functions []struct{ Log []string } }
		s.console(t, "state", &state)
		if n := len(state.Functions[0].Log); n >= want {
			return n
		}
		select {
		case <-late:
			return 0
		case <-time.After(time.Millisecond):
		}
	}
}
