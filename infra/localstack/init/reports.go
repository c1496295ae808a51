package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// reportTimeout bounds a report.
const reportTimeout = 30 * time.Second

// reports tells LocalStack what happens (its services/lambda_/invocation/executor_endpoint.py).
type reports struct {
	to string // the address of this container at LocalStack
	id string
}

// failure is how Lambda tells of an invocation that failed without an answer of the function.
type failure struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// ready tells that the function waits for invocations.
func (r reports) ready() { r.post("/status/"+r.id+"/ready", struct{}{}) }

// broken tells that the function cannot be started.
func (r reports) broken(why []byte) { r.send("/status/"+r.id+"/error", why) }

// answered tells what came of an invocation; its log lines have to be there before.
func (r reports) answered(o outcome, log string) {
	r.post("/invocations/"+o.id+"/logs", map[string]string{"logs": log})
	if o.failed {
		r.send("/invocations/"+o.id+"/error", o.body)
		return
	}
	r.send("/invocations/"+o.id+"/response", o.body)
}

func (r reports) post(path string, body any) { r.send(path, encode(body)) }

// send posts. A LocalStack that does not take a report is one that has ended, and ends this container.
func (r reports) send(path string, body []byte) {
	client := http.Client{Timeout: reportTimeout}
	//nolint:noctx // the report of an end must not end with it
	response, err := client.Post(r.to+path, "application/json", bytes.NewReader(body))
	if err != nil {
		fmt.Fprintln(os.Stderr, "init: report:", err)
		return
	}
	_ = response.Body.Close()
}

func encode(body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // of texts, for which there is no error
	}
	return text
}
