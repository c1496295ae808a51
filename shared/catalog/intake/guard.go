package intake

import (
	"context"
	"errors"

	"recordbridge/shared/catalog/listing"
)

// Guard is a reason for which a list waits for an operator's approval.
type Guard string

// The guards.
const (
	Shrunk     Guard = "shrunk"     // more than a fifth of the listings are gone
	Grew       Guard = "grew"       // more than ten times as many as were accepted
	Unreadable Guard = "unreadable" // more than a twentieth of its entries
	Lapsed     Guard = "lapsed"     // no listing in it
)

// guards are those that speak against a list; accepted is nil before the first.
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

// Reason says in one word why a source could not be read: a listing.Reason, a class of package
// safehttp, or one of these.
type Reason string

// The reasons that intake has of its own.
const (
	BadStatus Reason = "bad_status" // the server answered, but not with the list
	BadMove   Reason = "bad_move"   // it sent elsewhere too often, or to what is no https address
	Older     Reason = "older"      // than the one that is accepted, by its own timestamp
	OutOfTime Reason = "timeout"
	Unclear   Reason = "unclear" // none of ours, none of the server's
)

// reasonOf finds the reason of a failure that is the list's or its server's; ours is false for all others.
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
