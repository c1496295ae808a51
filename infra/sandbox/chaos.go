package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/sandbox/switches"
)

const (
	// chaosTries is the number of attempts at the same request that may fail. The limit ensures that a client that
	// retries eventually succeeds.
	chaosTries = 3
	// maxChaosBody is the maximum number of bytes read from a request body. The limit exceeds the size of any form that
	// a client sends.
	maxChaosBody = 64 << 10
)

// mishap is the fault that chaos injects into a request. The zero value means no fault.
type mishap struct {
	status int // status that replaces the operation's response
	late   time.Duration
	broken bool
}

// chaos derives a request's fault from the seed, the request, and the number of times that the same client has sent the
// request. The order of concurrent requests does not affect the result.
func (s site) chaos(r *http.Request) (mishap, error) {
	seed := s.with.Number(switches.Chaos)
	if seed == 0 {
		return mishap{}, nil
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxChaosBody)); err != nil {
			return mishap{}, fmt.Errorf("read the form: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	nth, err := s.portalState.count(r.Context(), "chaos", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"),
		string(body))
	if err != nil || nth > chaosTries {
		return mishap{}, err
	}
	_, asked, _ := strings.Cut(r.URL.RequestURI(), "/with/")
	_, asked, _ = strings.Cut(asked, "/") // the label and mount point must not affect the choice of fault
	sum := sha256.Sum256([]byte(strconv.FormatInt(seed, 10) + "\n" + r.Method + " " + asked + "\n" +
		strconv.FormatInt(nth, 10)))
	kind, detail := binary.BigEndian.Uint16(sum[:])%100, int(sum[2])
	switch {
	case kind < 12:
		failures := []int{
			http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		}

		return mishap{status: failures[detail%len(failures)]}, nil
	case kind < 18:
		return mishap{late: time.Duration(1+detail%5) * time.Second}, nil
	case kind < 26:
		return mishap{broken: r.Method == http.MethodGet}, nil
	default:
		return mishap{}, nil
	}
}

// before delays the operation or responds in its place, and reports whether it has responded. If before has responded,
// the operation does not run, so chaos never loses a token.
func (m mishap) before(answer *captured, r *http.Request) bool {
	wait(r, m.late)
	if m.status == 0 {
		return false
	}
	answer.replace(htmlRefusal(m.status))

	return true
}

func (m mishap) after(answer *captured) {
	if m.broken {
		answer.body.Truncate(answer.body.Len() / 2)
	}
}
