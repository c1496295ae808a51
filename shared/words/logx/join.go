package logx

import (
	"io"
	"log/slog"
	"sync"
)

// joined writes log lines to an output. The lines of one unit of work are written in a single call, because each write
// to a function's output is a system call and wakes the process that collects the output.
type joined struct {
	to io.Writer

	mu   sync.Mutex
	held int
	kept []byte
}

// Write implements io.Writer.
func (j *joined) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held > 0 {
		j.kept = append(j.kept, line...)
		return len(line), nil
	}
	return j.to.Write(line) //nolint:wrapcheck // nobody looks at a logger's errors
}

// hold buffers log lines until release is called, which writes all of them.
func (j *joined) hold() (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.held++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.held--
		_, _ = j.to.Write(j.kept) // errors from the log output are ignored
		j.kept = j.kept[:0]
	}
}

// together buffers the lines logged before release is called and writes them in a single call. It has no effect on a
// logger that New did not create.
func together(logger *slog.Logger) (release func()) {
	handler, ok := logger.Handler().(stamping)
	if !ok {
		return func() {}
	}
	return handler.lines.hold()
}
