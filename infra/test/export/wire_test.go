package exporttest_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"recordbridge/shared/platform/safehttp"
)

// Limits enforced by safehttp.Client.
const (
	headerTimeout = 30 * time.Second
	totalTimeout  = 60 * time.Second
)

// mishap describes how a request fails. The zero value means no failure.
type mishap struct {
	late       time.Duration
	refused    bool
	lost       bool
	cut        bool   // whether the connection breaks in the middle of the body
	garbled    bool   // whether the body is truncated without an error
	status     int    // status of a response from an intermediary
	retryAfter string // value of the Retry-After header if status is set
}

// wire implements smart.Doer by calling a handler in the same process, simulating a net/http client with a real
// connection. Bodies are streamed, so large bodies are never held in memory. Requests to servers other than origin are
// recorded and rejected.
type wire struct {
	handler http.Handler
	mishap  func(address string, nth int) mishap // fault for a URL's nth request; nil means no faults

	mu      sync.Mutex
	asked   map[string]int
	foreign []string
	busy    int // number of requests still awaiting a response
	most    int
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme+"://"+r.URL.Host != origin {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.foreign = append(w.foreign, r.URL.String())
		return nil, &safehttp.Error{Class: safehttp.DNS}
	}
	fate := w.begin(r)
	defer w.end()
	ctx, cancel := context.WithTimeout(r.Context(), totalTimeout)
	if err := fate.before(ctx); err != nil {
		cancel()
		return nil, err
	}
	if fate.status != 0 {
		cancel()
		return answered(r, fate), nil
	}
	response, err := serve(ctx, cancel, w.handler, r)
	if err == nil && fate.lost {
		_ = response.Body.Close()
		err = &safehttp.Error{Class: safehttp.BadAnswer}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	if fate.cut || fate.garbled {
		response.Body = &broken{ReadCloser: response.Body, quiet: fate.garbled}
		response.ContentLength = -1
	}
	return response, nil
}

// sessionID matches the random session ID in the URLs of single-use pages.
var sessionID = regexp.MustCompile(`(sessionID=)[0-9a-f]+`)

func (w *wire) begin(r *http.Request) mishap {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy++
	w.most = max(w.most, w.busy)
	_, address, _ := strings.Cut(r.URL.RequestURI(), "/fhir/")
	if w.mishap == nil || address == "" || strings.HasPrefix(address, ".well-known") {
		return mishap{}
	}
	address = sessionID.ReplaceAllString(address, "$1")
	w.asked[address]++
	return w.mishap(address, w.asked[address])
}

func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
}

// before simulates a refused connection or a delayed response.
func (m mishap) before(ctx context.Context) error {
	if m.refused {
		return &safehttp.Error{Class: safehttp.Connect}
	}
	if m.late == 0 {
		return nil
	}
	timer := time.NewTimer(min(m.late, headerTimeout))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return &safehttp.Error{Class: safehttp.Canceled}
	}
	if m.late >= headerTimeout {
		return &safehttp.Error{Class: safehttp.Timeout}
	}
	return nil
}

func answered(r *http.Request, m mishap) *http.Response {
	header := http.Header{"Content-Type": {"text/html"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	if m.retryAfter != "" {
		header.Set("Retry-After", m.retryAfter)
	}
	return &http.Response{
		StatusCode: m.status, Header: header, Request: r, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader("<html>busy</html>")),
	}
}

// serve calls the handler and returns as soon as the response header is sent.
func serve(ctx context.Context, cancel context.CancelFunc, handler http.Handler,
	r *http.Request,
) (*http.Response, error) {
	body, sink := io.Pipe()
	writer := &sender{sink: sink, header: http.Header{}, sent: make(chan struct{}), left: -1}
	asked := r.Clone(ctx)
	asked.RequestURI = r.URL.RequestURI()
	go func() {
		handler.ServeHTTP(writer, asked)
		writer.finish()
	}()
	late := time.NewTimer(headerTimeout)
	defer late.Stop()
	select {
	case <-writer.sent:
	case <-late.C:
		_ = body.Close()
		return nil, &safehttp.Error{Class: safehttp.Timeout}
	case <-ctx.Done():
		_ = body.Close()
		return nil, ctxError(ctx)
	}
	response := &http.Response{
		StatusCode: writer.status, Header: writer.frozen, ContentLength: writer.length, Request: r,
		Body: &received{pipe: body, ctx: ctx, cancel: cancel},
	}
	return unpacked(response, r)
}

func ctxError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &safehttp.Error{Class: safehttp.Timeout}
	}
	return &safehttp.Error{Class: safehttp.Canceled}
}

// unpacked decompresses a gzip response, as net/http does if the caller does not set Accept-Encoding.
func unpacked(response *http.Response, r *http.Request) (*http.Response, error) {
	if response.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Accept-Encoding") != "" {
		return response, nil
	}
	plain, err := gzip.NewReader(response.Body)
	if err != nil {
		_ = response.Body.Close()
		return nil, &safehttp.Error{Class: safehttp.BadAnswer}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{plain, response.Body}
	response.Header.Del("Content-Encoding")
	response.ContentLength, response.Uncompressed = -1, true
	return response, nil
}

// sender is an http.ResponseWriter that streams a response to the client.
type sender struct {
	sink   *io.PipeWriter
	header http.Header
	frozen http.Header
	status int
	length int64
	left   int64 // number of unsent bytes of the declared Content-Length; negative if none is declared
	sent   chan struct{}
}

func (s *sender) Header() http.Header { return s.header }

func (s *sender) WriteHeader(status int) {
	if s.status != 0 {
		return
	}
	s.status, s.frozen, s.length = status, s.header.Clone(), -1
	if s.frozen.Get("Date") == "" {
		s.frozen.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	if announced, err := strconv.ParseInt(s.header.Get("Content-Length"), 10, 64); err == nil {
		s.length, s.left = announced, announced
	}
	close(s.sent)
}

func (s *sender) Write(data []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if s.left >= 0 {
		s.left -= min(s.left, int64(len(data)))
	}
	if len(data) == 0 {
		return 0, nil
	}
	return s.sink.Write(data)
}

func (s *sender) finish() {
	s.WriteHeader(http.StatusOK)
	if s.left > 0 {
		_ = s.sink.CloseWithError(io.ErrUnexpectedEOF)
		return
	}
	_ = s.sink.Close()
}

// received is a streamed response body that ends when the request's context is done.
type received struct {
	pipe   *io.PipeReader
	ctx    context.Context //nolint:containedctx // the body of an answer ends with its request
	cancel context.CancelFunc
}

func (b *received) Read(p []byte) (int, error) {
	stop := context.AfterFunc(b.ctx, func() { _ = b.pipe.CloseWithError(b.ctx.Err()) })
	defer stop()
	return b.pipe.Read(p)
}

func (b *received) Close() error {
	b.cancel()
	return b.pipe.Close()
}

// broken is a response body that ends prematurely after at most 20 bytes.
type broken struct {
	io.ReadCloser

	quiet bool // whether the body ends without an error
	read  bool
}

func (b *broken) Read(p []byte) (int, error) {
	end := io.ErrUnexpectedEOF
	if b.quiet {
		end = io.EOF
	}
	if b.read {
		return 0, end
	}
	b.read = true
	n, err := b.ReadCloser.Read(p[:min(len(p), 20)])
	if errors.Is(err, io.EOF) {
		err = end
	}
	return n, err
}
