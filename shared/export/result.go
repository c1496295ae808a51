package export

import "time"

// Result is the outcome of a step or a complete run of an export. The zero value means that the step is done. It
// describes failures of the remote side; internal failures are errors.
type Result struct {
	Kind          Kind
	Reason        Reason        // for Retryable and Fatal: the reason if the task fails
	Wait          time.Duration // for Yield and Retryable: minimum wait before the task continues
	Tried         int           // for Yield: tries so far of the request that has to wait
	TokensRefused bool          // for Fatal: the tokens have become useless
	// for Yield, Retryable and Fatal: the cause, for the log; it may carry its fault.Spot
	Cause error
}

// Kind classifies a Result.
type Kind int

// The kinds of results.
const (
	Done       Kind = iota // the next step can follow
	Save                   // save a checkpoint and continue in this run
	Yield                  // save a checkpoint and continue in a later run
	Retryable              // temporary failure: a later run restarts from the last checkpoint, a few times
	Fatal                  // the task fails
	Superseded             // another worker holds the task
)

// Stops reports whether no step can follow.
func (r Result) Stops() bool { return r.Kind != Done }

// Saves reports whether the work so far is to be saved in a checkpoint.
func (r Result) Saves() bool { return r.Kind == Save || r.Kind == Yield }
