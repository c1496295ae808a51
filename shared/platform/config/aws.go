package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Timeouts for AWS calls within one region. If an IP address does not respond within its timeout, waiting longer would
// only delay a retry with another address.
const (
	dialTimeout = time.Second
	tlsTimeout  = 2 * time.Second
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond
)

// AWS returns the configuration for all of a function's SDK clients. Call AWS only once, so that the clients share
// connections. AWS reads the region and credentials from the variables that Lambda sets. Only AWS_ENDPOINT_URL and its
// per-service variants can replace the default endpoints (docs/adr/0009-environment-instead-of-the-sdks-loader.md). The
// SDK's own loader would also look for profiles, single sign-on and instance metadata, which don't exist in a Lambda
// function. The loader also links four additional service clients, which would add 1.2 to 1.5 MB to a function.
func AWS() (aws.Config, error) {
	env, err := Load[environment]()
	if err != nil {
		return aws.Config{}, fmt.Errorf("read the AWS environment: %w", err)
	}
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.TLSHandshakeTimeout = tlsTimeout })
	cfg := aws.Config{
		Region:        env.Region,
		Credentials:   credentials.NewStaticCredentialsProvider(env.KeyID, env.SecretKey, env.SessionToken),
		HTTPClient:    plainBodies{client},
		ConfigSources: []any{serviceEndpoints{}},
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = maxAttempts
				o.MaxBackoff = maxBackoff
			})
		},
		// The zero values of these fields differ from the defaults of the SDK's loader.
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	cfg.APIOptions = append(cfg.APIOptions, countRefusals, locateOutages)
	if env.Endpoint != "" {
		cfg.BaseEndpoint = aws.String(env.Endpoint)
	}
	return cfg, nil
}

// environment holds the variables that Lambda sets for every function, and the variables that override AWS's endpoints.
type environment struct {
	Region       string `env:"AWS_REGION"`
	KeyID        string `env:"AWS_ACCESS_KEY_ID"`
	SecretKey    string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken string `env:"AWS_SESSION_TOKEN"`
	Endpoint     string `env:"AWS_ENDPOINT_URL"`
}

// serviceEndpoints returns service-specific endpoints from variables such as AWS_ENDPOINT_URL_S3 and
// AWS_ENDPOINT_URL_SECRETS_MANAGER (AWS SDKs and Tools Reference Guide, service-specific endpoints).
type serviceEndpoints struct{}

// GetServiceBaseEndpoint implements the interface that the SDK expects of ConfigSources.
func (serviceEndpoints) GetServiceBaseEndpoint(_ context.Context,
	sdkID string,
) (endpoint string, found bool, err error) {
	//nolint:forbidigo // this package is the one reader
	endpoint = os.Getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(sdkID), " ", "_"))
	return endpoint, endpoint != "", nil
}

// wholeBody is the maximum length, in bytes, of a request body that is copied into memory. Bodies in memory are sent
// together with the headers.
const wholeBody = 64 << 10

// plainBodies replaces the SDK's request bodies, which cause two problems with net/http.
//
// After the SDK's body is closed, its WriteTo method returns io.EOF, although an io.WriterTo must return nil. net/http
// treats io.EOF as a failed upload and closes the connection while the response is still being read. On a fast network,
// about one in a hundred responses larger than 4 KB was lost ("use of closed network connection"). A lost
// ReceiveMessage response hides its messages for minutes.
//
// If net/http can't determine that a body is in memory, it sends the headers separately from the body. Sending the
// headers separately doubles a call's writes, packets and TLS records.
type plainBodies struct {
	next aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
		if r.ContentLength > 0 && r.ContentLength <= wholeBody {
			var err error
			if r, err = inMemory(r); err != nil {
				return nil, err
			}
		}
	}
	return c.next.Do(r) //nolint:wrapcheck // the SDK reads the error's type to decide on a retry
}

// inMemory returns r with a copy of its body in memory. The copy has a type that lets net/http detect that the body is
// in memory.
func inMemory(r *http.Request) (*http.Request, error) {
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the body of a request: %w", err)
	}
	r = r.WithContext(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}
