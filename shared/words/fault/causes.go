package fault

// Description describes a failure cause: the error that the client gets, and the action for the operator of the
// integration.
type Description struct {
	Shown  *Error
	Action string
}

// Causes maps failure causes, as stable words, to their descriptions. A package that has one gives each failure the
// same text, code and action everywhere, and looks it up by its word.
type Causes map[string]Description

// Failed returns the error of a cause that is in the table.
func (c Causes) Failed(cause string, because error) error {
	shown := c[cause].Shown.Because(because)
	shown.Cause = cause
	return shown
}
