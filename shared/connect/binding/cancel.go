package binding

import "recordbridge/shared/words/fault"

// Cancelled is the failure cause of an attempt that the patient cancelled on the page that created it.
const Cancelled = "cancelled"

// Cancellation returns the description of a Cancelled failure.
func Cancellation() fault.Description {
	return fault.Description{
		Shown:  fault.New(fault.Invalid, "access_denied", "The patient cancelled the sign-in. Nothing was shared."),
		Action: "No action needed. The patient can start again at any time.",
	}
}

// IsCancelled reports whether err means that the patient cancelled the attempt.
func IsCancelled(err error) bool { return fault.Of(err).Cause == Cancelled }
