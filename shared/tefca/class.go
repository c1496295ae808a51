package tefca

import (
	"errors"

	"recordbridge/shared/words/fault"
)

// ClassOf returns the class of a network error for a log line: its cause's class (fault.ClassOf), or else the wrapped
// tefca error's.
func ClassOf(err error) string {
	if class := fault.ClassOf(err); class != "" {
		return class
	}
	for _, of := range []struct {
		err   error
		class string
	}{
		{ErrIdentity, "identity"},
		{ErrRefused, "refused"},
		{ErrNotFound, "not_found"},
		{ErrTooLarge, "too_large"},
		{ErrOtherPerson, "other_person"},
		{ErrContent, "content"},
	} {
		if errors.Is(err, of.err) {
			return of.class
		}
	}
	return "unavailable"
}
