package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

var errRemote = errors.New("the Lambda endpoint did not run the function")

// Remote invokes functions through Lambda's Invoke API, which `sam local start-lambda` also serves.
type Remote struct {
	endpoint string
	client   *http.Client
}

// NewRemote returns a Remote for an endpoint such as "http://127.0.0.1:3001".
func NewRemote(endpoint string) *Remote {
	// The client has no timeout, because a container may start slowly, and ctx and the function's timeout already limit
	// the call.
	return &Remote{endpoint: strings.TrimSuffix(endpoint, "/"), client: &http.Client{}}
}

// Invoke runs function on payload and returns its response. If the function fails, the error is a *FunctionError.
func (r *Remote) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	address := r.endpoint + "/2015-03-31/functions/" + url.PathEscape(function) + "/invocations"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPayload+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	case len(body) > maxPayload:
		return nil, fmt.Errorf("%w: %s: the response exceeds 6 MB", errRemote, function)
	case response.Header.Get("X-Amz-Function-Error") != "":
		return nil, failure(body)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %s: HTTP %d: %s", errRemote, function, response.StatusCode, body[:min(len(body), 1024)])
	case !json.Valid(body):
		// Functions respond in JSON. Any body that is not JSON is the SAM CLI's message about a container that exited.
		return nil, failure(body)
	}
	return body, nil
}
