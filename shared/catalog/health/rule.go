package health

import "time"

const (
	// degradedAfter probes that fail in a row an endpoint is degraded, whichever way they fail.
	degradedAfter = 2
	// downAfter such probes it is down, provided that the first of them is downWithin ago.
	downAfter  = 3
	downWithin = 30 * time.Minute
	// longestWait bounds what a server may ask us to wait.
	longestWait = 24 * time.Hour
	// tokenCause is the Cause of an endpoint whose discovery is well and whose token endpoint is not.
	tokenCause = "token_endpoint"
	// busyCause is that of a server that does not want to be asked.
	busyCause = "limited"
)

// After is the record once a probe has found something, at now. Observed is what connections have met since the first
// failure in a row, of the last hour at most. One failed probe is not down; what real connections are answered beats a
// probe that fails; down needs several failures over a time; a success recovers at once.
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

// failing is the state of an endpoint whose last probe failed.
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
