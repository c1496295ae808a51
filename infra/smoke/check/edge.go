package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/test/contract"
	"recordbridge/shared/words/ids"
)

// maxAnswer limits the size of an API response in bytes.
const maxAnswer = 1 << 20

// elsewhere is the origin of a fictional third-party page that calls the API.
const elsewhere = "https://app.example"

type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         string
	key          string // private key; "" to send none
}

// send sends a request to the API. It returns an error if the response violates docs/openapi.yaml.
func (c *check) send(ctx context.Context, of request) (contract.Answer, error) {
	address := c.BaseURL + of.path
	if len(of.query) > 0 {
		address += "?" + of.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, of.method, address, strings.NewReader(of.body))
	if err != nil {
		return contract.Answer{}, err
	}
	maps.Copy(r.Header, of.header)
	if of.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if of.key != "" {
		r.SetBasicAuth(c.Credential.PublicID, of.key)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return contract.Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return contract.Answer{}, err
	}
	got := contract.Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if err := c.api.Check(of.method, of.path, got); err != nil {
		return got, fmt.Errorf("does not match docs/openapi.yaml (status %d, x-request-id %s): %s", got.Status,
			got.Header.Get("X-Request-Id"), without(err, body))
	}
	return got, nil
}

// without returns err's text with the response body redacted.
func without(err error, body []byte) string {
	text := err.Error()
	if len(body) > 0 {
		text = strings.ReplaceAll(text, string(body), "…")
	}
	return text
}

func (c *check) expect(ctx context.Context, of request, status int, code string) (contract.Answer, error) {
	got, err := c.send(ctx, of)
	if err != nil {
		return got, err
	}
	var envelope struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(got.Body, &envelope) // bodies that are not JSON objects have no error code
	if got.Status != status || envelope.Error != code {
		return got, fmt.Errorf("%s %s returned %d %s, want %d %s (x-request-id %s)", of.method, of.path, got.Status,
			envelope.Error, status, code, got.Header.Get("X-Request-Id"))
	}
	return got, nil
}

func (c *check) organisation() request {
	return request{method: http.MethodGet, path: "/bridge/org", query: url.Values{"public_id": {c.Credential.PublicID}}}
}

// answers checks that the API returns the credential's organisation.
func (c *check) answers(ctx context.Context) (string, error) {
	if _, err := c.expect(ctx, c.organisation(), http.StatusOK, ""); err != nil {
		return "", err
	}
	return c.BaseURL + " returns the organisation", nil
}

// version returns the release that the stack runs. Stacks of releases up to 0.1.0 have no health endpoint.
func (c *check) version(ctx context.Context) (string, error) {
	got, err := c.expect(ctx, request{method: http.MethodGet, path: "/health"}, http.StatusOK, "")
	if err != nil {
		return "", err
	}
	var health struct{ Version, Commit string }
	if err := json.Unmarshal(got.Body, &health); err != nil {
		return "", err
	}
	if health.Version == "" {
		return "the release has no name", nil
	}
	return health.Version + ", commit " + health.Commit, nil
}

// unknownPath checks that the gateway responds to an unknown path with the service's error envelope.
func (c *check) unknownPath(ctx context.Context) (string, error) {
	_, err := c.expect(ctx, request{method: http.MethodGet, path: "/bridge/nothing"}, http.StatusNotFound, "svc_not_found")
	return "returns 404 in the error envelope", err
}

// challenge checks that the API rejects requests with a missing or incorrect private key.
func (c *check) challenge(ctx context.Context) (string, error) {
	for _, key := range []string{"", "guessed"} {
		of := request{method: http.MethodGet, path: "/bridge/events", key: key}
		if _, err := c.expect(ctx, of, http.StatusUnauthorized, "svc_unauthorized_client"); err != nil {
			return "", err
		}
	}
	return "rejected both without a key and with a guessed key", nil
}

// refusals checks that invalid requests get errors in the service's envelope.
func (c *check) refusals(ctx context.Context) (string, error) {
	own := c.Credential.PrivateKey
	cases := []struct {
		request

		status int
		code   string
	}{
		{
			request{method: http.MethodPut, path: "/bridge/events", key: own},
			http.StatusMethodNotAllowed,
			"svc_method_not_allowed",
		},
		{
			request{method: http.MethodPost, path: "/bridge/fhir/ehi-export", body: "{", key: own},
			http.StatusBadRequest,
			"svc_invalid_request",
		},
		{
			request{method: http.MethodGet, path: "/bridge/org_connection/" + ids.Random(), key: own},
			http.StatusNotFound,
			"svc_not_found",
		},
		{request{method: http.MethodGet, path: "/bridge/org"}, http.StatusBadRequest, "svc_invalid_request"},
	}
	for _, of := range cases {
		if _, err := c.expect(ctx, of.request, of.status, of.code); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d rejections match the documentation", len(cases)), nil
}

// headers checks the response headers that prevent caching and content sniffing.
func (c *check) headers(ctx context.Context) (string, error) {
	got, err := c.send(ctx, c.organisation())
	if err != nil {
		return "", err
	}
	wanted := map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer",
	}
	for name, value := range wanted {
		if got.Header.Get(name) != value {
			return "", fmt.Errorf("%s is %q, want %q", name, got.Header.Get(name), value)
		}
	}
	if got.Header.Get("X-Request-Id") == "" {
		return "", errors.New("the response has no x-request-id")
	}
	return "no-store, nosniff, no-referrer, x-request-id", nil
}

// cors checks that web pages can send requests with a public ID but not with a private key.
func (c *check) cors(ctx context.Context) (string, error) {
	asked := http.Header{"Origin": {elsewhere}, "Access-Control-Request-Method": {http.MethodPost}}
	got, err := c.send(ctx, request{
		method: http.MethodOptions, path: "/bridge/attempts",
		query: url.Values{"public_id": {c.Credential.PublicID}}, header: asked,
	})
	if err != nil {
		return "", err
	}
	if !strings.Contains(got.Header.Get("Access-Control-Allow-Methods"), http.MethodPost) {
		return "", fmt.Errorf("the preflight allows the methods %q", got.Header.Get("Access-Control-Allow-Methods"))
	}
	got, err = c.send(ctx, request{
		method: http.MethodGet, path: "/bridge/events",
		header: http.Header{"Origin": {elsewhere}}, key: c.Credential.PrivateKey,
	})
	if err != nil {
		return "", err
	}
	if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" ||
		got.Header.Get("Access-Control-Allow-Credentials") != "" {
		return "", fmt.Errorf("an endpoint that requires a key allows %q", allowed)
	}
	return "CORS allows public IDs but not keys", nil
}

// key checks that the private key gives access to the organisation's data.
func (c *check) key(ctx context.Context) (string, error) {
	_, err := c.expect(ctx, c.events(), http.StatusOK, "")
	return "the private key is accepted", err
}

func (c *check) events() request {
	return request{
		method: http.MethodGet, path: "/bridge/events", query: url.Values{"limit": {"1"}},
		key: c.Credential.PrivateKey,
	}
}

// limits checks that responses include rate limit headers.
func (c *check) limits(ctx context.Context) (string, error) {
	got, err := c.send(ctx, c.events())
	if err != nil {
		return "", err
	}
	policy := got.Header.Get("RateLimit-Policy")
	if policy == "" || got.Header.Get("RateLimit") == "" {
		return "", errors.New("the response lacks RateLimit or RateLimit-Policy")
	}
	return policy, nil
}

// jwks checks that the service's key sets contain public keys and no private keys.
func (c *check) jwks(ctx context.Context) (string, error) {
	total := 0
	for _, path := range []string{"/.well-known/jwks.json", "/.well-known/manifest-jwks.json"} {
		keys, err := c.keySet(ctx, path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		total += keys
	}
	return fmt.Sprintf("%d public keys", total), nil
}

func (c *check) keySet(ctx context.Context, path string) (keys int, err error) {
	got, err := c.expect(ctx, request{method: http.MethodGet, path: path}, http.StatusOK, "")
	if err != nil {
		return 0, err
	}
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal(got.Body, &set); err != nil || len(set.Keys) == 0 {
		return 0, errors.New("the key set is empty")
	}
	for _, key := range set.Keys {
		for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} { // RFC 7518, sections 6.2.2, 6.3.2 and 6.4
			if key[private] != nil {
				return 0, errors.New("a key shows its private half")
			}
		}
	}
	return len(set.Keys), nil
}
