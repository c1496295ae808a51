package timeline

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
)

// largestRead is the maximum size in bytes of an event or response to parse. Parsing a larger one would be too slow.
const largestRead = 256 << 10

// event holds the fields that distinguish the types of Lambda events.
type event struct {
	HTTPMethod     string `json:"httpMethod"`
	Resource       string `json:"resource"`
	PathParameters struct {
		Proxy string `json:"proxy"`
	} `json:"pathParameters"`
	RequestContext struct {
		RequestID string `json:"requestId"`
	} `json:"requestContext"`
	Records []struct {
		MessageID string `json:"messageId"`
		SourceARN string `json:"eventSourceARN"`
	} `json:"Records"`
	DetailType string   `json:"detail-type"`
	Resources  []string `json:"resources"`
}

// read returns an event's trigger and subject, and the request IDs that appear in its log lines. An HTTP request's
// subject contains the path as declared, because path parameters may be secrets (download links). Only {proxy+} is
// replaced with its value.
func read(payload []byte) (trigger, what string, requests []string) {
	var e event
	if len(payload) > largestRead || json.Unmarshal(payload, &e) != nil {
		return "other", strconv.Itoa(len(payload)) + " bytes", nil
	}
	switch {
	case e.HTTPMethod != "":
		if id := e.RequestContext.RequestID; id != "" {
			requests = []string{id}
		}
		return "http", e.HTTPMethod + " " + strings.ReplaceAll(e.Resource, "{proxy+}", e.PathParameters.Proxy), requests
	case len(e.Records) > 0:
		for _, record := range e.Records {
			requests = append(requests, record.MessageID)
		}
		source := e.Records[0].SourceARN
		return "queue", source[strings.LastIndexByte(source, ':')+1:] + ": " + messages(len(e.Records)), requests
	case e.DetailType != "" && len(e.Resources) > 0:
		return "schedule", path.Base(e.Resources[0]), nil
	default:
		return "other", strconv.Itoa(len(payload)) + " bytes", nil
	}
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return strconv.Itoa(n) + " messages"
}

// outcomeOf returns the outcome of a function's response: an HTTP status, or the results for a batch of messages.
func outcomeOf(answer []byte) (outcome string, failed bool) {
	if status, ok := statusOf(answer); ok {
		return strconv.Itoa(status), status >= 500
	}
	var batch struct {
		Failures []json.RawMessage `json:"batchItemFailures"`
	}
	if len(answer) <= largestRead && json.Unmarshal(answer, &batch) == nil && len(batch.Failures) > 0 {
		return messages(len(batch.Failures)) + " failed", true
	}
	return "done", false
}

// statusOf reads the statusCode of an API Gateway response without parsing the body, which may be large.
func statusOf(answer []byte) (status int, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return 0, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return 0, false
		}
		if name == "statusCode" {
			return status, decoder.Decode(&status) == nil
		}
		if decoder.InputOffset() > largestRead {
			return 0, false
		}
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return 0, false
		}
	}
	return 0, false
}
