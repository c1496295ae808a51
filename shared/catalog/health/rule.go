package health

import "time"

const (
	// degradedAfter is the number of consecutive failed probes after which an endpoint is degraded, regardless of the
	// cause.
	degradedAfter = 2
	// downAfter is the number of consecutive failed probes after which an endpoint is down, provided that the first was
	// at least downWithin ago.
	downAfter  = 3
	downWithin = 30 * time.Minute
	// longestWait caps the delay that a server can request.
	longestWait = 24 * time.Hour
	// tokenCause is the Cause for an endpoint whose discovery works but whose token endpoint fails.
	tokenCause = "token_endpoint"
	// busyCause is the Cause for a server that rate-limits probes.
	busyCause = "limited"
)

// After returns the record that results from a probe at time now. o covers connections since the first consecutive
// failure, but at most the last hour. A single failed probe never makes an endpoint Down; that state requires several
// failures over a period. An endpoint whose probes fail is not Down if it has answered connections' token requests. A
// single successful probe restores the endpoint immediately, unless its token endpoint fails.
func (r Record) After(f Finding, o Observed, now time.Time) Record {
	next := r
	next.State = r.state()
	if f.Busy {
		next.Cause = busyCause
		next.NextAt = now.Add(max(retryAfter(r.EndpointID, r.Failures+1), bounded(f.Wait)))
		return next
	}
	next.CheckedAt, next.Cause = now, f.Cause
	if f.Cause == "" {
		next.Failures, next.FailingAt, next.Token = 0, time.Time{}, f.Token
		next.NextAt = nextDaily(r.EndpointID, now)
		next.State = OK
		if o.Failing && o.Answered == 0 {
			next.State, next.Cause = Degraded, tokenCause
		}
	} else {
		if r.Failures == 0 {
			next.FailingAt = now
		}
		next.Failures++
		next.NextAt = now.Add(max(retryAfter(r.EndpointID, next.Failures), bounded(f.Wait)))
		next.State = next.failing(o, now)
	}
	if next.State != r.state() || r.Since.IsZero() {
		next.Since = now
	}
	return next
}

// failing returns the state of an endpoint whose last probe failed.
func (r Record) failing(o Observed, now time.Time) State {
	switch {
	case o.Answered > 0 && r.State == Down:
		return Degraded
	case r.Failures >= downAfter && now.Sub(r.FailingAt) >= downWithin && o.Answered == 0:
		return Down
	case r.Failures >= degradedAfter && r.State != Down:
		return Degraded
	}
	return r.State
}

func (r Record) state() State {
	if r.State == "" {
		return Unknown
	}
	return r.State
}

func bounded(wait time.Duration) time.Duration { return min(max(wait, 0), longestWait) }
