// Package aws implements an embedded AWS server. A single HTTP handler serves all services. The handler identifies each
// call, verifies the signature, runs the middleware and writes the journal. Package aws doesn't emulate any service
// itself. Each service has its own package below this one, and all services share package wire.
//
// The same Cloud serves a loopback port (ServeHTTP) and SDK clients in the same process (Do, Config). Calls within the
// process don't open a socket, so they work under the virtual clock of testing/synctest.
package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/journal"
	"recordbridge/infra/local/aws/kms"
	"recordbridge/infra/local/aws/s3"
	"recordbridge/infra/local/aws/secrets"
	"recordbridge/infra/local/aws/ses"
	"recordbridge/infra/local/aws/sigv4"
	"recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/aws/ssm"
	"recordbridge/infra/local/aws/wire"
)

const (
	// Because the host is an IP address, SDKs put the S3 bucket in the path.
	defaultURL    = "http://127.0.0.1:4566"
	region        = "us-east-1"
	defaultSecret = "local"
)

// Options configures New. The zero value configures an empty in-memory AWS.
type Options struct {
	URL string // base URL of the cloud and its queues; "" means http://127.0.0.1:4566
	Dir string // directory for the journal and S3's objects; "" stores everything in memory
	// SecretKey is the secret key for every access key, so its holder may use any access key ID. If SecretKey is empty,
	// the secret key is "local", which is suitable only for tests. A cloud that listens on a port must have a secret
	// key that is kept confidential.
	SecretKey  string
	Middleware []wire.Middleware // middleware for every call, outermost first
	// Skew returns how far the cloud's clock is ahead of the signing caller's clock. The clock skew affects signatures
	// and the Date header. If Skew is nil, the clocks agree.
	Skew func(caller string) time.Duration
	// Services holds further services, such as the control plane of the runner that owns the cloud.
	Services []wire.Service
}

// Cloud is one AWS account in one region, us-east-1. A Cloud is safe for concurrent use.
type Cloud struct {
	url        string
	secretKey  string
	skew       func(caller string) time.Duration
	signatures *sigv4.Verifier
	journal    *journal.Log // journal of changes; nil if the cloud exists only in memory
	services   map[string]wire.Service
	handlers   map[string]wire.Handler // handlers by service name, wrapped in the middleware

	dynamodb *ddb.Server
	s3       *s3.Server
	ses      *ses.Server
	sqs      *sqs.Server
}

// New returns a Cloud. If o.Dir is set, New restores the state that an earlier Cloud stored there. If the directory is
// damaged or in use by another process, New returns an error that states the remedy. Close the Cloud after use.
func New(o Options) (*Cloud, error) {
	c, err := build(o)
	if err != nil || c.journal == nil {
		return c, err
	}
	if err := c.journal.Restore(c.replay, c.dump); err != nil {
		return nil, c.abandon(err)
	}
	return c, nil
}

// build returns a Cloud that has not read its journal yet.
func build(o Options) (*Cloud, error) {
	c := &Cloud{
		url: cmp.Or(o.URL, defaultURL), secretKey: cmp.Or(o.SecretKey, defaultSecret), skew: o.Skew,
		services: map[string]wire.Service{}, handlers: map[string]wire.Handler{},
	}
	c.signatures = sigv4.New(region, c.secretOf)
	var log wire.Journal = wire.Discard{}
	objects := ""
	if o.Dir != "" {
		var err error
		if c.journal, err = journal.Open(o.Dir); err != nil {
			return nil, err
		}
		log, objects = c.journal, filepath.Join(o.Dir, "s3")
	}
	buckets, err := s3.New(s3.Options{Dir: objects, Journal: log})
	if err != nil {
		return nil, c.abandon(err)
	}
	c.dynamodb, c.s3, c.ses, c.sqs = ddb.New(log), buckets, ses.New(log), sqs.New(c.url, log)
	for _, service := range append([]wire.Service{
		c.dynamodb, c.ses, c.sqs, buckets, kms.New(log), secrets.New(log), ssm.New(log),
	}, o.Services...) {
		handler := wire.Handler(service.Serve)
		for _, around := range slices.Backward(o.Middleware) {
			handler = around(handler)
		}
		c.services[service.Name()], c.handlers[service.Name()] = service, handler
	}
	return c, nil
}

// Close closes the journal. If the Cloud has a directory, any later call that changes state fails.
func (c *Cloud) Close() error {
	if c.journal == nil {
		return nil
	}
	return c.journal.Close()
}

// DynamoDB returns the DynamoDB service, so that the console can inspect it and callers can remove expired rows.
func (c *Cloud) DynamoDB() *ddb.Server { return c.dynamodb }

// SES returns the mail service.
func (c *Cloud) SES() *ses.Server { return c.ses }

// SQS returns the queue service.
func (c *Cloud) SQS() *sqs.Server { return c.sqs }

// Config returns an SDK configuration whose clients call this cloud without a socket. caller is the clients' access
// key, which middleware receives as Call.Caller. All other settings have the defaults of config.LoadDefaultConfig.
func (c *Cloud) Config(caller string) awssdk.Config {
	return awssdk.Config{
		Region:                     region,
		Credentials:                credentials.NewStaticCredentialsProvider(caller, c.secretKey, ""),
		HTTPClient:                 c,
		BaseEndpoint:               &c.url,
		RequestChecksumCalculation: awssdk.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: awssdk.ResponseChecksumValidationWhenSupported,
	}
}

func (c *Cloud) replay(name string, record json.RawMessage) error {
	service, ok := c.services[name]
	if !ok {
		return fmt.Errorf("no service %q", name)
	}
	return service.Replay(record)
}

// dump emits the complete state of all services for the next start, sorted by service name so that equal states produce
// equal dumps.
func (c *Cloud) dump(emit func(service string, record any) error) error {
	for _, name := range slices.Sorted(maps.Keys(c.services)) {
		if err := c.services[name].Dump(func(record any) error { return emit(name, record) }); err != nil {
			return err
		}
	}
	return nil
}

// abandon releases all resources that New has acquired and returns err.
func (c *Cloud) abandon(err error) error {
	_ = c.Close() // the caller needs only the first error
	return err
}
