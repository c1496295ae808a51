package webhookworker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
)

const (
	// postTimeout limits how long a receiver may take to respond (docs/reference/deviations.md, Webhooks).
	postTimeout = 30 * time.Second
	// keptBody is the maximum number of bytes of a response that the delivery log stores.
	keptBody = 2 << 10
	// keptHeaders, keptName and keptValue limit the response headers that the delivery log stores.
	keptHeaders = 40
	keptName    = 64
	keptValue   = 256
)

// Doer sends requests; safehttp.Client implements it.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Poster posts webhooks over HTTP. It doesn't follow redirects.
type Poster struct {
	Client Doer
}

// Post implements webhook.Poster. Post returns an error only if ctx has ended. The receiver may have received the
// request even if Post returns an error.
func (p Poster) Post(ctx context.Context, url string, header map[string]string, body []byte) (webhook.Answer, error) {
	stop := lambdarun.Waits(ctx)
	answer := p.post(ctx, url, header, body)
	stop()
	if answer.Failure != "" && ctx.Err() != nil {
		return webhook.Answer{}, fmt.Errorf("the worker's time has ended: %w", ctx.Err())
	}
	return answer, nil
}

func (p Poster) post(ctx context.Context, url string, header map[string]string, body []byte) webhook.Answer {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		// The URL was valid when it was registered. If the URL is no longer valid, the delivery counts as blocked.
		return webhook.Answer{Failure: webhook.FailedBlocked}
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := p.Client.Do(r)
	if err != nil {
		return webhook.Answer{Failure: failureOf(err)}
	}
	defer func() { _ = response.Body.Close() }()
	kept, err := io.ReadAll(io.LimitReader(response.Body, keptBody))
	if err != nil && ctx.Err() != nil {
		return webhook.Answer{Failure: webhook.FailedTimeout}
	}
	return webhook.Answer{
		Status: response.StatusCode, Body: kept, Header: shownHeader(response.Header),
		RetryAfter: response.Header.Get("Retry-After"), Control: response.Header.Get("Webhook-Delivery"),
	}
}

// shownHeader returns the response headers to store in the delivery log: the alphabetically first ones, excluding
// cookies, with long values truncated.
func shownHeader(header http.Header) map[string]string {
	shown := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if len(shown) == keptHeaders {
			break
		}
		value := strings.Join(header[name], ", ")
		if name == "Set-Cookie" || len(name) > keptName {
			continue
		}
		// Truncating a value in the middle of a character leaves invalid UTF-8.
		shown[name] = strings.ToValidUTF8(value[:min(len(value), keptValue)], "")
	}
	if len(shown) == 0 {
		return nil
	}
	return shown
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
