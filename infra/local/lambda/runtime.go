package lambda

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// routes returns handlers for the subset of the Lambda Runtime API that aws-lambda-go uses. Each instance has its own
// path prefix: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (s *Subprocesses) routes() *http.ServeMux {
	const base = Prefix + "{instance}/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"invocation/next", s.withInstance(s.serveNext))
	mux.HandleFunc("POST "+base+"invocation/{request}/response", s.withInstance(s.serveResponse))
	mux.HandleFunc("POST "+base+"invocation/{request}/error", s.withInstance(s.serveError))
	mux.HandleFunc("POST "+base+"init/error", s.withInstance(s.serveInitError))
	return mux
}

// ServeHTTP serves the Lambda Runtime API under Prefix.
func (s *Subprocesses) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

func (s *Subprocesses) withInstance(serve func(http.ResponseWriter, *http.Request, *instance)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		in := s.instances[r.PathValue("instance")]
		s.mu.Unlock()
		if in == nil {
			w.WriteHeader(http.StatusGone)
			return
		}
		serve(w, r, in)
	}
}

func (s *Subprocesses) serveNext(w http.ResponseWriter, r *http.Request, in *instance) {
	s.next(in)
	select {
	case <-r.Context().Done():
	case <-in.gone:
		w.WriteHeader(http.StatusGone)
	case inv := <-in.work:
		if r.Context().Err() != nil {
			in.work <- inv // if this instance has exited, another instance receives the invocation
			return
		}
		inv.delivered.Store(true)
		s.observer.Assigned(inv.trace, inv.id)
		header := w.Header()
		header.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", s.arn(in.pool.function))
		header.Set("Lambda-Runtime-Trace-Id", "Root="+inv.trace+";Sampled=0")
		header.Set("Content-Type", "application/json")
		_, _ = w.Write(inv.payload) // a write error means that the process exited, which is handled elsewhere
	}
}

func (s *Subprocesses) serveResponse(w http.ResponseWriter, r *http.Request, in *instance) {
	inv, body, ok := s.readAnswer(w, r, in)
	if !ok {
		return
	}
	// A function that fails while streaming its response reports the error in this trailer.
	if kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); kind != "" {
		s.answer(in, inv, outcome{err: &FunctionError{Type: kind, Message: "the response was cut off"}})
	} else {
		s.answer(in, inv, outcome{body: body})
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *Subprocesses) serveError(w http.ResponseWriter, r *http.Request, in *instance) {
	inv, body, ok := s.readAnswer(w, r, in)
	if !ok {
		return
	}
	s.answer(in, inv, outcome{err: failure(body)})
	w.WriteHeader(http.StatusAccepted)
}

func (s *Subprocesses) serveInitError(w http.ResponseWriter, r *http.Request, in *instance) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if err != nil {
		body = nil
	}
	s.mu.Lock()
	if in.alive() {
		in.initFail = failure(body)
	}
	s.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}

// readAnswer reads the response that the instance in sends for its current invocation. If ok is false, readAnswer has
// already written an error response.
func (s *Subprocesses) readAnswer(w http.ResponseWriter, r *http.Request, in *instance) (*invocation, []byte, bool) {
	s.mu.Lock()
	inv := in.current
	s.mu.Unlock()
	if inv == nil || inv.id != r.PathValue("request") {
		w.WriteHeader(http.StatusBadRequest)
		return nil, nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		s.answer(in, inv,
			outcome{err: &FunctionError{Type: "Function.ResponseSizeTooLarge", Message: "the response exceeds 6 MB"}})
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return nil, nil, false
	}
	if err != nil { // the process exited while sending the body, which is reported elsewhere
		w.WriteHeader(http.StatusBadRequest)
		return nil, nil, false
	}
	return inv, body, true
}

func (s *Subprocesses) arn(f Function) string {
	return "arn:aws:lambda:" + s.options.Region + ":" + s.options.Account + ":function:" + f.Name
}

func failure(body []byte) *FunctionError {
	var document struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(body, &document); err != nil || document.Type == "" {
		return &FunctionError{Type: "Runtime.Unknown", Message: string(body[:min(len(body), 1024)])}
	}
	return &FunctionError{Type: document.Type, Message: document.Message}
}
