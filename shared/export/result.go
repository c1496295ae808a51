package export

import "time"

// Result is the outcome of an export step or of an entire run. The zero value means that the step is complete. A Result
// describes remote failures; internal failures are returned as errors.
type Result struct {
	Kind          Kind
	Reason        Reason        // for Retryable and Fatal: the failure reason if the task fails
	Wait          time.Duration // for Yield, Retryable and Outage: minimum wait before the next run
	Tried         int           // for Yield: number of attempts at the delayed request so far
	TokensRefused bool          // for Fatal: whether the tokens can no longer be used
	// for Yield, Retryable, Outage and Fatal: the cause to log, which may carry a fault.Spot
	Cause error
}

// outageWait is the wait after an AWS service failed. The wait doesn't grow, so that exports continue soon after the
// service has recovered.
const outageWait = time.Minute

// AfterOutage returns the result of a run that an AWS service's failure interrupted.
func AfterOutage(cause error) Result { return Result{Kind: Outage, Wait: outageWait, Cause: cause} }

// Kind classifies a Result.
type Kind int

// Kinds of Result.
const (
	Done       Kind = iota // the step is complete
	Save                   // save a checkpoint and continue in this run
	Yield                  // save a checkpoint and continue in a later run
	Retryable              // temporary failure: a later run restarts from the last checkpoint, up to a limit
	Outage                 // an AWS service failed (fault.Outage): save a checkpoint if possible, and try again later
	Fatal                  // the task fails
	Superseded             // another worker has taken over the task
)

// Stops reports whether the result ends the sequence of steps.
func (r Result) Stops() bool { return r.Kind != Done }

// Saves reports whether to save completed work in a checkpoint.
func (r Result) Saves() bool { return r.Kind == Save || r.Kind == Yield || r.Kind == Outage }
