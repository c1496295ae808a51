package process_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"recordbridge/infra/drill/incident"
	"recordbridge/infra/drill/scene"
	"recordbridge/infra/local/own"
	"recordbridge/infra/testkit/expect"
)

// control builds ctl once for all tests in the package.
var control = sync.OnceValues(func() (string, error) {
	file, err := filepath.Abs("../../../build/ctl-under-test")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags",
		"lambda.norpc,grpcnotrace", "-o", file, "./infra/ctl")
	build.Dir, build.Stderr, build.Env = "../../..", os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	return file, build.Run()
})

// TestDrillsMendIncidents runs the commands of two quick drills' runbooks. The lane .ci/stacks runs all drills.
func TestDrillsMendIncidents(t *testing.T) {
	runner, err := binary()
	expect.NoError(t, err)
	ctl, err := control()
	expect.NoError(t, err)
	newRunner(t).end(syscall.SIGTERM) // builds the functions, which several runners can't do at once
	t.Parallel()
	quick := []string{"clock-skew", "queue-backlog"}
	ran := 0
	for _, d := range incident.All() {
		if !slices.Contains(quick, d.Name) {
			continue
		}
		ran++
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			stack, err := own.Start(t.Context(), "../../..", runner, t.Output(), "-no-build")
			expect.NoError(t, err)
			defer stack.Stop()
			s := scene.New(stack, "../../..", ctl)
			_, err = d.Run(t.Context(), s, t.Output(), incident.AsWritten(s))
			if errors.Is(err, incident.ErrNoAWS) {
				t.Skip(err)
			}
			expect.NoError(t, err)
		})
	}
	if ran != len(quick) {
		t.Errorf("%d drills ran, want %d", ran, len(quick))
	}
}
