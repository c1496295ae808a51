package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	authorizevaultwiring "recordbridge/functions/authorizevault/wiring"
	callbackwiring "recordbridge/functions/callback/wiring"
	cancelattemptwiring "recordbridge/functions/cancelattempt/wiring"
	catalogprobewiring "recordbridge/functions/catalogprobe/wiring"
	catalogsyncwiring "recordbridge/functions/catalogsync/wiring"
	connectwiring "recordbridge/functions/connect/wiring"
	createattemptwiring "recordbridge/functions/createattempt/wiring"
	createexportwiring "recordbridge/functions/createexport/wiring"
	dashboardconnectionswiring "recordbridge/functions/dashboardconnections/wiring"
	dashboardcredentialswiring "recordbridge/functions/dashboardcredentials/wiring"
	dashboarddeliverieswiring "recordbridge/functions/dashboarddeliveries/wiring"
	dashboardexportswiring "recordbridge/functions/dashboardexports/wiring"
	dashboardmemberswiring "recordbridge/functions/dashboardmembers/wiring"
	dashboardorgwiring "recordbridge/functions/dashboardorg/wiring"
	dashboardsessionwiring "recordbridge/functions/dashboardsession/wiring"
	dashboardwebhookswiring "recordbridge/functions/dashboardwebhooks/wiring"
	deleteconnectionwiring "recordbridge/functions/deleteconnection/wiring"
	deleteexportfileswiring "recordbridge/functions/deleteexportfiles/wiring"
	downloadexportwiring "recordbridge/functions/downloadexport/wiring"
	eraserwiring "recordbridge/functions/eraser/wiring"
	exportcatalogwiring "recordbridge/functions/exportcatalog/wiring"
	exportworkerwiring "recordbridge/functions/exportworker/wiring"
	getattemptwiring "recordbridge/functions/getattempt/wiring"
	getcatalogwiring "recordbridge/functions/getcatalog/wiring"
	getconnectionwiring "recordbridge/functions/getconnection/wiring"
	getexportwiring "recordbridge/functions/getexport/wiring"
	getorgwiring "recordbridge/functions/getorg/wiring"
	identitywiring "recordbridge/functions/identity/wiring"
	identitycallbackwiring "recordbridge/functions/identitycallback/wiring"
	jwkswiring "recordbridge/functions/jwks/wiring"
	listeventswiring "recordbridge/functions/listevents/wiring"
	locaterecordswiring "recordbridge/functions/locaterecords/wiring"
	reconnectwiring "recordbridge/functions/reconnect/wiring"
	refreshschedulerwiring "recordbridge/functions/refreshscheduler/wiring"
	refreshworkerwiring "recordbridge/functions/refreshworker/wiring"
	requesthealthsystemwiring "recordbridge/functions/requesthealthsystem/wiring"
	requestsupportwiring "recordbridge/functions/requestsupport/wiring"
	revokevaultwiring "recordbridge/functions/revokevault/wiring"
	sandboxehrwiring "recordbridge/functions/sandboxehr/wiring"
	searchcatalogwiring "recordbridge/functions/searchcatalog/wiring"
	sendcodewiring "recordbridge/functions/sendcode/wiring"
	sweeperwiring "recordbridge/functions/sweeper/wiring"
	tefcaworkerwiring "recordbridge/functions/tefcaworker/wiring"
	usagecounterwiring "recordbridge/functions/usagecounter/wiring"
	verifyemailwiring "recordbridge/functions/verifyemail/wiring"
	webwiring "recordbridge/functions/web/wiring"
	webhookworkerwiring "recordbridge/functions/webhookworker/wiring"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/template"
	"recordbridge/shared/platform/config"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/outbound"
)

// function simulates a Lambda function with at most one instance. A crash ends the instance.
type function struct {
	stack    *stack
	declared template.Function
	starting chan struct{} // serialises instance starts; blocking on a mutex would stop virtual time
	queue    *sqs.Client   // client with which Lambda polls the function's queue, if any
	mu       sync.Mutex
	life     *faults.Life
	armed    bool         // whether a crash is still pending
	idle     int          // number of consecutive scheduled invocations without work
	watched  *faults.Life // instance that must crash
	serve    invocation
	traced   atomic.Int64
	ended    int // number of instances that crashed or timed out
	dir      string
	root     string
}

type invocation func(ctx context.Context, payload []byte) ([]byte, error)

func (s *stack) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	defer s.meter.invoked(s.functions[name].declared.Folder, time.Now())
	return s.functions[name].invoke(ctx, payload)
}

func (f *function) invoke(caller context.Context, payload []byte) ([]byte, error) {
	f.stack.authority.MayLog(f.declared.LogicalID) // Lambda logs every invocation
	if f.stack.authority.MayTrace(f.declared.LogicalID) {
		f.traced.Add(1)
	}
	ctx, cancel := context.WithTimeout(traced(caller), f.declared.Timeout)
	defer cancel()
	life, serve, err := f.instance(ctx)
	if err != nil {
		return nil, &gateway.FunctionError{Type: "Runtime.ExitError", Message: err.Error()}
	}
	var out []byte
	done := make(chan struct{})
	life.MarkBoundary()
	go func() {
		defer close(done)
		defer life.MarkBoundary()
		out, err = serve(ctx, payload)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // like Lambda, stop waiting at the deadline
			life.End()
			f.replace(life)
			if caller.Err() != nil {
				return nil, caller.Err()
			}
			return nil, &gateway.FunctionError{Type: "Sandbox.Timedout", Message: "timed out"}
		}
		<-done
	}
	if life.Dead() {
		f.replace(life)
		return nil, &gateway.FunctionError{Type: "Runtime.ExitError", Message: "crashed"}
	}
	if err != nil {
		return nil, &gateway.FunctionError{Type: "Error", Message: err.Error()}
	}
	return out, nil
}

// instance returns the running instance, starting one if necessary.
func (f *function) instance(ctx context.Context) (*faults.Life, invocation, error) {
	f.starting <- struct{}{}
	defer func() { <-f.starting }()
	life, serve := f.present()
	if serve != nil && life.Dead() { // Lambda has noticed that background work crashed after the last response
		f.replace(life)
		life, serve = f.present()
	}
	if serve != nil {
		return life, serve, nil
	}
	serve, err := f.start(ctx, life)
	if err != nil || life.Dead() {
		f.replace(life)
		return nil, nil, cmp.Or(err, faults.ErrCrashed)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life, f.serve = life, serve
	return life, serve, nil
}

// present returns the current instance and its invocation, which is nil if the instance has not started.
func (f *function) present() (*faults.Life, invocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life == nil {
		f.life = faults.NewLife(0)
	}
	return f.life, f.serve
}

// replace removes a crashed instance, so that the next invocation starts a new one.
func (f *function) replace(dead *faults.Life) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life == dead {
		f.life, f.serve, f.armed = dead.Next(), nil, false
		f.ended++
	}
}

func (f *function) start(ctx context.Context, life *faults.Life) (invocation, error) {
	cfg := f.stack.cloud.Config(f.declared.LogicalID)
	cfg.Retryer, cfg.APIOptions = f.stack.steadily, append(cfg.APIOptions, f.stack.options...)
	cfg.HTTPClient = life.Through(f.stack.cloud, callOfAWS)
	process := outbound.Process{
		Process: lambdarun.Process{
			AWS: cfg, Logger: f.logger(), Now: time.Now, Dir: f.dir, Root: f.root,
		},
		HTTP: life.Through(f.stack, callOutside),
	}
	if f.stack.meter != nil {
		process.Logger = f.stack.meter.logger(f.declared.Folder)
	}
	lookup := func(name string) (string, bool) {
		value, ok := f.declared.Environment[name]
		return value, ok
	}
	return lambdarun.Start(ctx, process.Logger, func(ctx context.Context) (invocation, error) {
		return builders()[f.declared.Folder](ctx, lookup, process)
	})
}

func callOfAWS(r *http.Request) faults.Call {
	return faults.Call{Kind: kindOf(r), Reads: faults.ReadsOnly(r), At: time.Now()}
}

// callOutside describes a request that a server outside AWS has already received.
func callOutside(r *http.Request) faults.Call { return faults.Call{Kind: kindOf(r), At: time.Now()} }

// kindOf returns a call's kind: the AWS operation in X-Amz-Target, "FHIR", or the method with either the last path
// segment or the query's parameter names.
func kindOf(r *http.Request) string {
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		return target
	case isFHIR(r):
		return "FHIR"
	case strings.Contains(r.URL.Path, "/sandbox/"):
		return r.Method + " " + path.Base(r.URL.Path)
	default: // calls to S3, SES and webhooks
		return r.Method + " " + strings.Join(slices.Sorted(maps.Keys(r.URL.Query())), " ")
	}
}

// steadily returns the production retryer without random delays so that runs with the same seed are identical.
func (s *stack) steadily() awssdk.Retryer {
	standard, ok := s.retryer().(awssdk.RetryerV2)
	if !ok {
		return s.retryer()
	}
	return steady{standard}
}

type steady struct{ awssdk.RetryerV2 }

func (steady) RetryDelay(attempt int, _ error) (time.Duration, error) {
	return time.Duration(attempt) * 100 * time.Millisecond, nil
}

func (f *function) logger() *slog.Logger {
	out := logStream{f}
	if f.stack.log != nil {
		return f.stack.log(out)
	}
	return slog.New(slog.NewJSONHandler(out, nil))
}

// logStream stores the function's log lines if its role allows Lambda to write logs.
type logStream struct{ function *function }

func (w logStream) Write(p []byte) (int, error) {
	s := w.function.stack
	if !s.authority.MayLog(w.function.declared.LogicalID) {
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs.Write(p)
}

type builder func(ctx context.Context, lookup func(string) (string, bool), p outbound.Process) (invocation, error)

func builders() map[string]builder {
	return map[string]builder{
		"catalogprobe":         calling(quietly(catalogprobewiring.Build)),
		"catalogsync":          calling(quietly(catalogsyncwiring.Build)),
		"connect":              calling(connectwiring.Build),
		"reconnect":            calling(reconnectwiring.Build),
		"createattempt":        calling(createattemptwiring.Build),
		"getattempt":           answering(getattemptwiring.Build),
		"cancelattempt":        answering(cancelattemptwiring.Build),
		"callback":             calling(callbackwiring.Build),
		"jwks":                 answering(jwkswiring.Build),
		"createexport":         answering(createexportwiring.Build),
		"getexport":            answering(getexportwiring.Build),
		"listevents":           answering(listeventswiring.Build),
		"downloadexport":       answering(downloadexportwiring.Build),
		"deleteexportfiles":    answering(deleteexportfileswiring.Build),
		"getconnection":        answering(getconnectionwiring.Build),
		"deleteconnection":     answering(deleteconnectionwiring.Build),
		"getorg":               answering(getorgwiring.Build),
		"web":                  answering(webwiring.Build),
		"sendcode":             answering(sendcodewiring.Build),
		"verifyemail":          answering(verifyemailwiring.Build),
		"requesthealthsystem":  answering(requesthealthsystemwiring.Build),
		"requestsupport":       answering(requestsupportwiring.Build),
		"dashboardsession":     answering(dashboardsessionwiring.Build),
		"dashboardmembers":     answering(dashboardmemberswiring.Build),
		"dashboardcredentials": answering(dashboardcredentialswiring.Build),
		"dashboardwebhooks":    answering(dashboardwebhookswiring.Build),
		"dashboarddeliveries":  answering(dashboarddeliverieswiring.Build),
		"dashboardconnections": answering(dashboardconnectionswiring.Build),
		"dashboardexports":     answering(dashboardexportswiring.Build),
		"dashboardorg":         answering(dashboardorgwiring.Build),
		"searchcatalog":        answering(searchcatalogwiring.Build),
		"getcatalog":           answering(getcatalogwiring.Build),
		"exportcatalog":        answering(exportcatalogwiring.Build),
		"authorizevault":       answering(authorizevaultwiring.Build),
		"identity":             calling(identitywiring.Build),
		"identitycallback":     calling(identitycallbackwiring.Build),
		"locaterecords":        answering(locaterecordswiring.Build),
		"revokevault":          answering(revokevaultwiring.Build),
		"sandboxehr":           answering(sandboxehrwiring.Build),
		"exportworker":         calling(exportworkerwiring.Build),
		"webhookworker":        calling(webhookworkerwiring.Build),
		"refreshworker":        calling(refreshworkerwiring.Build),
		"tefcaworker":          calling(tefcaworkerwiring.Build),
		"refreshscheduler":     silent(refreshschedulerwiring.Build),
		"sweeper":              silent(sweeperwiring.Build),
		"eraser":               silent(eraserwiring.Build),
		"usagecounter":         silent(usagecounterwiring.Build),
	}
}

// answering adapts the constructor of a handler that returns a result.
func answering[E, In, Out any, H ~func(context.Context, In) (Out, error)](build func(context.Context, E,
	lambdarun.Process) (H, error),
) builder {
	return calling(func(ctx context.Context, env E, p outbound.Process) (H, error) { return build(ctx, env, p.Process) })
}

// calling adapts the constructor of a handler that returns a result and calls servers outside AWS.
func calling[E, In, Out any, H ~func(context.Context, In) (Out, error)](build func(context.Context, E,
	outbound.Process) (H, error),
) builder {
	return func(ctx context.Context, lookup func(string) (string, bool), p outbound.Process) (invocation, error) {
		env, err := config.LoadFrom[E](lookup)
		if err != nil {
			return nil, err
		}
		handler, err := build(ctx, env, p)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			var in In
			if err := json.Unmarshal(payload, &in); err != nil {
				return nil, err
			}
			out, err := handler(ctx, in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		}, nil
	}
}

// quietly adapts the constructor of a handler that calls servers outside AWS and returns only an error.
func quietly[E, In any, H ~func(context.Context, In) error](build func(context.Context, E, outbound.Process) (H,
	error),
) func(context.Context, E, outbound.Process) (func(context.Context, In) (struct{}, error), error) {
	return func(ctx context.Context, env E, p outbound.Process) (func(context.Context, In) (struct{}, error), error) {
		handler, err := build(ctx, env, p)
		return func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, handler(ctx, in) }, err
	}
}

// silent adapts the constructor of a handler that returns only an error.
func silent[E, In any, H ~func(context.Context, In) error](build func(context.Context, E, lambdarun.Process) (H,
	error),
) builder {
	return calling(quietly(func(ctx context.Context, env E, p outbound.Process) (H,
		error,
	) {
		return build(ctx, env, p.Process)
	}))
}
