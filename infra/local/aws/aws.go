// Package aws assembles the embedded AWS: it joins the services on one HTTP handler, identifies the call in a request,
// has its signature verified, runs the middleware around it, and writes the journal. It emulates no service itself;
// each service is a package beside this one, and they share package wire.
//
// The same Cloud serves a loopback port (ServeHTTP) and SDK clients in the same process (Do, Config). The latter opens
// no socket, so it works under the virtual clock of testing/synctest.
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
	// An IP address rather than a name makes the SDKs put S3 buckets into the path.
	defaultURL    = "http://127.0.0.1:4566"
	region        = "us-east-1"
	defaultSecret = "local"
)

// Options configures New. The zero value is an empty AWS in memory.
type Options struct {
	URL string // URL of the cloud, with which queue URLs start; "" is http://127.0.0.1:4566
	Dir string // folder of the journal and S3's objects; "" stores everything in memory
	// SecretKey belongs to every access key, so its holder may use any access key id. "" means "local", for tests; a cloud
	// that listens on a port needs a secret one.
	SecretKey  string
	Middleware []wire.Middleware // around every call; the first is outermost
	// Skew returns how far the cloud's clock, used for signatures and the Date header, is ahead of the clock of the caller
	// who signs. If Skew is nil, the clocks agree.
	Skew func(caller string) time.Duration
}

// Cloud is one AWS account in one region, us-east-1. It is safe for concurrent use.
type Cloud struct {
	url        string
	secretKey  string
	skew       func(caller string) time.Duration
	signatures *sigv4.Verifier
	journal    *journal.Log // nil if in memory
	services   map[string]wire.Service
	handlers   map[string]wire.Handler // the services behind the middleware

	dynamodb *ddb.Server
	s3       *s3.Server
	ses      *ses.Server
	sqs      *sqs.Server
}

// New builds the services and, if o.Dir is set, restores the state that an earlier Cloud stored there. If the directory
// is damaged or another process uses it, New returns an error with the remedy. Close the Cloud after use.
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
	for _, service := range []wire.Service{
		c.dynamodb, c.ses, c.sqs, buckets, kms.New(log), secrets.New(log),
		ssm.New(log),
	} {
		handler := wire.Handler(service.Serve)
		for _, around := range slices.Backward(o.Middleware) {
			handler = around(handler)
		}
		c.services[service.Name()], c.handlers[service.Name()] = service, handler
	}
	return c, nil
}

// Close closes the journal. If the Cloud has a directory, calls that change state fail from now on.
func (c *Cloud) Close() error {
	if c.journal == nil {
		return nil
	}
	return c.journal.Close()
}

// DynamoDB returns the tables, for the console and for the caller that removes expired rows.
func (c *Cloud) DynamoDB() *ddb.Server { return c.dynamodb }

// SES returns the mail service.
func (c *Cloud) SES() *ses.Server { return c.ses }

// SQS returns the queue service.
func (c *Cloud) SQS() *sqs.Server { return c.sqs }

// Config returns an SDK configuration whose clients reach this cloud without a socket. caller is their access key,
// which middleware sees as Call.Caller. The other settings are those of config.LoadDefaultConfig.
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

// dump emits the complete state of the services, for a start. Sorting them by name makes two dumps of one state equal.
func (c *Cloud) dump(emit func(service string, record any) error) error {
	for _, name := range slices.Sorted(maps.Keys(c.services)) {
		if err := c.services[name].Dump(func(record any) error { return emit(name, record) }); err != nil {
			return err
		}
	}
	return nil
}

// abandon closes what New opened and returns err.
func (c *Cloud) abandon(err error) error {
	_ = c.Close() // the caller needs the first error
	return err
}
