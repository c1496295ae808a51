package sandbox

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"recordbridge/infra/sandbox/switches"
)

// refusal is a response that replaces the operation's own response.
type refusal struct {
	status            int
	contentType, body string
	header            map[string]string
}

func (a refusal) write(w http.ResponseWriter) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	answerFault(w, a.status, a.contentType, a.body)
}

func answerFault(w http.ResponseWriter, status int, contentType, body string) {
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const (
	jsonType = "application/json"
	fhirType = "application/fhir+json; charset=utf-8"
	htmlType = "text/html; charset=utf-8"
	htmlPage = "<!doctype html><html><head><title>Orchard Health</title></head><body><h1>Something went " +
		"wrong</h1></body></html>"
)

// captured buffers an operation's response so that switches can modify it.
type captured struct {
	status int
	header http.Header
	body   bytes.Buffer
	// generated writes the rest of a response that is too large to buffer, following the buffered body.
	generated func(io.Writer)
}

// Header implements http.ResponseWriter.
func (c *captured) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *captured) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

// Write implements http.ResponseWriter.
func (c *captured) Write(data []byte) (int, error) {
	c.WriteHeader(http.StatusOK)

	return c.body.Write(data)
}

func (c *captured) replace(with refusal) {
	c.status, c.header, c.generated = 0, http.Header{}, nil
	c.body.Reset()
	with.write(c)
	if with.contentType == "" {
		c.header.Del("Content-Type")
	}
}

func (c *captured) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), c.header)
	w.WriteHeader(c.status)
	_, _ = w.Write(c.body.Bytes())
	if c.generated != nil {
		c.generated(w)
	}
}

// spoiled runs the operation unless a switch provides the response. Switches may also modify the operation's response.
func (s site) spoiled(w http.ResponseWriter, r *http.Request, op operation, args []string) {
	answer := &captured{header: http.Header{}}
	if err := s.spoil(answer, r, op, args); err != nil {
		s.log.ErrorContext(r.Context(), "sandbox switches failed", slog.Any("error", err))
		answer.replace(refusal{
			status: http.StatusInternalServerError, contentType: jsonType,
			body: `{"error":"server_error"}`,
		})
	}
	answer.send(w)
}

func (s site) spoil(answer *captured, r *http.Request, op operation, args []string) error {
	switch op {
	case opNone, opCapability, opAuthorize, opAsset, opKeys, opUserinfo, opNetwork:
		s.call(answer, r, op, args)

		return nil
	case opRead, opSearch, opEverything, opPage, opBatch, opAttachment, opToken, opMovedToken, opDiscovery, opRevoke,
		opIntrospect:
	}
	met, err := s.chaos(r)
	if err != nil || met.before(answer, r) {
		return err
	}
	switch op { //nolint:exhaustive // all others belong to the authorization server
	case opBatch:
		wait(r, s.with.Duration(switches.Slow, 0))
		s.batch(answer, r)
	case opRead, opSearch, opEverything, opPage, opAttachment:
		err = s.spoiledFHIR(answer, r, op, args)
	default:
		err = s.spoiledOAuth(answer, r, op)
	}
	met.after(answer)

	return err
}

// wait delays the request by d, returning early if the client disconnects.
func wait(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
