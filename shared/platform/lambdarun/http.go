package lambdarun

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"recordbridge/shared/words/logx"
)

// HTTPHandler handles API Gateway REST proxy events (payload version 1.0).
type HTTPHandler func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// HTTP adapts an http.Handler to Lambda. The request's Pattern is the declared resource, and its PathValues are the
// path parameters ({proxy+} is "proxy"). Its path begins with the stage, its context holds API Gateway's request ID
// (logx.RequestID), and its RemoteAddr is the client address that the gateway reports.
func HTTP(logger *slog.Logger, handler http.Handler) HTTPHandler {
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		ctx = logx.WithRequestID(traced(ctx), event.RequestContext.RequestID)
		answer := &recorder{header: http.Header{}}
		ctx, line := logx.Begin(ctx)
		err := guarded(ctx, func(ctx context.Context) error {
			request, err := requestOf(ctx, event)
			if err != nil {
				return err
			}
			handler.ServeHTTP(answer, request)
			return nil
		})
		if err != nil { // The handler writes its own log line unless there is an error.
			logx.Fail(ctx, err)
			line.Emit(ctx, logger, "http.failed")
			return events.APIGatewayProxyResponse{}, err
		}
		return answer.response(event.HTTPMethod), nil
	}
}

func requestOf(ctx context.Context, event events.APIGatewayProxyRequest) (*http.Request, error) {
	body := []byte(event.Body)
	if event.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(event.Body)
		if err != nil {
			return nil, fmt.Errorf("the event's body is not base64: %w", err)
		}
		body = decoded
	}
	header := headersOf(event)
	target := &url.URL{Path: pathOf(event), RawQuery: queryOf(event)}
	request := (&http.Request{
		Method:        event.HTTPMethod,
		URL:           target,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Host:          header.Get("Host"),
		RemoteAddr:    net.JoinHostPort(event.RequestContext.Identity.SourceIP, "0"),
		RequestURI:    target.RequestURI(),
	}).WithContext(ctx)
	if request.Host == "" {
		request.Host = event.RequestContext.DomainName
	}
	request.Pattern = strings.ReplaceAll(event.Resource, "+}", "...}") // the pattern in net/http's syntax
	for name, value := range event.PathParameters {
		request.SetPathValue(name, value)
	}
	return request, nil
}

// pathOf returns the path as the client sent it, including the stage. The event contains two paths. A custom domain
// changes event.Path. pathOf therefore uses it only if an emulator, such as sam local start-api, has put the resource
// pattern in event.RequestContext.Path.
func pathOf(event events.APIGatewayProxyRequest) string {
	path := event.RequestContext.Path
	if path == "" || strings.Contains(event.Resource, "{") && strings.HasSuffix(path, event.Resource) {
		path = event.Path
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		return decoded
	}
	return path
}

func headersOf(event events.APIGatewayProxyRequest) http.Header {
	header := http.Header{}
	for name, values := range event.MultiValueHeaders {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	if len(event.MultiValueHeaders) == 0 {
		for name, value := range event.Headers {
			header.Set(name, value)
		}
	}
	return header
}

func queryOf(event events.APIGatewayProxyRequest) string {
	query := url.Values(event.MultiValueQueryStringParameters)
	if len(query) == 0 {
		query = url.Values{}
		for name, value := range event.QueryStringParameters {
			query.Set(name, value)
		}
	}
	return query.Encode()
}

// recorder buffers a response, because Lambda returns it as a single event.
type recorder struct {
	header http.Header
	sent   http.Header // copied when the status is written, so later changes have no effect
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.sent = w.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data) //nolint:wrapcheck // a bytes.Buffer does not fail
}

// response returns text unchanged, because some emulators never decode bodies. It encodes any other content as base64.
// The API declares all media types as binary, so API Gateway decodes bodies marked as base64 and passes on other
// bodies. https://docs.aws.amazon.com/apigateway/latest/developerguide/lambda-proxy-binary-media.html
func (w *recorder) response(method string) events.APIGatewayProxyResponse {
	w.WriteHeader(http.StatusOK)
	body := w.body.Bytes()
	if method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		body = nil
	}
	if len(body) > 0 && w.sent.Get("Content-Type") == "" {
		w.sent.Set("Content-Type", http.DetectContentType(body))
	}
	oneLine := strings.NewReplacer("\r", " ", "\n", " ")
	for _, values := range w.sent {
		for i, value := range values {
			values[i] = oneLine.Replace(value)
		}
	}
	answer := events.APIGatewayProxyResponse{StatusCode: w.status, MultiValueHeaders: w.sent}
	if utf8.Valid(body) {
		answer.Body = string(body)
	} else {
		answer.Body, answer.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return answer
}
