// Package awscall sends signed requests to AWS services without the services' SDK clients. An SDK client links all
// operations of its service, which adds more than a megabyte to a function that needs only one operation
// (docs/adr/0017-one-operation-without-its-client.md). The package determines the URL, signs requests and retries
// calls. Callers encode requests and decode responses.
package awscall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"recordbridge/shared/platform/config/awsfault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// attemptTimeout limits the duration of each attempt, including reading the response.
	attemptTimeout = 20 * time.Second
	maxAnswer      = 1 << 20 // in bytes
)

// Call describes one operation of a service.
type Call struct {
	Service   string // signing name and first label of the host name, such as "ssm"
	SDKID     string // the SDK's ID of the service, such as "Secrets Manager", for endpoints, metrics and log lines
	Operation string // name of the operation, for errors and log lines
	Method    string // HTTP method; the default is POST
	Path      string // path and query below the service's endpoint, without a leading slash
	Header    map[string]string
	Body      string
	// Read processes a response. If Read returns a RefusedError, the configuration's retryer decides whether to retry
	// the call.
	Read func(status int, answer []byte) error
}

// RefusedError is an error response from a service. It implements the methods that the SDK's retryers expect.
type RefusedError struct {
	Status        int
	Code, Message string // sent by the service; empty if another server responded
}

func (r *RefusedError) Error() string {
	if r.Code == "" {
		return fmt.Sprintf("status %d, and not the service's response", r.Status)
	}
	return r.Code + ": " + r.Message
}

// ErrorCode returns the service's error code.
func (r *RefusedError) ErrorCode() string { return r.Code }

// HTTPStatusCode returns the HTTP status of the response.
func (r *RefusedError) HTTPStatusCode() int { return r.Status }

// Do sends a call, retrying it as the configuration's retryer determines. Without a retryer, Do never retries. The now
// function returns the signing time. As with SDK clients, failed attempts are counted, and the error names the service
// and the operation if the service failed (fault.Outage).
func Do(ctx context.Context, cfg aws.Config, now func() time.Time, call Call) error {
	var attempts aws.Retryer = aws.NopRetryer{}
	if cfg.Retryer != nil {
		attempts = cfg.Retryer()
	}
	for attempt := 1; ; attempt++ {
		err := once(ctx, cfg, now(), call)
		if name, ok := awsfault.Metric(ctx, err); ok {
			logx.Measure(ctx, metric.Count(name, call.SDKID))
		}
		if at, ok := awsfault.Spot(ctx, call.SDKID, call.Operation, err); ok {
			err = at.Failed(err)
		}
		if err == nil || attempt >= attempts.MaxAttempts() || !attempts.IsErrorRetryable(err) {
			return err
		}
		delay, noDelay := attempts.RetryDelay(attempt, err)
		if noDelay != nil || smithytime.SleepWithContext(ctx, delay) != nil {
			return err
		}
	}
}

func once(ctx context.Context, cfg aws.Config, now time.Time, call Call) error {
	limited, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	request, err := signed(limited, cfg, now, call)
	if err != nil {
		return fmt.Errorf("call of %s: %w", call.Service, err)
	}
	client := cfg.HTTPClient
	if client == nil {
		client = awshttp.NewBuildableClient()
	}
	response, err := client.Do(request)
	if err != nil {
		return unsent(ctx, call, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return unsent(ctx, call, err)
	}
	return call.Read(response.StatusCode, answer)
}

func signed(ctx context.Context, cfg aws.Config, now time.Time, call Call) (*http.Request, error) {
	address, err := addressOf(ctx, cfg, call)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(call.Method, http.MethodPost), address+call.Path,
		strings.NewReader(call.Body))
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	for name, value := range call.Header {
		request.Header.Set(name, value)
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256([]byte(call.Body))
	if err = v4.NewSigner().SignHTTP(ctx, keys, request, hex.EncodeToString(sum[:]), call.Service, cfg.Region,
		now); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return request, nil
}

// addressOf returns the URL that the service's SDK client would call.
func addressOf(ctx context.Context, cfg aws.Config, call Call) (string, error) {
	for _, source := range cfg.ConfigSources {
		own, ok := source.(interface {
			GetServiceBaseEndpoint(ctx context.Context, sdkID string) (string, bool, error)
		})
		if !ok {
			continue
		}
		if address, found, err := own.GetServiceBaseEndpoint(ctx, call.SDKID); err != nil || found {
			return strings.TrimRight(address, "/") + "/", err
		}
	}
	if cfg.BaseEndpoint != nil {
		return strings.TrimRight(*cfg.BaseEndpoint, "/") + "/", nil
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://" + call.Service + "." + cfg.Region + "." + domain + "/", nil
}

// unsent wraps the error of a call that received no response. It uses the same error types as the SDK, because the
// SDK's retryers check for those types.
func unsent(ctx context.Context, call Call, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call of %s: %w", call.Service, &smithy.CanceledError{Err: err})
	}
	return fmt.Errorf("call of %s: %w", call.Service, &smithyhttp.RequestSendError{Err: err})
}
