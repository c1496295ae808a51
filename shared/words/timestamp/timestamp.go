// Package timestamp formats times for API responses, pages and messages. Rows and event bodies have their own time
// formats, because they need a higher precision.
package timestamp

import (
	"fmt"
	"time"
)

// Of formats a time as RFC 3339 in UTC with a precision of one second (docs/openapi.yaml, date-time). It returns "" for
// the zero time, so that omitempty omits the field.
func Of(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// Parse parses a time in the format of RFC 3339, or returns the zero time if text is empty.
func Parse(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("parse timestamp: %w", err)
	}
	return at, nil
}
