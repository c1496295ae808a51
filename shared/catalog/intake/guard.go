package intake

// Guard is a reason for which a list waits for an operator's approval.
type Guard string

// The guards.
const (
	Shrunk     Guard = "shrunk"     // more than a fifth of the accepted listings are gone
	Grew       Guard = "grew"       // more than ten times as many as were accepted
	Unreadable Guard = "unreadable" // more than a twentieth of its entries
	Lapsed     Guard = "lapsed"     // nothing in it, where there was something
)

// Reason says in one word why a source could not be read: a listing.Reason, a class of safehttp, or one of these.
type Reason string

// The reasons that intake has of its own.
const (
	BadStatus  Reason = "bad_status" // the server answered, but not with the list
	BadMove    Reason = "bad_move"   // it sent elsewhere too often, or to what is no https address
	OlderThan  Reason = "older"      // than the one that is accepted, by its own timestamp
	OutOfTime  Reason = "out_of_time"
	NotRunning Reason = "off" // has no URL
)
