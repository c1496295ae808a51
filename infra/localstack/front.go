package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/template"
	"recordbridge/shared/words/ids"
)

const (
	stage      = "v1"
	inboxPath  = "/_local/inbox"
	returnPath = "/_local/return"
)

// front serves the API and the inbox at localhost, for people and functions. LocalStack's API URL is known only after a
// deployment and changes with each one. front adds two API Gateway behaviours that LocalStack lacks: the template's
// response for an unknown path, and a different name for the authentication challenge header.
type front struct {
	inbox   *inbox.Inbox
	nowhere http.Handler            // serves paths that the API does not define
	api     atomic.Pointer[url.URL] // API URL at LocalStack; nil before the API is deployed
	aws     string                  // LocalStack's address on this machine
	inside  netip.Addr              // address at which containers reach this machine
	watch   atomic.Pointer[watch]   // state of the current upgrade; nil if no upgrade is running
	server  *http.Server
	// receiver serves the inbox and the patients' return page on a separate port, because a customer's URL must not
	// point to the service.
	receiver *http.Server
	stopped  chan error
}

// publicURL returns the front server's URL, which all clients use. Inside a container, the name localhost also refers
// to this machine.
func (o options) publicURL() string {
	return "http://" + net.JoinHostPort("localhost", port(o.address))
}

// receiverPort returns the port after the API's port, or "0" if the API's port is not fixed.
func (o options) receiverPort() string {
	number, err := strconv.Atoi(port(o.address))
	if err != nil || number == 0 {
		return "0"
	}
	return strconv.Itoa(number + 1)
}

func (o options) receiverURL() string {
	return "http://" + net.JoinHostPort("localhost", o.receiverPort())
}

var (
	// errNowhere means that the API has no resource for a request.
	errNowhere = errors.New("not found")
	// errUndeployed means that a request can't be forwarded because LocalStack is replacing the API.
	errUndeployed = errors.New("the API is not deployed")
)

// newFront creates a front server that listens on the loopback address and on the address at which containers reach
// this machine. On success, the caller must close the front server.
func newFront(ctx context.Context, o options, inside netip.Addr) (*front, error) {
	addresses := []string{o.address}
	if ofThisMachine(inside) && !inside.IsLoopback() {
		addresses = append(addresses, net.JoinHostPort(inside.String(), port(o.address)))
	}
	nowhere, err := newNowhere(o)
	if err != nil {
		return nil, err
	}
	f := &front{
		inbox: inbox.New(inboxPath), nowhere: nowhere, aws: o.aws, inside: inside,
		stopped: make(chan error, 2*len(addresses)),
	}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	var listening net.ListenConfig
	f.receiver = &http.Server{Handler: http.HandlerFunc(f.serveReceiver), ReadHeaderTimeout: 10 * time.Second}
	for _, address := range addresses {
		host, _, _ := net.SplitHostPort(address) // always valid, as returned by JoinHostPort or a listener
		for at, server := range map[string]*http.Server{
			address:                                  f.server,
			net.JoinHostPort(host, o.receiverPort()): f.receiver,
		} {
			listener, err := listening.Listen(ctx, "tcp", at)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("listen: %w; choose another port with -addr", err), f.close())
			}
			go func() { f.stopped <- server.Serve(listener) }()
		}
	}
	return f, nil
}

// newNowhere returns a simulated API Gateway without routes, which responds to undeclared paths as in make run.
func newNowhere(o options) (http.Handler, error) {
	declared, err := template.Load(filepath.Join(o.source, "template.yaml"),
		template.Options{BaseURL: o.publicURL(), StackName: stackName})
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		API: declared.API, Now: time.Now, RequestID: ids.Random,
		Log: slog.New(slog.DiscardHandler),
	}), nil
}

// ofThisMachine reports whether one of this machine's interfaces has the address. If the engine runs in a virtual
// machine, containers use an address that no interface has, and their requests arrive at the loopback address.
func ofThisMachine(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil && prefix.Addr() == ip {
			return true
		}
	}
	return false
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if ip, notIP := netip.ParseAddr(host); err != nil || host != "localhost" &&
		(notIP != nil || !ip.IsLoopback() && ip != f.inside) {
		// reject other host names, so that web pages can't reach this server by DNS rebinding
		http.Error(w, "This server accepts requests only for this machine's names.", http.StatusMisdirectedRequest)
		return
	}
	if seen := f.watch.Load(); seen != nil {
		if seen.refuses(r) {
			w.Header().Set("Retry-After", seen.retryAfter())
			http.Error(w, "The receiver is down.", http.StatusServiceUnavailable)
			return
		}
		seen.hold(r)
	}
	api := f.api.Load()
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, inboxPath):
		f.inbox.ServeHTTP(w, r)
	case path == returnPath:
		// error ignored, because the client may have disconnected
		_, _ = io.WriteString(w, "This page stands in for the application. Its URL holds the result.\n")
	case !strings.HasPrefix(path, "/"+stage+"/"):
		http.NotFound(w, r)
	case api == nil:
		http.Error(w, "The stack is not deployed yet.", http.StatusServiceUnavailable)
	default:
		proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(api)
			p.Out.Host = p.In.Host
		}, ModifyResponse: f.matchAWS, ErrorHandler: f.failed}
		proxy.ServeHTTP(w, r)
	}
}

// serveReceiver serves the webhook inbox and the patients' return page, which are not part of the service.
func (f *front) serveReceiver(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, inboxPath) && r.URL.Path != returnPath {
		http.NotFound(w, r)
		return
	}
	f.ServeHTTP(w, r)
}

// serveAPI starts forwarding requests to the API with the given ID.
func (f *front) serveAPI(id string) {
	f.api.Store(&url.URL{Scheme: "http", Host: f.aws, Path: "/_aws/execute-api/" + id})
}

func (f *front) close() error { return errors.Join(f.server.Close(), f.receiver.Close()) }

// matchAWS changes a LocalStack response to match AWS's.
func (f *front) matchAWS(response *http.Response) error {
	if response.StatusCode == http.StatusForbidden &&
		response.Header.Get("X-Amzn-Errortype") == "MissingAuthenticationTokenException" {
		return errNowhere
	}
	// Every response from the API has this header.
	if response.StatusCode == http.StatusNotFound && response.Header.Get("X-Amz-Apigw-Id") == "" {
		return errUndeployed
	}
	if challenge := response.Header.Values("Www-Authenticate"); len(challenge) > 0 {
		// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
		response.Header["X-Amzn-Remapped-Www-Authenticate"] = challenge
		response.Header.Del("Www-Authenticate")
	}
	f.outside(response)
	return nil
}

// failed responds to a request for which there is no usable response from LocalStack.
func (f *front) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errNowhere):
		f.nowhere.ServeHTTP(w, r)
		return
	case errors.Is(err, errUndeployed):
		http.Error(w, "The stack is being deployed.", http.StatusServiceUnavailable) // clients treat a 404 as final
		return
	}
	http.Error(w, "LocalStack does not respond.", http.StatusBadGateway)
}

// outside rewrites a redirect to LocalStack's container address so that it points to this machine. Functions use the
// container address when they sign file URLs.
func (f *front) outside(response *http.Response) {
	location, err := response.Location()
	if err != nil {
		return // not a redirect
	}
	ip, err := netip.ParseAddr(location.Hostname())
	if err != nil || !ip.IsPrivate() || location.Port() != port(f.aws) && location.Port() != insidePort {
		return // the redirect doesn't point to LocalStack's container address
	}
	location.Host = f.aws
	response.Header.Set("Location", location.String())
}
