package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/console"
	"recordbridge/infra/local/filehost"
	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/lambda"
	"recordbridge/shared/words/ids"
)

// handler returns the handler for all paths on the main port, except the URLs of files (S3 objects).
func (s *stack) handler() (http.Handler, error) {
	page, err := s.console()
	if err != nil {
		return nil, err
	}
	api := gateway.New(gateway.Options{
		API: s.template.API, Functions: s.template.Functions, Invoker: gatewayInvoker{s.functions},
		Now: time.Now, RequestID: ids.Random, Log: s.log,
	})
	runtime, ok := s.functions.(http.Handler)
	if !ok { // containers have their own Runtime API
		runtime = api
	}
	stage := "/" + s.template.API.Stage
	isAPI := func(path string) bool { return below(path, stage) }
	api = filehost.Redirects(s.objects, s.filesURL, api)
	return guard(isAPI, s.isHost, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch at := r.URL.Path; {
		case isAPI(at): // must precede the AWS case, because an API request may also be signed
			api.ServeHTTP(w, r)
		case strings.HasPrefix(at, lambda.Prefix):
			runtime.ServeHTTP(w, r)
		case below(at, inboxPath):
			s.inbox.ServeHTTP(w, r)
		case below(at, console.Root):
			page.ServeHTTP(w, r)
		case s.cloud.Handles(r):
			s.cloud.ServeHTTP(w, r)
		case at == "/" && r.Method == http.MethodGet:
			http.Redirect(w, r, console.Root, http.StatusFound)
		default:
			api.ServeHTTP(w, r)
		}
	})), nil
}

// files serves S3 on a separate port for download links, and under a separate host name if possible. Because of the
// separate port, clients that compare host and port don't forward the API's Authorization header. On AWS, files always
// have a separate host.
func (s *stack) files() http.Handler {
	noAPI := func(string) bool { return false }
	isHost := func(host string) bool {
		return s.isHost(host) || s.filesNamed() && strings.EqualFold(host, filehost.Name)
	}
	return guard(noAPI, isHost, filehost.Files(s.objects, s.filesURL,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !s.cloud.HandlesObject(r) {
				http.NotFound(w, r)
				return
			}
			s.cloud.ServeHTTP(w, r)
		})))
}

// receiver returns a handler that simulates customers' servers. The handler serves the inbox for webhooks and the page
// to which patients return. It uses a separate port, because customers' URLs must not point to the service.
func (s *stack) receiver(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.Path; !below(at, inboxPath) && at != returnPath && at != console.Root+"/console.css" {
			http.NotFound(w, r)
			return
		}
		service.ServeHTTP(w, r)
	})
}

// filesNamed reports whether files are served under a separate host name.
func (s *stack) filesNamed() bool { return strings.HasPrefix(s.filesURL, "http://"+filehost.Name+":") }

// isHost reports whether host refers to this machine, as seen from the machine or from its containers.
func (s *stack) isHost(host string) bool {
	return isLoopback(host) || s.where.engine != nil && host == s.where.engine.Host.String()
}

// forContainers returns a handler that serves next without the console. Every container on this machine, including
// third-party containers, can reach this handler, but only this machine's user may open the console.
func forContainers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if below(r.URL.Path, console.Root) && !below(r.URL.Path, inboxPath) {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *stack) console() (http.Handler, error) {
	cfg := s.cloud.Config(consoleCaller)
	return console.New(console.Options{
		Stack: view{s}, Invocations: s.timeline, Tables: s.cloud.DynamoDB(), Queues: s.cloud.SQS(),
		QueueClient: sqs.NewFromConfig(cfg), Objects: s3.NewFromConfig(cfg), Faults: s.byHand,
	})
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// gatewayInvoker is a gateway.Invoker that converts functions' errors to the gateway's error type.
type gatewayInvoker struct{ functions functions }

// Invoke implements gateway.Invoker.
func (g gatewayInvoker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	answer, err := g.functions.Invoke(ctx, function, payload)
	if failure, ok := errors.AsType[*lambda.FunctionError](err); ok {
		return nil, (*gateway.FunctionError)(failure)
	}
	return answer, err
}
