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

// ask makes a call and reads its answer. It is made once more where that is safe: the three transactions only read, but
// a document on demand is made at each retrieval (IHE ITI TF-1, 10: On-Demand Documents), so that one is only repeated
// if it cannot have arrived. Errors wrap those of tefca, and say nothing of what was sent or came.
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

// try makes a call once; again tells that it may be made once more.
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
	request.GetBody = nil                 // net/http would send it again by itself
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

// repeats reports whether a call that brought no answer may be made again. One that ran into its time has none left.
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

// unsent is the error of an exchange that broke.
func unsent(ctx context.Context, err error) error {
	if failure, ok := errors.AsType[*safehttp.Error](err); ok && failure.Class == safehttp.TooLarge {
		return fmt.Errorf("ihe: %w: %w", err, tefca.ErrTooLarge)
	}
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return fmt.Errorf("ihe: %w: %w", cause, tefca.ErrUnavailable)
	}
	return fmt.Errorf("ihe: %w: %w", err, tefca.ErrUnavailable)
}

// judged is the error of an answer that is none, by the codes of SOAP and HTTP.
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

// content is the error of an answer that cannot be believed. Its cause is one of this package's own and quotes nothing.
func content(cause error) error { return fmt.Errorf("ihe: %w: %w", cause, tefca.ErrContent) }
