package sam

import (
	"bytes"
	"strings"
	"sync/atomic"
)

// said hands on what a program writes, line by line, and remembers the last one, which says why it ended.
type said struct {
	to    func(line string)
	begun []byte
	last  atomic.Pointer[string]
}

// Write implements io.Writer.
func (s *said) Write(text []byte) (int, error) {
	s.begun = append(s.begun, text...)
	for {
		line, rest, found := bytes.Cut(s.begun, []byte("\n"))
		if !found {
			return len(text), nil
		}
		s.begun = rest
		if whole := strings.TrimSpace(string(line)); whole != "" {
			s.last.Store(&whole)
			s.to(whole)
		}
	}
}

// String is the last whole line.
func (s *said) String() string {
	if last := s.last.Load(); last != nil {
		return *last
	}
	return "it has written nothing"
}
