package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"recordbridge/infra/deploy/revision"
	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/control"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/filehost"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/inbox"
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
	returnPath  = "/_local/return"
	stopTime    = 3 * time.Second
	expireEvery = time.Minute

	// consoleCaller is the access key ID with which the console and its user make calls.
	consoleCaller = "console"
	// operatorCaller is the access key ID of the operator's CLI.
	operatorCaller = "operator"
)

type stack struct {
	log       *slog.Logger
	where     place
	url       string // URL of the embedded AWS, http://<address>
	public    string // URL of the embedded AWS that also works inside containers
	objects   string // S3 endpoint for functions, as host:port
	filesURL  string // S3 endpoint URL for clients
	customer  string // URL of the simulated customer server with the webhook inbox and the patients' return page
	template  *template.Template
	cloud     *aws.Cloud
	authority *iam.Authority
	functions functions
	triggers  *triggers.Triggers
	control   *control.Lambda
	inbox     *inbox.Inbox
	timeline  *timeline.Recorder
	byHand    *faults.ByHand
	run       runfile.Run
	runFile   string

	servers    []*http.Server
	stop       context.CancelFunc // stops the background work
	background sync.WaitGroup
}

// start starts the service with options o. On success, the caller must close the stack.
func start(ctx context.Context, o options, where place, log *slog.Logger, output *lines) (*stack, error) {
	at, err := listenAll(ctx, o.address, where)
	if err != nil {
		return nil, err
	}
	address := at.service.Addr().String()
	s := &stack{
		log: log, where: where, url: "http://" + address, public: "http://" + where.public(address),
		objects:  where.inside(at.objects.Addr().String()),
		customer: "http://" + where.public(at.receiver.Addr().String()),
		inbox:    inbox.New(inboxPath), timeline: timeline.New(time.Now), byHand: faults.NewByHand(), runFile: o.runFile,
	}
	var handler http.Handler
	// listenBeside always returns a TCP listener
	s.filesURL = filehost.URL(ctx, net.DefaultResolver.LookupNetIP, at.objects.Addr().(*net.TCPAddr).AddrPort())
	if err = s.prepare(ctx, o, where.inside(address), output); err == nil {
		handler, err = s.handler()
	}
	if err != nil {
		s.close(ctx)
		return nil, errors.Join(err, at.close())
	}
	// Background work doesn't stop when ctx is done, because close shuts down the parts in order.
	var background context.Context
	background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.serve(background, at.service, handler)
	s.serve(background, at.objects, s.files())
	s.serve(background, at.receiver, s.receiver(handler))
	if at.inside != nil {
		s.serve(background, at.inside, forContainers(handler))
		s.serve(background, at.objectsInside, s.files())
		s.serve(background, at.receiverInside, s.receiver(handler))
	}
	s.background.Go(func() { s.triggers.Run(background) })
	s.background.Go(func() { s.expire(background) })
	return s, nil
}

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

// prepare creates everything that the handler needs. address is the network address at which functions reach the
// handler.
func (s *stack) prepare(ctx context.Context, o options, address string, output *lines) error {
	built, err := revision.Of(ctx, ".")
	if err != nil {
		return err
	}
	parameters, err := o.templateParameters(s.public+"/v1", named(s.public)+"/v1/dashboard",
		s.filesURL+" http://"+s.objects, built.Name(time.Now()), s.where.host())
	if err != nil {
		return err
	}
	s.template, err = template.Load("template.yaml",
		template.Options{Parameters: parameters, BaseURL: s.url, StackName: stackName})
	if err != nil {
		return err
	}
	s.run = runfile.Run{
		Stack: s.where.name(), Release: parameters["Release"],
		BaseURL: s.public + "/" + s.template.API.Stage, DashboardURL: parameters["DashboardUrl"],
		ConsoleURL: s.public + "/_local", InboxURL: s.customer + inboxPath,
		AWS: runfile.AWS{
			// The secret changes with every start, so web pages and other local users can't sign requests.
			EndpointURL: s.url, Region: region, AccessKeyID: operatorCaller, SecretAccessKey: rand.Text(),
			Outputs: s.template.Outputs,
		},
	}
	if s.cloud, err = s.newCloud(o); err != nil {
		return err
	}
	if err = provision.Apply(ctx, s.cloud.Config("provision"), s.template); err != nil {
		return err
	}
	if s.functions, err = s.startFunctions(ctx, address, output); err != nil {
		return err
	}
	s.triggers = newTriggers(s.template, s.cloud, s.functions, s.log)
	s.control.Mappings = s.triggers
	if code, ok := s.functions.(control.Code); ok {
		bootstraps := map[string]string{}
		for _, f := range s.template.Functions {
			bootstraps[f.LogicalID] = filepath.Join(s.where.binaries, f.Folder, "bootstrap")
		}
		s.control.Versions = control.NewVersions(filepath.Join(filepath.Dir(o.runFile), "versions"), code, bootstraps)
	}
	return nil
}

// newCloud returns an embedded AWS that enforces every function's policy statements. The timeline is the outermost
// middleware, so that it shows how the other middleware affects a call.
func (s *stack) newCloud(o options) (*aws.Cloud, error) {
	var err error
	if s.authority, err = iam.New(s.template); err != nil {
		return nil, err
	}
	s.control = &control.Lambda{Stack: stackName}
	configuration := aws.Options{
		URL: s.url, Dir: o.data, SecretKey: s.run.AWS.SecretAccessKey,
		Services:   []wire.Service{s.control, &control.CloudFormation{Stack: s.described()}},
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

// close shuts down every part of the stack, even after ctx is done. The shutdown order ensures that no component waits
// for one that has already stopped.
func (s *stack) close(ctx context.Context) {
	if s.stop != nil {
		s.stop()
	}
	if s.functions != nil {
		s.functions.Close(ctx) // also ends the functions' long polls, which would otherwise delay the server's shutdown
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, server := range s.servers {
		if err := server.Shutdown(limited); err != nil {
			_ = server.Close() // aborts the remaining requests
		}
	}
	s.background.Wait()
	if s.cloud != nil {
		if err := s.cloud.Close(); err != nil {
			s.log.ErrorContext(ctx, "data not closed", slog.Any("error", err))
		}
	}
}

// expire periodically removes rows whose time to live has passed, as DynamoDB does.
func (s *stack) expire(ctx context.Context) {
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for now := time.Now(); ; { // expires rows immediately, because the data may be older than this process
		s.cloud.DynamoDB().Expire(now)
		select {
		case <-ctx.Done():
			return
		case now = <-ticker.C:
		}
	}
}
