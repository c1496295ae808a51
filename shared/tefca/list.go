package tefca

// ListError reports entries missing from a facility's list of documents. The other documents are returned with it.
type ListError struct{ Lost []Loss }

// Loss counts entries missing from a list for one reason.
type Loss struct {
	Err       error  // one of this package's errors
	Attribute string // IHE name of the faulty attribute, such as repositoryUniqueId, or empty
	Count     int
}

// Error implements error. The text contains no ids.
func (*ListError) Error() string { return "tefca: the list of documents is not complete" }

// Unwrap returns the reasons.
func (e *ListError) Unwrap() []error {
	all := make([]error, 0, len(e.Lost))
	for _, l := range e.Lost {
		all = append(all, l.Err)
	}
	return all
}

// Add counts one more entry.
func (e *ListError) Add(err error, attribute string) {
	for i := range e.Lost {
		if l := &e.Lost[i]; l.Attribute == attribute && l.Err == err { //nolint:errorlint // counts the very same
			l.Count++
			return
		}
	}
	e.Lost = append(e.Lost, Loss{Err: err, Attribute: attribute, Count: 1})
}
