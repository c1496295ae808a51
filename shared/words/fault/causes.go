package fault

// Description describes a cause of failure: the error returned to the client, and the action that the integration's
// operator should take.
type Description struct {
	Shown  *Error
	Action string
}

// Causes maps causes of failure to their descriptions. Each cause has a stable identifier as its key. The map ensures
// that a cause has the same text, code and action in every report.
type Causes map[string]Description

// Failed returns the error described for cause, which must be a key of Causes. The parameter because becomes the
// error's private cause.
func (c Causes) Failed(cause string, because error) error {
	shown := c[cause].Shown.Because(because)
	shown.Cause = cause
	return shown
}
