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

// The limits of an AWS call. They are for calls inside one region: an address that does not answer within them has
// gone, and a function that waits for it longer than this only loses the time to try another.
const (
	dialTimeout = time.Second
	tlsTimeout  = 2 * time.Second
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond
)

// AWS returns the configuration that every SDK client of a function is made from; call it once, so that they share
// their connections. It reads what Lambda sets (region, credentials of the role) and AWS_ENDPOINT_URL with its siblings
// for one service, which alone decide where calls go (docs/adr/0009-environment-instead-of-the-sdks-loader.md). The
// SDK's own loader would also look for profiles, single sign-on and instance metadata, none of which is in a function,
// and links four more service clients: 1.2 to 1.5 MB.
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
		// The loader's defaults, which are not the zero values.
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	cfg.APIOptions = append(cfg.APIOptions, countRefusals)
	if env.Endpoint != "" {
		cfg.BaseEndpoint = aws.String(env.Endpoint)
	}
	return cfg, nil
}

// environment is what Lambda sets for every function, and where calls go instead of AWS.
type environment struct {
	Region       string `env:"AWS_REGION"`
	KeyID        string `env:"AWS_ACCESS_KEY_ID"`
	SecretKey    string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken string `env:"AWS_SESSION_TOKEN"`
	Endpoint     string `env:"AWS_ENDPOINT_URL"`
}

// serviceEndpoints answers each client that asks for an endpoint of its own: AWS_ENDPOINT_URL_S3,
// AWS_ENDPOINT_URL_SECRETS_MANAGER and so on (AWS SDKs and Tools Reference Guide, service-specific endpoints).
type serviceEndpoints struct{}

// GetServiceBaseEndpoint has the name that the SDK looks for in ConfigSources.
func (serviceEndpoints) GetServiceBaseEndpoint(_ context.Context,
	sdkID string,
) (endpoint string, found bool, err error) {
	//nolint:forbidigo // this package is the one reader
	endpoint = os.Getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(sdkID), " ", "_"))
	return endpoint, endpoint != "", nil
}

// wholeBody is the length up to which a request's body is copied, so that it leaves together with the headers.
const wholeBody = 64 << 10

// plainBodies replaces the SDK's request bodies, whose types net/http treats badly in two ways.
//
// The SDK's body returns io.EOF from WriteTo once it is closed, although WriterTo has to return nil; net/http takes
// that for a failed upload and closes the connection while the answer is still being read. About one answer in a
// hundred of more than 4 KB was lost to it on a fast network ("use of closed network connection"), and a lost
// ReceiveMessage hides its messages for minutes.
//
// Unless a body is known to be in memory, net/http sends the headers ahead of it: two writes, packets and TLS records
// for one call.
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

// inMemory returns r with a copy of its body, of a type that net/http knows to be in memory.
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
