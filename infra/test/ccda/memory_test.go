package ccdatest_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	large "recordbridge/infra/testkit/ccdatest"
)

// largeDocument is the test documents' size in bytes. peakLimit limits the memory used to convert one document
// (docs/develop/performance.md).
const (
	largeDocument = 50 << 20
	peakLimit     = 200 << 20
)

// TestPeakMemoryOfLargeDocumentsStaysBelowLimit measures `ctl ccda` in a separate process. RECORDBRIDGE_CTL is the path
// of the ctl program. Only `make ccda` runs this test, which takes a minute.
func TestPeakMemoryOfLargeDocumentsStaysBelowLimit(t *testing.T) { //nolint:paralleltest // one process at a time
	ctl := os.Getenv("RECORDBRIDGE_CTL")
	if ctl == "" {
		t.Skip("RECORDBRIDGE_CTL names no program")
	}
	for _, shape := range large.Shapes() {
		t.Run(shape, func(t *testing.T) { //nolint:paralleltest // as above
			file := filepath.Join(t.TempDir(), shape+".xml")
			writeLarge(t, file, shape)
			var lines counter
			command := exec.CommandContext(t.Context(), ctl, "ccda", "-report", os.DevNull, file)
			command.Stdout = &lines
			if err := command.Run(); err != nil {
				t.Fatal(err)
			}
			usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Skip("this system does not measure processes")
			}
			peak := usage.Maxrss << 10
			t.Logf("%d MB at most, %v of processor time, for %d lines of %d MB", peak>>20, command.ProcessState.UserTime(),
				lines.lines, lines.bytes>>20)
			if peak > peakLimit || lines.lines < 3 {
				t.Errorf("%d MB at most, want %d; %d lines", peak>>20, peakLimit>>20, lines.lines)
			}
		})
	}
}

// writeLarge streams a document to a file to keep the test process small, because a child process counts its parent's
// memory as its own until it executes a program.
func writeLarge(t *testing.T, file, shape string) {
	t.Helper()
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.WriteLarge(out, shape, largeDocument), out.Close()); err != nil {
		t.Fatal(err)
	}
}

type counter struct{ lines, bytes int }

func (c *counter) Write(part []byte) (int, error) {
	c.lines += bytes.Count(part, []byte{'\n'})
	c.bytes += len(part)
	return len(part), nil
}
