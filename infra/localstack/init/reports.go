package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

const reportTimeout = 30 * time.Second

// reports sends status reports and results to LocalStack (API: services/lambda_/invocation/executor_endpoint.py in
// LocalStack's source).
type reports struct {
	to string
	id string
}

// failure is Lambda's error report for an invocation that the function did not complete.
type failure struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// ready tells LocalStack that the function is waiting for invocations.
func (r reports) ready() { r.post("/status/"+r.id+"/ready", struct{}{}) }

// broken tells LocalStack that the function can't be started.
func (r reports) broken(why []byte) { r.send("/status/"+r.id+"/error", why) }

// answered sends an invocation's log lines to LocalStack, followed by its result.
func (r reports) answered(o outcome, log string) {
	r.post("/invocations/"+o.id+"/logs", map[string]string{"logs": log})
	if o.failed {
		r.send("/invocations/"+o.id+"/error", o.body)
		return
	}
	r.send("/invocations/"+o.id+"/response", o.body)
}

func (r reports) post(path string, body any) { r.send(path, encode(body)) }

// send posts a report and logs any error. The request fails only if LocalStack has shut down, which also stops this
// container.
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
		panic(err) // json.Marshal can't fail for these types
	}
	return text
}
