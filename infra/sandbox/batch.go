package sandbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"recordbridge/infra/sandbox/switches"
)

// maxBatch is the maximum size of a batch request in bytes.
const maxBatch = 1 << 20

// Types for a FHIR batch and its response (https://hl7.org/fhir/R4/http.html#transaction), limited to the fields that
// searches use.
type (
	batch struct {
		ResourceType string       `json:"resourceType"`
		Type         string       `json:"type"`
		Entry        []batchEntry `json:"entry"`
	}
	batchEntry struct {
		Request  *batchRequest   `json:"request,omitempty"`
		Resource json.RawMessage `json:"resource,omitempty"`
		Response *batchResponse  `json:"response,omitempty"`
	}
	batchRequest struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	}
	batchResponse struct {
		Status string `json:"status"`
	}
)

// batch processes each request in a batch as if the client had sent it separately.
func (s site) batch(w http.ResponseWriter, r *http.Request) {
	var asked batch
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBatch))
	if err == nil {
		err = json.Unmarshal(raw, &asked)
	}
	switch {
	case s.with.Is(switches.Batch, "refused"):
		answerFault(w, http.StatusForbidden, fhirType, outcome("forbidden", "Batches require a system-level client."))

		return
	case err != nil || asked.Type != "batch":
		answerFault(w, http.StatusBadRequest, fhirType, outcome("invalid", "Not a batch Bundle."))

		return
	}
	answer := batch{ResourceType: "Bundle", Type: "batch-response"}
	for at, one := range asked.Entry {
		answer.Entry = append(answer.Entry, s.batched(r, one, at))
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		answerFault(w, http.StatusInternalServerError, fhirType, outcome("exception", "The response could not be "+
			"written."))

		return
	}
	answerFault(w, http.StatusOK, fhirType, string(encoded))
}

// batched serves the request in a batch entry. Switches do not delay or count a batched request.
func (s site) batched(r *http.Request, one batchEntry, at int) batchEntry {
	refused := func(status int, code, text string) batchEntry {
		return batchEntry{
			Resource: json.RawMessage(outcome(code, text)),
			Response: &batchResponse{strconv.Itoa(status) + " " + http.StatusText(status)},
		}
	}
	if one.Request == nil || one.Request.Method != http.MethodGet {
		return refused(http.StatusMethodNotAllowed, "not-supported", "A batch may contain only GET requests.")
	}
	target, err := url.Parse(one.Request.URL)
	switch {
	case err != nil || target.IsAbs() || target.Path == "":
		return refused(http.StatusBadRequest, "invalid", "An entry's URL must be relative to the base.")
	case s.with.Is(switches.Batch, "half") && at%2 == 1:
		return refused(http.StatusInternalServerError, "exception", "The sandbox is configured to fail.")
	case s.with.Is(switches.Batch, "empty"):
		return batchEntry{
			Resource: json.RawMessage(`{"resourceType":"Bundle","type":"searchset","total":0}`),
			Response: &batchResponse{"200 OK"},
		}
	}
	inner := r.Clone(r.Context())
	inner.Method, inner.Body, inner.ContentLength = http.MethodGet, http.NoBody, 0
	inner.URL = &url.URL{
		Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path + "/" + target.Path,
		RawQuery: target.RawQuery,
	}
	inner.Header.Del("Content-Type")
	found, alone := &captured{header: http.Header{}}, s
	alone.inBatch = true
	alone.serve(found, inner, "fhir/"+target.Path)
	entry := batchEntry{Response: &batchResponse{strconv.Itoa(found.status) + " " + http.StatusText(found.status)}}
	if body := found.body.Bytes(); json.Valid(body) {
		entry.Resource = body
	}

	return entry
}
