package intake

import (
	"context"
	"errors"

	"recordbridge/shared/catalog/listing"
)

// Guard is a reason to hold a list until an operator approves it.
type Guard string

// Guards.
const (
	Shrunk     Guard = "shrunk"     // more than a fifth of the listings are gone
	Grew       Guard = "grew"       // the list has more than ten times as many listings as the accepted version
	Unreadable Guard = "unreadable" // more than a twentieth of the entries are unreadable
	Lapsed     Guard = "lapsed"     // no listings
)

// guards returns the guards that a list triggers. accepted is nil if the source has no accepted version.
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

// Reason identifies why a source could not be read. The value is a listing.Reason, an error class from package
// safehttp, or one of the values below.
type Reason string

// Reasons that package intake defines.
const (
	BadStatus Reason = "bad_status" // the server responded, but without the list
	BadMove   Reason = "bad_move"   // too many redirects, or a redirect to a URL that is not https
	Older     Reason = "older"      // the list's timestamp precedes the accepted version's
	OutOfTime Reason = "timeout"
	Unclear   Reason = "unclear" // a failure not attributed to the list or its server
)

// reasonOf returns the reason for a failure. theirs is true if the list or its server caused the failure.
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
