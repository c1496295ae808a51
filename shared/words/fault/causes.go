package fault

// Description describes a cause of failure: the error returned to the client, and the action that the integration's
// operator should take.
type Description struct {
	Shown  *Error
	Action string
}

// Causes maps causes of failure, named by stable words, to their descriptions. It ensures that a cause has the same
// text, code and action wherever it is reported.
type Causes map[string]Description

// Failed returns the error described for cause, which must be in the table, with because as its private cause.
func (c Causes) Failed(cause string, because error) error {
	shown := c[cause].Shown.Because(because)
	shown.Cause = cause
	return shown
}
