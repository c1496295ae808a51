package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/filehost"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/template"
	"recordbridge/infra/local/timeline"
	"recordbridge/infra/local/triggers"
)

const (
	stackName   = "local"
	region      = "us-east-1"
	account     = "000000000000"
	inboxPath   = "/_local/inbox"
	stopTime    = 3 * time.Second
	expireEvery = time.Minute

	// consoleCaller is the access key of the console, and so of the person in front of it.
	consoleCaller = "console"
	// operatorCaller is that of the operator's command line.
	operatorCaller = "operator"
)

// stack is everything that runs.
type stack struct {
	log       *slog.Logger
	url       string // http://<address>, of the embedded AWS
	objects   string // host:port of S3 alone
	filesURL  string // of the same, as clients are led there
	template  *template.Template
	cloud     *aws.Cloud
	authority *iam.Authority
	functions functions
	triggers  *triggers.Triggers
	inbox     *inbox.Inbox
	timeline  *timeline.Recorder
	byHand    *faults.ByHand
	run       runfile.Run // before seeding
	runFile   string

	servers    []*http.Server
	stop       context.CancelFunc // of what goes on in the background
	background sync.WaitGroup
}

// start starts the service as o says. On success the caller closes the stack.
func start(ctx context.Context, o options, log *slog.Logger, output *lines) (*stack, error) {
	listener, err := listen(ctx, o.address)
	if err != nil {
		return nil, err
	}
	objects, err := listenBeside(ctx, listener)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	address := listener.Addr().String()
	s := &stack{
		log: log, url: "http://" + address, objects: objects.Addr().String(),
		inbox: inbox.New(inboxPath), timeline: timeline.New(time.Now), byHand: faults.NewByHand(), runFile: o.runFile,
	}
	var handler http.Handler
	s.filesURL = filehost.URL(ctx, net.DefaultResolver.LookupNetIP, objects.Addr().(*net.TCPAddr).AddrPort()) // listenBeside listens on tcp
	if err = s.prepare(ctx, o, address, output); err == nil {
		handler, err = s.handler()
	}
	if err != nil {
		s.close(ctx)
		return nil, errors.Join(err, listener.Close(), objects.Close())
	}
	// The end of ctx asks for an orderly end; what runs must not break off by itself before that.
	var background context.Context
	background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.serve(background, listener, handler)
	s.serve(background, objects, s.files())
	s.background.Go(func() { s.triggers.Run(background) })
	s.background.Go(func() { s.expire(background) })
	return s, nil
}

// serve answers at a listener until the stack is closed.
func (s *stack) serve(ctx context.Context, listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.servers = append(s.servers, server)
	s.background.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.ErrorContext(ctx, "server ended", slog.Any("error", err))
		}
	})
}

// prepare makes all that the handler needs.
func (s *stack) prepare(ctx context.Context, o options, address string, output *lines) error {
	parameters, err := o.templateParameters(s.url + "/v1")
	if err != nil {
		return err
	}
	s.template, err = template.Load("template.yaml", template.Options{Parameters: parameters, BaseURL: s.url, StackName: stackName})
	if err != nil {
		return err
	}
	s.run = runfile.Run{
		BaseURL: s.url + "/" + s.template.API.Stage, ConsoleURL: s.url + "/_local", InboxURL: s.url + inboxPath,
		AWS: runfile.AWS{
			EndpointURL: s.url, Region: region, AccessKeyID: operatorCaller, SecretAccessKey: o.secretKey(), Outputs: s.template.Outputs,
		},
	}
	if s.cloud, err = s.newCloud(o); err != nil {
		return err
	}
	if err := provision.Apply(ctx, s.cloud.Config("provision"), s.template); err != nil {
		return err
	}
	if o.lambda != "" {
		s.functions = remoteFunctions{lambda.NewRemote(o.lambda), s.template.Functions, s.timeline}
	} else {
		s.functions = s.subprocesses(o.binaries, address, output)
	}
	s.triggers = newTriggers(s.template, s.cloud, s.functions, s.log)
	return nil
}

// newCloud makes the embedded AWS, which holds every function to its statements. The timeline is outermost, so that it
// shows what the others make of a call.
func (s *stack) newCloud(o options) (*aws.Cloud, error) {
	var err error
	if s.authority, err = iam.New(s.template); err != nil {
		return nil, err
	}
	configuration := aws.Options{
		URL: s.url, Dir: o.data, SecretKey: s.run.AWS.SecretAccessKey,
		Middleware: []wire.Middleware{s.timeline.Middleware(), s.byHand.Middleware(), s.authority.Middleware()},
	}
	if o.faults == nil {
		return aws.New(configuration)
	}
	configuration.Middleware = slices.Insert(configuration.Middleware, 1, o.faults.Middleware())
	configuration.Skew = o.faults.Skew
	cloud, err := aws.New(configuration)
	if err != nil {
		return nil, err
	}
	cloud.SQS().Disturb(o.faults.Disorder)
	cloud.DynamoDB().LagIndexes(o.faults.IndexLag)
	return cloud, nil
}

// close ends everything, also when ctx has ended, in the order in which nothing waits for what is gone.
func (s *stack) close(ctx context.Context) {
	if s.stop != nil {
		s.stop()
	}
	if s.functions != nil {
		s.functions.Close() // also ends the long polls of the functions, for which the server would wait
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, server := range s.servers {
		if err := server.Shutdown(limited); err != nil {
			_ = server.Close() // who still waits for an answer does not get one
		}
	}
	s.background.Wait()
	if s.cloud != nil {
		if err := s.cloud.Close(); err != nil {
			s.log.ErrorContext(ctx, "data not closed", slog.Any("error", err))
		}
	}
}

// expire lets rows go whose time to live is over, as DynamoDB does in its own time.
func (s *stack) expire(ctx context.Context) {
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for now := time.Now(); ; { // at once, too: the data may be older than this process
		s.cloud.DynamoDB().Expire(now)
		select {
		case <-ctx.Done():
			return
		case now = <-ticker.C:
		}
	}
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program (another runner?): stop it, or choose another port "+
			"with -addr 127.0.0.1:4567 (port 0 takes a free one)", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}

// listenBeside takes the port after another listener's, or any free one where that is taken or the other one was free, too.
func listenBeside(ctx context.Context, other net.Listener) (net.Listener, error) {
	host, port, err := net.SplitHostPort(other.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(number+1)))
	if err != nil {
		listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("listen for files: %w", err)
	}
	return listener, nil
}
