package intake

import (
	"context"
	"errors"

	"recordbridge/shared/catalog/listing"
)

// Guard is the reason why a list waits for an operator's approval.
type Guard string

// The guards.
const (
	Shrunk     Guard = "shrunk"     // more than a fifth of the listings are gone
	Grew       Guard = "grew"       // more than ten times as many as accepted
	Unreadable Guard = "unreadable" // more than a twentieth of its entries are unreadable
	Lapsed     Guard = "lapsed"     // it contains no listing
)

// guards returns the guards that a list violates. accepted is nil before the first version.
func guards(read *listing.Report, kept int, accepted *Version) []Guard {
	var speak []Guard
	if kept == 0 {
		speak = append(speak, Lapsed)
	}
	if accepted != nil {
		before := accepted.Diff.After
		if kept*5 < before*4 {
			speak = append(speak, Shrunk)
		}
		if kept > before*10 {
			speak = append(speak, Grew)
		}
	}
	if read.Unreadable()*20 > read.Entries {
		speak = append(speak, Unreadable)
	}
	return speak
}

// Reason names why a source could not be read: a listing.Reason, a class of package safehttp, or one of these.
type Reason string

// The reasons that intake defines.
const (
	BadStatus Reason = "bad_status" // the server responded, but not with the list
	BadMove   Reason = "bad_move"   // too many redirects, or one to a URL that is not https
	Older     Reason = "older"      // older than the accepted one, by its own timestamp
	OutOfTime Reason = "timeout"
	Unclear   Reason = "unclear" // neither ours nor the server's
)

// reasonOf finds the reason of a failure that the list or its server caused. theirs is false for all other failures.
func reasonOf(err error) (reason Reason, theirs bool) {
	if failure, ok := errors.AsType[*listing.Refused](err); ok {
		return Reason(failure.Reason), true
	}
	if failure, ok := errors.AsType[interface {
		error
		Failure() (class string, status int)
	}](err); ok {
		class, _ := failure.Failure()
		return Reason(class), true
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return OutOfTime, true
	}
	return Unclear, false
}
