package console

import (
	"encoding/json"
	"net/http"

	"recordbridge/infra/local/timeline"
)

const (
	usualInvocations = 100 // default number of invocations in a response
	mostInvocations  = 500
)

// Invocations lists the functions' recent invocations.
type Invocations interface {
	List(f timeline.Filter) []timeline.Invocation
	Get(id string) (invocation timeline.Invocation, ok bool)
}

// shownInvocation is an invocation in its displayed form, with its unit-of-work log lines as JSON objects.
type shownInvocation struct {
	timeline.Invocation

	Wide []json.RawMessage `json:"wide"`
}

func (c *console) serveInvocations(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	all := c.Invocations.List(timeline.Filter{
		Function: query.Get("function"), Without: query.Get("without"), Failed: query.Get("failed") != "",
		Limit: limit(r, usualInvocations, mostInvocations),
	})
	shown := make([]shownInvocation, len(all))
	for i, invocation := range all {
		shown[i] = show(invocation)
	}
	writeJSON(w, http.StatusOK, map[string]any{"invocations": shown})
}

func (c *console) serveInvocation(w http.ResponseWriter, r *http.Request) {
	invocation, ok := c.Invocations.Get(r.PathValue("id"))
	if !ok {
		writeError(w, http.StatusNotFound, "This invocation was not found or is no longer kept.")
		return
	}
	writeJSON(w, http.StatusOK, show(invocation))
}

func show(invocation timeline.Invocation) shownInvocation {
	invocation.Error = mask(invocation.Error)
	invocation.Lines = maskAll(invocation.Lines)
	shown := shownInvocation{Invocation: invocation, Wide: make([]json.RawMessage, len(invocation.Wide))}
	for i, line := range invocation.Wide {
		shown.Wide[i] = json.RawMessage(mask(line))
	}
	return shown
}
