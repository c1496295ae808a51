package timeline

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// keptAnswer is the number of response bytes buffered to read the error code.
const keptAnswer = 4 << 10

// Middleware returns middleware that records invocations' AWS calls. A process has no trace ID to send before its first
// invocation. A call without a known trace ID is attributed to the process that is starting for the caller, if there is
// exactly one. Other calls are not recorded.
func (r *Recorder) Middleware() wire.Middleware {
	return func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, request *http.Request, c wire.Call) {
			trace, starting := r.owner(request, c.Caller)
			if trace == "" {
				next(w, request, c)
				return
			}
			began := r.now()
			in, out := &incoming{ReadCloser: request.Body}, &outgoing{ResponseWriter: w}
			var body []byte
			if c.Service != "s3" { // S3 targets are paths, and S3 bodies are streams
				body, _ = wire.Body(request) // the service itself reports an unreadable body
			} else if request.Body != nil {
				request.Body = in
			}
			finished := false
			defer func() { // deferred, because the handler may panic to abort the connection
				if !finished {
					out.status = 0
				}
				r.note(trace, Call{
					Service: c.Service, Operation: c.Operation, Init: starting,
					Target: targetOf(c.Service, request, body), Duration: milliseconds(r.now().Sub(began)),
					Status: out.status, Error: out.code(), BytesIn: max(in.size, int64(len(body)), request.ContentLength),
					BytesOut: out.size,
				}, began)
			}()
			next(out, request, c)
			out.WriteHeader(http.StatusOK) // has no effect if the handler has already written a status
			finished = true
		}
	}
}

// owner returns the trace of the invocation that made a call, or "" if the invocation is unknown.
func (r *Recorder) owner(request *http.Request, caller string) (trace string, starting bool) {
	header := request.Header.Get("X-Amzn-Trace-Id")
	r.mu.Lock()
	defer r.mu.Unlock()
	for part := range strings.SplitSeq(header, ";") {
		if root, ok := strings.CutPrefix(part, "Root="); ok && r.byTrace[root] != nil {
			return root, false
		}
	}
	// Calls without a remote address come from the runner itself, which polls queues on behalf of functions.
	candidates := r.starting[caller]
	if header == "" && request.RemoteAddr != "" && len(candidates) == 1 {
		return candidates[0].ID, true
	}
	return "", false
}

func (r *Recorder) note(trace string, c Call, began time.Time) {
	r.with(trace, func(known *record) {
		known.CallCount++
		if len(known.Calls) < mostCalls {
			c.Start = milliseconds(began.Sub(known.At))
			known.Calls = append(known.Calls, c)
		}
	})
}

type incoming struct {
	io.ReadCloser

	size int64
}

// Read implements io.Reader.
func (b *incoming) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	return n, err
}

// outgoing is a response writer that records the status and size, and buffers the start of an error response.
type outgoing struct {
	http.ResponseWriter

	status int
	size   int64
	kept   bytes.Buffer
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *outgoing) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *outgoing) WriteHeader(status int) {
	if status >= http.StatusOK {
		if a.status != 0 {
			return
		}
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *outgoing) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.status >= http.StatusBadRequest {
		a.kept.Write(p[:min(len(p), keptAnswer-a.kept.Len())])
	}
	n, err := a.ResponseWriter.Write(p)
	a.size += int64(n)
	return n, err
}

// code returns AWS's error code from a JSON or XML response.
func (a *outgoing) code() string {
	if a.status < http.StatusBadRequest {
		return ""
	}
	var in struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(a.kept.Bytes(), &in) == nil {
		return in.Type[strings.LastIndexByte(in.Type, '#')+1:]
	}
	decoder := xml.NewDecoder(&a.kept)
	for {
		token, err := decoder.Token()
		if err != nil {
			return ""
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "Code" {
			var code string
			if decoder.DecodeElement(&code, &element) != nil {
				return ""
			}
			return code
		}
	}
}

// unescaped returns the unescaped path of an S3 request.
func unescaped(r *http.Request) string {
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		return r.URL.Path
	}
	return path
}
