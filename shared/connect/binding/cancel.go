package binding

import "recordbridge/shared/words/fault"

// Cancelled is the failure cause if the patient cancelled an attempt on the page that created the attempt.
const Cancelled = "cancelled"

// Cancellation returns the description of the failure Cancelled.
func Cancellation() fault.Description {
	return fault.Description{
		Shown:  fault.New(fault.Invalid, "access_denied", "The patient cancelled the sign-in. Nothing was shared."),
		Action: "No action needed. The patient can start again at any time.",
	}
}

// IsCancelled reports whether err means that the patient cancelled the attempt.
func IsCancelled(err error) bool { return fault.Of(err).Cause == Cancelled }
