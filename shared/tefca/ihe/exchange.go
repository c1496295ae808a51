package ihe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
)

// ask sends a call, retries the call once if a retry is safe, and returns the parsed response. A retrieval is retried
// only if the request can't have arrived, because each retrieval of an on-demand document creates a new document (IHE
// ITI TF-1, 10: On-Demand Documents). Errors wrap package tefca's errors and never quote the request or the response.
func (n *Network) ask(ctx context.Context, who tefca.Assertion, c call) (answer, error) {
	if err := n.usable(who); err != nil {
		return answer{}, err
	}
	got, again, err := n.try(ctx, who, c)
	if again && ctx.Err() == nil {
		got, _, err = n.try(ctx, who, c)
	}
	return got, err
}

// try sends a call once. again reports whether the call may be retried.
func (n *Network) try(ctx context.Context, who tefca.Assertion, c call) (got answer, again bool, err error) {
	message, err := n.seal(who, c)
	if err != nil {
		return answer{}, false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(message.content))
	if err != nil {
		return answer{}, false, fmt.Errorf("ihe: invalid URL: %w", tefca.ErrUnavailable)
	}
	request.Header.Set("Content-Type", message.media)
	request.GetBody = nil                 // prevents net/http from retrying the request
	response, err := n.client.Do(request) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return answer{}, repeats(c, err), unsent(ctx, err)
	}
	status := response.StatusCode
	content, err := safehttp.ReadAll(response, c.limit)
	if err != nil {
		return answer{}, repeats(c, err), unsent(ctx, err)
	}
	got, err = open(response.Header.Get("Content-Type"), content, message.id)
	if err == nil && status == http.StatusOK {
		return got, false, nil
	}
	busy := status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
	return answer{}, busy && c.repeatable, judged(status, err)
}

// repeats reports whether a call that received no response may be retried. A timeout leaves no time for a retry.
func repeats(c call, err error) bool {
	failure, ok := errors.AsType[*safehttp.Error](err)
	if !ok {
		return false
	}
	switch failure.Class {
	case safehttp.DNS, safehttp.Connect:
		return true
	case safehttp.BadAnswer:
		return c.repeatable
	case safehttp.BlockedAddress, safehttp.TLS, safehttp.Timeout, safehttp.BadURL, safehttp.TooLarge, safehttp.Canceled:
	}
	return false
}

// unsent returns the error for an exchange that failed.
func unsent(ctx context.Context, err error) error {
	if failure, ok := errors.AsType[*safehttp.Error](err); ok && failure.Class == safehttp.TooLarge {
		return fmt.Errorf("ihe: %w: %w", err, tefca.ErrTooLarge)
	}
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return fmt.Errorf("ihe: %w: %w", cause, tefca.ErrUnavailable)
	}
	return fmt.Errorf("ihe: %w: %w", err, tefca.ErrUnavailable)
}

// judged returns the error that corresponds to a SOAP fault or an HTTP error status.
func judged(status int, err error) error {
	if failure, ok := errors.AsType[fault](err); ok {
		switch {
		case failure.security:
			return fmt.Errorf("ihe: %w: %w", failure, tefca.ErrIdentity)
		case failure.sender:
			return fmt.Errorf("ihe: %w: %w", failure, tefca.ErrRefused)
		}
		return fmt.Errorf("ihe: %w: %w", failure, tefca.ErrUnavailable)
	}
	switch {
	case status == http.StatusOK:
		return content(err)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("ihe: status %d: %w", status, tefca.ErrIdentity)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return fmt.Errorf("ihe: status %d: %w", status, tefca.ErrUnavailable)
	}
	return fmt.Errorf("ihe: status %d: %w", status, tefca.ErrRefused)
}

// content returns the error for an untrusted response. cause must be one of this package's errors, which never quote
// the response.
func content(cause error) error { return fmt.Errorf("ihe: %w: %w", cause, tefca.ErrContent) }
