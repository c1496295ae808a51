package tefca

import (
	"errors"

	"recordbridge/shared/words/fault"
)

// ClassOf returns a network error's class for a log line. This is the class of its cause (fault.ClassOf) or, failing
// that, of the wrapped tefca error.
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
