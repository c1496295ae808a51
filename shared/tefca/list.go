package tefca

// ListError reports that a facility's list of documents is incomplete. The documents that could be listed are returned
// along with the error.
type ListError struct{ Lost []Loss }

// Loss describes list entries that are missing for the same reason.
type Loss struct {
	Err       error  // one of package tefca's errors
	Attribute string // IHE name of the faulty attribute, such as repositoryUniqueId; may be empty
	Count     int
}

// Error implements error. The message contains no IDs.
func (*ListError) Error() string { return "tefca: the list of documents is not complete" }

// Unwrap returns the error of each loss.
func (e *ListError) Unwrap() []error {
	all := make([]error, 0, len(e.Lost))
	for _, l := range e.Lost {
		all = append(all, l.Err)
	}
	return all
}

// Add counts one more missing entry with the given error and attribute.
func (e *ListError) Add(err error, attribute string) {
	for i := range e.Lost {
		if l := &e.Lost[i]; l.Attribute == attribute && l.Err == err { //nolint:errorlint // counts the very same
			l.Count++
			return
		}
	}
	e.Lost = append(e.Lost, Loss{Err: err, Attribute: attribute, Count: 1})
}
