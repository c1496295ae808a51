// Package httpapi is the HTTP edge: typed endpoints, binding, the success and error envelopes, Basic, public-id and
// session authentication, rate limits, CORS, request ids and the log line of a request (docs/reference/deviations.md, "HTTP"). It
// knows nothing of Lambda, AWS or any record: a function hands it typed functions and gets an http.Handler.
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

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
)

// Options are what every function's edge needs.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	IDs    ids.Source // request ids, where no gateway has given one
}

// API serves endpoints. Make one per process with New.
type API struct {
	options Options
}

// New returns an API.
func New(options Options) *API { return &API{options: options} }

// Endpoint answers one method of a route. Keyed, KeyOptional, Browser, Page, FormPage, PublicPage and Bare make one,
// and for the dashboard Member, Account, Pending and Anyone.
type Endpoint struct {
	serve  serving
	fail   func(context.Context, *call, error) reply
	public PublicFinder   // browser endpoints only: whose registered origins CORS goes by
	action account.Action // endpoints of the dashboard only: what they need a recent proof of identity for; empty for none
	opened error          // endpoints of FormPage only: shown for every other method
}

// Elsewhere is a method of the route that another function answers: it is named among the allowed ones.
func Elsewhere() Endpoint { return Endpoint{} }

// Methods are the endpoints of one route by HTTP method. HEAD is answered by GET, unless it has an endpoint of its own,
// OPTIONS by the route itself.
type Methods map[string]Endpoint

// Serve returns the handler of a route: request id, panic guard, method dispatch, one log line. route is the pattern
// as the template declares it ("/bridge/fhir/ehi-export/{taskId}"); it is what the log shows, never the path.
func (a *API) Serve(route string, methods Methods) http.Handler {
	return &resource{options: a.options, route: route, methods: methods}
}

// Routes returns the handler of a function with several routes, by their patterns as the template declares them.
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

// serving answers a call. ctx is the request's, with its request id and its log line.
type serving func(ctx context.Context, c *call) (reply, error)

// call is one request on its way through an endpoint.
type call struct {
	request *http.Request
	now     time.Time
	header  http.Header    // of the answer, whichever way it ends
	action  account.Action // the endpoint's
}

// reply is a whole answer: it is written only once it is complete, so a failure never follows half a success.
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
		_, _ = w.Write(answer.body) // the client has gone: nobody is left to tell
	}
	logx.Add(ctx, slog.String("method", r.Method), slog.String("route", s.route), slog.Int("status", answer.status),
		slog.Int64("ms", s.options.Now().Sub(started).Milliseconds()))
	event.Emit(ctx, s.options.Logger, "http.request")
}

// answer finds the endpoint of the method and runs it; a panic in it ends as an Internal error.
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
			answer = endpoint.fail(ctx, c, fault.New(fault.Internal, fault.CodeServerError, "The handler panicked."))
		}
	}()
	if endpoint.public != nil {
		allowAnyOrigin(c.header)
	}
	c.action = endpoint.action
	answer, err := endpoint.serve(ctx, c)
	if err != nil {
		return endpoint.fail(ctx, c, err)
	}
	return answer
}

// other answers OPTIONS, and refuses the methods that the route does not have.
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

// finder returns the PublicFinder of the route's browser endpoints, or nil when it has none.
func (s *resource) finder() PublicFinder {
	for _, endpoint := range s.methods {
		if endpoint.public != nil {
			return endpoint.public
		}
	}
	return nil
}

// logPanic records where a panic came from. Its value is shown only when the runtime made it, since any other value
// may repeat what a client sent.
func logPanic(ctx context.Context, value any) {
	text := "a value of the handler's own"
	if failure, ok := value.(runtime.Error); ok {
		text = failure.Error()
	}
	stack := debug.Stack()
	logx.Add(ctx, slog.String("panic", text), slog.String("stack", string(stack[:min(len(stack), 4096)])))
}
