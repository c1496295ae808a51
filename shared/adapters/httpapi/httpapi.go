// Package httpapi implements the HTTP edge: typed endpoints, request binding, response envelopes, authentication, rate
// limits, CORS, request IDs, and one log line per request (docs/reference/deviations.md, "HTTP"). Clients authenticate
// with HTTP Basic, a public ID or a session. The package does not depend on Lambda, AWS or any record type. Callers
// pass typed functions and receive an http.Handler.
package httpapi

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Options holds the dependencies of an API.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	IDs    ids.Source // generates a request ID if the gateway has not set one
	Log    requestlog.Recorder
}

// API serves endpoints. Use New to create one API per process.
type API struct {
	options Options
}

// New returns an API.
func New(options Options) *API { return &API{options: options} }

// Endpoint serves one method of a route. Keyed, KeyOptional, Browser, Page, FormPage, PublicPage, Application, Files
// and Bare create endpoints. Member, Account, Pending and Anyone create endpoints for the dashboard.
type Endpoint struct {
	serve  serving
	fail   func(context.Context, *call, error) reply
	public PublicFinder   // browser endpoints only: looks up the registered origins for CORS
	action account.Action // dashboard only: the action that requires recent authentication, or empty
	opened error          // FormPage only: error returned for methods other than POST
	polled bool           // whether only failed requests are added to the request log
	report func(context.Context, error)
}

// Reporting returns a copy of an endpoint that calls report once for each failed request, with the error.
func (e Endpoint) Reporting(report func(context.Context, error)) Endpoint {
	e.report = report
	return e
}

// Polled returns a copy of an endpoint that browsers poll. The request log omits the endpoint's successful requests.
func (e Endpoint) Polled() Endpoint {
	e.polled = true
	return e
}

// Elsewhere returns a placeholder for a method that another function serves, so that the route's Allow header includes
// the method.
func Elsewhere() Endpoint { return Endpoint{} }

// Methods maps HTTP methods to a route's endpoints. The GET endpoint also serves HEAD unless HEAD has its own endpoint.
// OPTIONS is handled automatically.
type Methods map[string]Endpoint

// Serve returns a route's handler. The handler sets the request ID, recovers from panics, dispatches by method and
// writes one log line. route is the pattern declared in the template ("/bridge/fhir/ehi-export/{taskId}"). The log line
// contains this pattern, never the request's path.
func (a *API) Serve(route string, methods Methods) http.Handler {
	return &resource{options: a.options, route: route, methods: methods}
}

// Routes returns a handler that serves several routes. The map's keys are the patterns declared in the template.
func (a *API) Routes(routes map[string]Methods) http.Handler {
	handlers := make(map[string]http.Handler, len(routes))
	for route, methods := range routes {
		handlers[route] = a.Serve(route, methods)
	}
	nothing := a.Serve("", Methods{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := handlers[r.Pattern]; ok {
			handler.ServeHTTP(w, r)
			return
		}
		nothing.ServeHTTP(w, r)
	})
}

// serving handles a call. ctx carries the request ID and the request's log line.
type serving func(ctx context.Context, c *call) (reply, error)

type call struct {
	request *http.Request
	now     time.Time
	header  http.Header // response headers, for both success and failure
	action  account.Action

	caller     org.Caller // organisation and credential to which the request log attributes the request, or zero
	externalID string     // patient's ID in the request; empty if there is none
	polled     bool       // whether the endpoint is Polled

	report func(context.Context, error) // from Endpoint.Reporting; nil if nothing is reported
}

// failed reports an error that the endpoint returns to the client.
func (c *call) failed(ctx context.Context, err error) {
	if c.report != nil {
		c.report(ctx, err)
	}
}

// reply is a complete, buffered response, so an error never follows part of a successful response.
type reply struct {
	status int
	body   []byte
}

type resource struct {
	options Options
	route   string
	methods Methods
}

// ServeHTTP implements http.Handler.
func (s *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := s.options.Now()
	ctx := r.Context()
	if logx.RequestID(ctx) == "" {
		ctx = logx.WithRequestID(ctx, s.options.IDs())
	}
	ctx, event := logx.Begin(ctx)
	c := &call{request: r.WithContext(ctx), now: started, header: w.Header()}
	c.header.Set("Cache-Control", "no-store")
	c.header.Set("Referrer-Policy", "no-referrer")
	c.header.Set("X-Content-Type-Options", "nosniff")
	c.header.Set("X-Request-Id", logx.RequestID(ctx))

	answer := s.answer(ctx, c)
	w.WriteHeader(answer.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(answer.body) // if writing fails, the client has disconnected
	}
	took := s.options.Now().Sub(started)
	logx.Add(ctx, slog.String("method", r.Method), slog.String("route", s.route), slog.Int("status", answer.status),
		slog.Int64("ms", took.Milliseconds()))
	s.log(ctx, c, event, answer.status, took)
	event.Emit(ctx, s.options.Logger, "http.request")
}

// log adds a request with an organisation's credential to the request log. The IDs and the error code are those in the
// log line.
func (s *resource) log(ctx context.Context, c *call, event *logx.Event, status int, took time.Duration) {
	row := requestlog.Request{
		Tenant: c.caller.Tenant, ID: logx.RequestID(ctx), At: c.now, Method: c.request.Method, Route: s.route,
		Status: status, Error: event.Text("error"), CredentialID: c.caller.CredentialID,
		Latency: took, ConnectionID: event.Text("connection_id"), TaskID: event.Text("task_id"),
	}
	if c.caller.CredentialID == "" || c.polled && row.Error == "" {
		return
	}
	s.options.Log.Request(ctx, row, c.externalID)
}

// answer calls the endpoint for the request's method. A panic in the endpoint becomes a fault.Internal error.
func (s *resource) answer(ctx context.Context, c *call) (answer reply) {
	endpoint, known := s.methods[c.request.Method]
	if !known && c.request.Method == http.MethodHead {
		endpoint, known = s.methods[http.MethodGet]
	}
	if !known || endpoint.serve == nil {
		return s.other(ctx, c)
	}
	defer func() {
		if value := recover(); value != nil {
			logPanic(ctx, value)
			err := fault.New(fault.Internal, fault.CodeServerError, "The handler panicked.")
			c.failed(ctx, err)
			answer = endpoint.fail(ctx, c, err)
		}
	}()
	if endpoint.public != nil {
		allowAnyOrigin(c.header)
	}
	c.action, c.polled, c.report = endpoint.action, endpoint.polled, endpoint.report
	answer, err := endpoint.serve(ctx, c)
	if err != nil {
		c.failed(ctx, err)
		return endpoint.fail(ctx, c, err)
	}
	return answer
}

// other responds to OPTIONS requests, and returns 405 for unsupported methods.
func (s *resource) other(ctx context.Context, c *call) reply {
	allowed := slices.Collect(maps.Keys(s.methods))
	if _, ok := s.methods[http.MethodGet]; ok {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	allow := strings.Join(append(slices.Compact(allowed), http.MethodOptions), ", ")
	c.header.Set("Allow", allow)
	finder := s.finder()
	if c.request.Method == http.MethodOptions {
		if finder != nil {
			preflight(ctx, c, finder, allow)
		}
		return reply{status: http.StatusNoContent}
	}
	if finder != nil {
		allowAnyOrigin(c.header)
	}
	if form := s.methods[http.MethodPost]; form.opened != nil {
		return form.fail(ctx, c, form.opened)
	}
	return failJSON(ctx, c, fault.New(fault.MethodNotAllowed, fault.CodeMethodNotAllowed,
		"This method is not allowed for this URL. Allowed methods: "+allow+"."))
}

// finder returns the PublicFinder of the route's browser endpoints, or nil if the route has none.
func (s *resource) finder() PublicFinder {
	for _, endpoint := range s.methods {
		if endpoint.public != nil {
			return endpoint.public
		}
	}
	return nil
}

// logPanic logs a panic's stack trace. The panic's value is logged only if it is a runtime error, because any other
// value may contain client input.
func logPanic(ctx context.Context, value any) {
	text := "a value of the handler's own"
	if failure, ok := value.(runtime.Error); ok {
		text = failure.Error()
	}
	stack := debug.Stack()
	logx.Add(ctx, slog.String("panic", text), slog.String("stack", string(stack[:min(len(stack), 4096)])))
}
