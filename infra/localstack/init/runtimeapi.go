package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const prefix = "/2018-06-01/runtime"

type invocation struct {
	ID      string `json:"invoke-id"`
	ARN     string `json:"invoked-function-arn"`
	Payload string `json:"payload"`
	Trace   string `json:"trace-id"`
}

type outcome struct {
	id     string
	failed bool
	body   []byte
}

// runtimeAPI is the Lambda Runtime API for a single process (AWS Lambda Developer Guide, "Using the Lambda runtime
// API"). A restarted process gets a new runtimeAPI, so results from the previous process are never attributed to the
// new one.
type runtimeAPI struct {
	limit time.Duration
	now   func() time.Time

	asked  chan struct{} // closed when the process first requests work
	work   chan invocation
	done   chan outcome
	broken chan []byte // error that ended the process before its first invocation
}

func newRuntimeAPI(limit time.Duration, now func() time.Time) *runtimeAPI {
	return &runtimeAPI{
		limit: limit, now: now,
		asked: make(chan struct{}, 1), work: make(chan invocation), done: make(chan outcome), broken: make(chan []byte, 1),
	}
}

// ServeHTTP implements http.Handler.
func (a *runtimeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"/invocation/next", a.next)
	mux.HandleFunc("POST "+prefix+"/invocation/{id}/response", a.answer(false))
	mux.HandleFunc("POST "+prefix+"/invocation/{id}/error", a.answer(true))
	mux.HandleFunc("POST "+prefix+"/init/error", a.giveUp)
	mux.ServeHTTP(w, r)
}

func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	select {
	case a.asked <- struct{}{}:
	default:
	}
	select {
	case <-r.Context().Done():
	case i := <-a.work:
		header := w.Header()
		header.Set("Lambda-Runtime-Aws-Request-Id", i.ID)
		header.Set("Lambda-Runtime-Invoked-Function-Arn", i.ARN)
		header.Set("Lambda-Runtime-Trace-Id", i.Trace)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(a.now().Add(a.limit).UnixMilli(), 10))
		_, _ = io.WriteString(w, i.Payload) // writing fails only if the process has ended
	}
}

func (a *runtimeAPI) answer(failed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
			return
		}
		select {
		case <-r.Context().Done():
		case a.done <- outcome{id: r.PathValue("id"), failed: failed, body: body}:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

func (a *runtimeAPI) giveUp(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	select {
	case a.broken <- body:
	default:
	}
	w.WriteHeader(http.StatusAccepted)
}
