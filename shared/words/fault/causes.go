package fault

// Told is how a failure of a cause is told: to the client as an error, and to who looks after the
// integration as what to do.
type Told struct {
	Shown  *Error
	Action string
}

// Causes is the table of what something can fail of, by stable words. A package that has one gives each failure the
// same text, code and action wherever it happens, and asks about it by its word.
type Causes map[string]Told

// Failed makes the error of a cause that is in the table.
func (c Causes) Failed(cause string, because error) error {
	shown := c[cause].Shown.Because(because)
	shown.Cause = cause
	return shown
}
