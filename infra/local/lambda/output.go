package lambda

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	tailLines   = 50       // maximum number of lines stored per function for the console
	longestLine = 16 << 10 // maximum length in bytes of a stored line
)

type tail struct {
	mu   sync.Mutex
	kept []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) == tailLines {
		t.kept = slices.Delete(t.kept, 0, 1)
	}
	t.kept = append(t.kept, line)
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.kept)
}

type lineWriter struct {
	emit    func(line string)
	partial []byte
}

func (s *Subprocesses) lineWriter(in *instance) *lineWriter {
	return &lineWriter{emit: func(line string) {
		if keeps := s.options.Keeps; keeps != nil && !keeps(in.pool.function.ID) {
			return
		}
		in.pool.log.add(line)
		if s.options.Line != nil {
			s.options.Line(in.pool.function.ID, line)
		}
		s.mu.Lock()
		latest := in.latest
		s.mu.Unlock()
		s.observer.Wrote(latest, line)
	}}
}

// Write implements io.Writer.
func (w *lineWriter) Write(chunk []byte) (int, error) {
	size := len(chunk)
	for {
		line, rest, found := bytes.Cut(chunk, []byte("\n"))
		w.partial = append(w.partial, line[:min(len(line), longestLine-len(w.partial))]...)
		if !found {
			return size, nil
		}
		w.flush()
		chunk = rest
	}
}

// flush writes the incomplete last line, if any.
func (w *lineWriter) flush() {
	if line := strings.ToValidUTF8(string(w.partial), "\uFFFD"); strings.TrimSpace(line) != "" {
		w.emit(line)
	}
	w.partial = w.partial[:0]
}

// newTrace returns the root of a trace ID. The root consists of a version, the time in seconds and 96 random bits, in
// hexadecimal digits (https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html#xray-api-traceids).
func newTrace() string {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // rand.Read never fails
	return fmt.Sprintf("1-%08x-%x", time.Now().Unix(), random)
}

// unobserved is the Observer used if Options.Observer is nil.
type unobserved struct{}

// Requested implements Observer.
func (unobserved) Requested(string, string, []byte) {}

// Starting implements Observer.
func (unobserved) Starting(string) {}

// Assigned implements Observer.
func (unobserved) Assigned(string, string) {}

// Wrote implements Observer.
func (unobserved) Wrote(string, string) {}

// Ended implements Observer.
func (unobserved) Ended(string, []byte, error, int64) {}
