package webhookworker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"recordbridge/shared/safehttp"
	"recordbridge/shared/webhook"
)

const (
	// postTimeout is what a receiver gets to answer (decisions section 6).
	postTimeout = 30 * time.Second
	// keptBody is how much of an answer the delivery log shows.
	keptBody = 2 << 10
)

// Doer sends requests (safehttp.Client).
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Poster sends webhooks over HTTP. It follows no redirect: one is an answer like any other.
type Poster struct {
	Client Doer
}

// Post implements webhook.Poster.
func (p Poster) Post(ctx context.Context, url string, header map[string]string, body []byte) (webhook.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		// The address passed its check when it was registered; what no request can be made of is never reached.
		return webhook.Answer{Failure: webhook.FailedBlocked}, nil //nolint:nilerr // it is the receiver's failure, not ours
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := p.Client.Do(r)
	if err != nil {
		return webhook.Answer{Failure: failureOf(err)}, nil //nolint:nilerr // it is the receiver's failure, not ours
	}
	defer func() { _ = response.Body.Close() }()
	kept, err := io.ReadAll(io.LimitReader(response.Body, keptBody))
	if err != nil && ctx.Err() != nil {
		return webhook.Answer{Failure: webhook.FailedTimeout}, nil
	}
	return webhook.Answer{Status: response.StatusCode, Body: kept}, nil
}

func failureOf(err error) webhook.Failure {
	failed, ok := errors.AsType[*safehttp.Error](err)
	if !ok {
		return webhook.FailedConnect
	}
	switch failed.Class {
	case safehttp.BlockedAddress, safehttp.BadURL:
		return webhook.FailedBlocked
	case safehttp.DNS:
		return webhook.FailedDNS
	case safehttp.TLS:
		return webhook.FailedTLS
	case safehttp.Timeout, safehttp.Canceled:
		return webhook.FailedTimeout
	case safehttp.Connect, safehttp.BadAnswer, safehttp.TooLarge:
	}
	return webhook.FailedConnect
}
