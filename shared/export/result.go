package export

import "time"

// Result is how a step of an export, or a whole run of it, has ended. The zero value is a step that is done. It is
// about the other side: what fails on ours is an error.
type Result struct {
	Kind          Kind
	Reason        Reason        // of Retryable and Fatal: why the task fails, when it does
	Wait          time.Duration // of Yield and Retryable: for how long at least the task is left alone
	Tried         int           // of Yield: how often the request that has to wait was tried
	TokensRefused bool          // of Fatal: because the tokens are of no use any more
	// of Yield, Retryable and Fatal: what has happened, for the log; it may tell its fault.Spot
	Cause error
}

// Kind classes a Result.
type Kind int

// The kinds.
const (
	Done       Kind = iota // the next step can follow
	Save                   // save a checkpoint and go on in this run
	Yield                  // save a checkpoint and go on in a later run
	Retryable              // what may pass: a later run begins again at the last checkpoint, a few times
	Fatal                  // the task fails
	Superseded             // another worker has the task
)

// Stops reports whether no step can follow.
func (r Result) Stops() bool { return r.Kind != Done }

// Saves reports whether the work so far is to be kept in a checkpoint.
func (r Result) Saves() bool { return r.Kind == Save || r.Kind == Yield }
