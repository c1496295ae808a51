package config

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
)

// The limits of an AWS call. They are for calls inside one region: an address that does not answer within them has
// gone, and a function that waits for it longer than this only loses the time to try another.
const (
	dialTimeout = time.Second
	tlsTimeout  = 2 * time.Second
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond
)

// AWS returns the configuration that every SDK client of a process is made from; call it once, so that they share
// their connections. Where the calls go is decided by the SDK's own variables alone (AWS_ENDPOINT_URL and so on).
func AWS(ctx context.Context) (aws.Config, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.TLSHandshakeTimeout = tlsTimeout })
	loaded, err := awsconfig.LoadDefaultConfig(ctx,
		awsconfig.WithHTTPClient(client), // wrapped only below: AWS_CA_BUNDLE needs one whose transport can be changed
		awsconfig.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = maxAttempts
				o.MaxBackoff = maxBackoff
			})
		}))
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	loaded.HTTPClient = plainBodies{loaded.HTTPClient}
	return loaded, nil
}

// plainBodies hides the io.WriterTo of request bodies from net/http. The SDK's body returns io.EOF from WriteTo once
// it is closed, where WriterTo has to return nil; net/http takes that for a failed upload and closes the connection
// while the answer is still being read. About one answer in a hundred of more than 4 KB was lost to it on a fast
// network ("use of closed network connection"), and a lost ReceiveMessage hides its messages for minutes.
type plainBodies struct {
	next aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.next.Do(r) //nolint:wrapcheck // the SDK reads the error's type to decide on a retry
}
