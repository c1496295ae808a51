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

// front is where people and functions reach the API and the inbox, both under the name localhost: LocalStack's own
// address of the API is known only when the stack is deployed, and is another one with every deployment. It does two
// things that AWS's gateway does and LocalStack's does not, and no more: an unknown path gets the answer that the
// template declares for it, and a challenge gets the name that AWS gives to its header.
type front struct {
	inbox   *inbox.Inbox
	nowhere http.Handler            // answers where the API has nothing
	api     atomic.Pointer[url.URL] // of the API at LocalStack; nil until it is deployed
	aws     string                  // LocalStack's address on this machine
	inside  netip.Addr              // where containers reach this machine
	watch   atomic.Pointer[watch]   // of an upgrade; nil for none
	server  *http.Server
	// receiver serves the inbox and the page where patients return at a port of its own, since no customer's URL
	// may lead to the service.
	receiver *http.Server
	stopped  chan error
}

// publicURL is how everybody reaches the front: a container's localhost is this machine, too.
func (o options) publicURL() string {
	return "http://" + net.JoinHostPort("localhost", port(o.address))
}

// receiverPort is the one after the API's.
func (o options) receiverPort() string {
	number, err := strconv.Atoi(port(o.address))
	if err != nil || number == 0 {
		return "0"
	}
	return strconv.Itoa(number + 1)
}

// receiverURL returns the base URL of the sandbox receiver; publicURL returns the service's.
func (o options) receiverURL() string {
	return "http://" + net.JoinHostPort("localhost", o.receiverPort())
}

var (
	// errNowhere is that of a request for which the API has nothing.
	errNowhere = errors.New("not found")
	// errUndeployed is that of a request for which there is no API, for as long as LocalStack replaces it.
	errUndeployed = errors.New("the API is not deployed")
)

// newFront listens, on the loopback address and where containers find this machine. On success the caller closes it.
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
		host, _, _ := net.SplitHostPort(address) // made by JoinHostPort, or listened at
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

// newNowhere is API Gateway without a route, as make run has it: the answer for paths that the
// template declares none for.
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

// ofThisMachine tells whether one of the interfaces has the address. Where the engine is in a virtual machine, none has
// the one that containers see, and what they send there comes in at the loopback address.
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
		// no page can make itself ours by its name
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
		// a client that went away needs no answer
		_, _ = io.WriteString(w, "This page stands in for the application. Its URL holds the result.\n")
	case !strings.HasPrefix(path, "/"+stage+"/"):
		http.NotFound(w, r)
	case api == nil:
		http.Error(w, "The stack is not deployed yet.", http.StatusServiceUnavailable)
	default:
		proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(api)
			p.Out.Host = p.In.Host
		}, ModifyResponse: f.mend, ErrorHandler: f.failed}
		proxy.ServeHTTP(w, r)
	}
}

// serveReceiver serves what is not the service's.
func (f *front) serveReceiver(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, inboxPath) && r.URL.Path != returnPath {
		http.NotFound(w, r)
		return
	}
	f.ServeHTTP(w, r)
}

// serveAPI begins to pass requests on to the API with this id.
func (f *front) serveAPI(id string) {
	f.api.Store(&url.URL{Scheme: "http", Host: f.aws, Path: "/_aws/execute-api/" + id})
}

// close stops listening.
func (f *front) close() error { return errors.Join(f.server.Close(), f.receiver.Close()) }

// mend makes LocalStack's answer what AWS's would be.
func (f *front) mend(response *http.Response) error {
	if response.StatusCode == http.StatusForbidden &&
		response.Header.Get("X-Amzn-Errortype") == "MissingAuthenticationTokenException" {
		return errNowhere
	}
	// which every answer of an API has
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

// failed answers in LocalStack's place.
func (f *front) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errNowhere):
		f.nowhere.ServeHTTP(w, r)
		return
	case errors.Is(err, errUndeployed):
		http.Error(w, "The stack is being deployed.", http.StatusServiceUnavailable) // a 404 would be an answer to believe
		return
	}
	http.Error(w, "LocalStack does not respond.", http.StatusBadGateway)
}

// outside makes a redirect to LocalStack as containers see it one for this machine: addresses of files
// are signed by functions.
func (f *front) outside(response *http.Response) {
	location, err := response.Location()
	if err != nil {
		return // it leads nowhere
	}
	ip, err := netip.ParseAddr(location.Hostname())
	if err != nil || !ip.IsPrivate() || location.Port() != port(f.aws) && location.Port() != insidePort {
		return // a name
	}
	location.Host = f.aws
	response.Header.Set("Location", location.String())
}
