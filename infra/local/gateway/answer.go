package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

var (
	errTooLarge = errors.New("the function's response exceeds 6 MB")
	errNoAnswer = errors.New("malformed Lambda proxy response")
)

// refusal matches a quality value of zero, which means that the client does not accept a content coding.
var refusal = regexp.MustCompile(`^\s*q=0(\.0*)?\s*$`)

type answer struct {
	status int
	header http.Header
	body   []byte
}

// readAnswer parses the output of a proxy integration. All fields are optional. As in API Gateway, unknown fields are
// errors.
func (g *gateway) readAnswer(out []byte) (answer, error) {
	var response events.APIGatewayProxyResponse
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	if !bytes.HasPrefix(bytes.TrimSpace(out), []byte("{")) || decoder.Decode(&response) != nil || decoder.More() {
		return answer{}, errNoAnswer // the error omits the decoder's message, which may quote the body
	}
	a := answer{status: response.StatusCode, header: http.Header{}, body: []byte(response.Body)}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.status < http.StatusOK || a.status > 599 {
		return answer{}, fmt.Errorf("%w: status %d", errNoAnswer, a.status)
	}
	for name, value := range response.Headers {
		a.header.Set(outerName(name), value)
	}
	for name := range response.MultiValueHeaders {
		a.header.Del(outerName(name)) // multi-value headers override single-value headers
	}
	for name, values := range response.MultiValueHeaders {
		a.header[outerName(name)] = append(a.header[outerName(name)], values...)
	}
	a.header.Del("Transfer-Encoding")
	if a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/json")
	}
	if response.IsBase64Encoded && len(g.options.API.BinaryMediaTypes) > 0 {
		body, err := base64.StdEncoding.DecodeString(response.Body)
		if err != nil {
			return answer{}, fmt.Errorf("%w: the body is not base64", errNoAnswer)
		}
		a.body = body
	}
	return a, nil
}

// compress compresses a response for a client that accepts gzip, unless the function has already encoded it.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gzip-compression-decompression.html
func (g *gateway) compress(a *answer, request http.Header) error {
	minimum := g.options.API.MinCompression
	if minimum == 0 || len(a.body) < minimum || a.header.Get("Content-Encoding") != "" ||
		!acceptsGzip(request.Get("Accept-Encoding")) {
		return nil
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(a.body); err != nil {
		return fmt.Errorf("compress response: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("compress response: %w", err)
	}
	a.body = packed.Bytes()
	a.header.Set("Content-Encoding", "gzip")
	return nil
}

// acceptsGzip reports whether an Accept-Encoding header names gzip with a weight above 0 (RFC 9110 section 12.5.3). API
// Gateway doesn't compress responses for "*".
func acceptsGzip(accepted string) bool {
	for coding := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return !refusal.MatchString(weight)
		}
	}
	return false
}

// outerName returns the name under which the client receives a function's header, because API Gateway renames some
// headers. https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
func outerName(name string) string {
	name = http.CanonicalHeaderKey(name)
	switch name {
	case "Connection", "Content-Length", "Date", "Server", "Www-Authenticate":
		return "X-Amzn-Remapped-" + name
	}
	return name
}

// write sends the response, preserving any request IDs already set in w.
func (a answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		switch name {
		case "X-Amzn-Requestid", "X-Amz-Apigw-Id":
		default:
			w.Header()[name] = values
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may have disconnected
}
