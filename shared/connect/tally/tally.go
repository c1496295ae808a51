// Package tally counts patients' sign-ins by outcome, in the metric SignIns. A sign-in starts when the browser is
// redirected to the portal or the identity provider, or when that step fails. It ends with a connection or a failure.
// Abandoned sign-ins have no outcome. Requests that an organisation got wrong, and callbacks that match no open
// sign-in, aren't sign-ins. In TEFCA mode, one attempt is one sign-in, however many facilities the patient chooses.
package tally

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// Count adds a sign-in with the given outcome to the metric, and the outcome to the log line. Count does nothing if
// outcome is "".
func Count(ctx context.Context, outcome Outcome) {
	if outcome != "" {
		logx.Add(ctx, slog.String("sign_in", string(outcome)))
		logx.Measure(ctx, metric.Count(metric.SignIns, string(outcome)))
	}
}

// NotStarted counts a sign-in that failed before the browser was redirected, both as started and as failed. It ignores
// errors that the request itself caused, such as an unknown public ID. Endpoints that start sign-ins pass it to
// httpapi.Endpoint.Reporting.
func NotStarted(ctx context.Context, err error) {
	outcome := outcomeOf(err)
	if errors.Is(err, fault.Invalid) || outcome == "" {
		return
	}
	Count(ctx, Begun)
	Count(ctx, outcome)
}

// Failed counts a started sign-in that ended with err, unless the patient cancelled it. A cancelled sign-in is counted
// when it is cancelled. The log line of the service's own failure also contains the cause, as ended.
func Failed(ctx context.Context, err error) {
	cause, outcome := fault.Of(err).Cause, outcomeOf(err)
	if cause == string(Cancelled) {
		return
	}
	if outcome == Service {
		logx.Add(ctx, slog.String("ended", cmp.Or(cause, string(Internal))))
	}
	Count(ctx, outcome)
}

// outcomeOf returns the outcome of a sign-in that failed with err. A cause without a constant is the service's failure,
// which alarms make visible. outcomeOf returns "" for a request that doesn't belong to an open sign-in.
func outcomeOf(err error) Outcome {
	shown := fault.Of(err)
	if shown.Cause != "" {
		return OutcomeOfCause(shown.Cause)
	}
	switch shown.Kind {
	case fault.Internal, fault.Unavailable, fault.NotFound: // a sign-in whose own row is missing
		return Service
	case fault.Conflict:
		if fault.IsStale(err) {
			return Service
		}
	case fault.Upstream:
		return Portal
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.MethodNotAllowed, fault.Gone, fault.TooLarge,
		fault.UnsupportedMedia, fault.Limited:
	}
	return ""
}

// OutcomeOfCause returns the outcome of a sign-in that failed for cause, which may be a TEFCA facility's reason.
func OutcomeOfCause(cause string) Outcome {
	outcome, known := Cause(cause).Outcome()
	if !known {
		return Service
	}
	return outcome
}
