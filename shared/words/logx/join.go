package logx

import (
	"io"
	"log/slog"
	"sync"
)

// joined writes lines as they come, except while a unit of work writes several: those leave in one write. Each write
// to a function's output is a system call, and wakes the process that collects it.
type joined struct {
	to io.Writer

	mu   sync.Mutex
	held int // units of work that are writing
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

// hold keeps lines until release is called, which writes all that are kept.
func (j *joined) hold() (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.held++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.held--
		_, _ = j.to.Write(j.kept) // as above
		j.kept = j.kept[:0]
	}
}

// together makes the lines that are logged until release is called leave in one write, if logger is one of New.
func together(logger *slog.Logger) (release func()) {
	handler, ok := logger.Handler().(stamping)
	if !ok {
		return func() {}
	}
	return handler.lines.hold()
}
