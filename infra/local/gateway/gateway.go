// Package gateway serves a template's routes like an API Gateway REST API with Lambda proxy integrations. The package
// implements stage and resource matching, proxy events, limits, gateway responses and header changes. Rules without a
// cited source follow the API Gateway developer guide.
//
// The gateway compresses responses with gzip only. It doesn't implement authorisers, keys, throttling, caching or CORS,
// because the template uses none of these features. An Invoker runs the functions.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/infra/local/template"
)

// The limits are documented at
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html and
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const (
	integrationTimeout = 29 * time.Second
	maxRequestBytes    = 10 << 20 // API Gateway's maximum request body
	maxPayloadBytes    = 6 << 20  // Lambda's maximum event or response size
	maxHeaderBytes     = 10240
)

// Options configures New. All fields are required.
type Options struct {
	API       template.API
	Functions []template.Function
	Invoker   Invoker
	Now       func() time.Time
	// RequestID returns a new request ID, used as requestContext.requestId, x-amzn-RequestId and $context.requestId.
	RequestID func() string
	// Log receives the reason for every 5xx response, like API Gateway's execution log. Bodies and headers are never
	// logged.
	Log *slog.Logger
}

// Invoker runs a function to completion, like Lambda's Invoke with invocation type RequestResponse.
type Invoker interface {
	// Invoke passes payload to the function with this logical ID and returns its response. If the function itself
	// reports an error, exits or times out, the error is a *FunctionError. Any other error means that the function
	// could not be invoked. If ctx ends, Invoke stops waiting, but the function continues until its own timeout, as on
	// AWS.
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// FunctionError reports the failure of an invoked function.
type FunctionError struct {
	Type    string // Lambda's errorType, such as Runtime.ExitError or Sandbox.Timedout
	Message string // Lambda's errorMessage
}

// Error returns the type and the message on one line.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// New returns a handler that serves the routes of o.Functions under /<stage>. The handler responds to every path,
// including those outside the stage. Do not wrap the handler in an http.ServeMux, which would redirect paths with // or
// .. before API Gateway's own rules apply.
func New(o Options) http.Handler {
	g := &gateway{options: o, routes: &place{}}
	for _, f := range o.Functions {
		for _, r := range f.Routes {
			g.routes.add(r, f.LogicalID)
		}
	}
	return g
}

type gateway struct {
	options Options
	routes  *place
}

type exchange struct {
	request    *http.Request
	id         string // request id
	extendedID string
	path       string // path after the stage, as the client sent it
	match      match
}

// ServeHTTP implements http.Handler.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{request: r, id: g.options.RequestID(), extendedID: g.options.RequestID()}
	w.Header().Set("X-Amzn-Requestid", x.id)
	w.Header().Set("X-Amz-Apigw-Id", x.extendedID)
	if headerBytes(r.Header) > maxHeaderBytes {
		// AWS does not document which gateway response applies to excessively large headers. For such headers, package
		// gateway uses the default 4xx response.
		g.refuse(w, x, "DEFAULT_4XX")
		return
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		// AWS does not document the response to a malformed query. Without this check, the function would receive only
		// the valid part of the query and respond as if the client had not sent the rest.
		g.refuse(w, x, "DEFAULT_4XX")
		return
	}
	function, ok := g.route(&x)
	if !ok {
		g.refuse(w, x, "MISSING_AUTHENTICATION_TOKEN")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		g.refuse(w, x, "REQUEST_TOO_LARGE")
		return
	}
	if err != nil {
		g.refuse(w, x, "BAD_REQUEST_BODY")
		return
	}
	payload, err := json.Marshal(g.event(x, body))
	if err != nil {
		g.fail(r.Context(), w, x, "API_CONFIGURATION_ERROR", function, err)
		return
	}
	if len(payload) > maxPayloadBytes {
		g.refuse(w, x, "REQUEST_TOO_LARGE")
		return
	}
	g.integrate(r.Context(), w, x, function, payload)
}

// route looks up the function for a request and stores the match in x.
func (g *gateway) route(x *exchange) (function string, ok bool) {
	x.path, ok = strings.CutPrefix(x.request.URL.EscapedPath(), "/"+g.options.API.Stage)
	if !ok || !strings.HasPrefix(x.path, "/") {
		return "", false
	}
	x.match, ok = g.routes.find(x.path)
	if !ok {
		return "", false
	}
	if function, ok = x.match.functions[x.request.Method]; !ok {
		function, ok = x.match.functions["ANY"]
	}
	return function, ok
}

// integrate invokes the function and forwards its response. If the client disconnects, the invocation continues, as on
// AWS, so functions must handle disconnected clients.
func (g *gateway) integrate(ctx context.Context, w http.ResponseWriter, x exchange, function string, payload []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), integrationTimeout)
	defer cancel()
	out, err := g.options.Invoker.Invoke(ctx, function, payload)
	_, failed := errors.AsType[*FunctionError](err)
	switch {
	case failed:
		g.fail(ctx, w, x, "INTEGRATION_FAILURE", function, err)
	case err != nil && ctx.Err() != nil:
		g.fail(ctx, w, x, "INTEGRATION_TIMEOUT", function, err)
	case err != nil:
		g.fail(ctx, w, x, "API_CONFIGURATION_ERROR", function, err)
	case len(out) > maxPayloadBytes:
		g.fail(ctx, w, x, "INTEGRATION_FAILURE", function, errTooLarge)
	default:
		answer, err := g.readAnswer(out)
		if err != nil {
			g.fail(ctx, w, x, "INTEGRATION_FAILURE", function, err)
			return
		}
		if err := g.compress(&answer, x.request.Header); err != nil {
			g.fail(ctx, w, x, "INTEGRATION_FAILURE", function, err)
			return
		}
		answer.write(w)
	}
}

// fail responds with a 5xx status and logs the reason. The function's own error message is not logged, because it is
// already in the function's log.
func (g *gateway) fail(ctx context.Context, w http.ResponseWriter, x exchange, kind, function string, err error) {
	cause := err.Error()
	if failure, ok := errors.AsType[*FunctionError](err); ok {
		cause = failure.Type
	}
	g.options.Log.LogAttrs(ctx, slog.LevelWarn, "gateway.failed", slog.String("request_id", x.id),
		slog.String("function", function), slog.String("gateway_response", kind), slog.String("cause", cause))
	g.refuse(w, x, kind)
}

func headerBytes(h http.Header) int {
	total := 0
	for name, values := range h {
		for _, v := range values {
			total += len(name) + len(v)
		}
	}
	return total
}
