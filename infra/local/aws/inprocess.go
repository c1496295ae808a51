package aws

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
)

// Do implements the SDK's HTTPClient. Do serves r in the caller's goroutine and returns the buffered response. If the
// request's context ends while a call is waiting, for example in a long poll, Do returns the context's error.
func (c *Cloud) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	incoming := serverSide(r)
	defer incoming.Body.Close() // like an HTTP client, Do closes the body even if it returns an error
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out bufferedResponse
	broken := c.serve(&out, incoming)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if broken {
		return nil, &url.Error{Op: r.Method, URL: r.URL.Redacted(), Err: syscall.ECONNRESET}
	}
	return out.response(r), nil
}

// serve serves r, and reports whether the handler aborted the connection with http.ErrAbortHandler.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) (broken bool) {
	defer func() {
		if reason := recover(); reason == http.ErrAbortHandler { //nolint:errorlint // what was thrown, not what it wraps
			broken = true
		} else if reason != nil {
			panic(reason) // only http.ErrAbortHandler is expected
		}
	}()
	c.ServeHTTP(w, r)
	return false
}

// serverSide returns a copy of r as net/http's server would pass it to a handler.
func serverSide(r *http.Request) *http.Request {
	in := r.Clone(r.Context())
	in.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	in.RequestURI = r.URL.RequestURI()
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Header == nil {
		in.Header = http.Header{}
	}
	if r.Body == nil {
		in.Body = http.NoBody
	}
	if r.ContentLength > 0 { // HTTP transports add this header, and SDKs sign it
		in.Header.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	}
	return in
}

// maxReserved is the maximum number of bytes reserved for a response based on its Content-Length header.
const maxReserved = 64 << 20

type bufferedResponse struct {
	header http.Header
	sent   http.Header // copy of the header at the time the status was sent
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *bufferedResponse) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// WriteHeader implements http.ResponseWriter. Informational responses such as 100 Continue are discarded.
func (a *bufferedResponse) WriteHeader(status int) {
	if a.status != 0 || status < http.StatusOK {
		return
	}
	a.status, a.sent = status, a.Header().Clone()
}

// Write implements http.ResponseWriter.
func (a *bufferedResponse) Write(part []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if length, err := strconv.Atoi(a.sent.Get("Content-Length")); err == nil && a.body.Cap() == 0 {
		a.body.Grow(min(max(length, 0), maxReserved))
	}
	return a.body.Write(part)
}

func (a *bufferedResponse) response(r *http.Request) *http.Response {
	a.WriteHeader(http.StatusOK)
	body := a.body.Bytes()
	if r.Method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		body = nil // net/http does not send a body for these statuses
	} else if a.sent.Get("Content-Length") == "" {
		a.sent.Set("Content-Length", strconv.Itoa(len(body)))
	}
	length, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}
