// Package timestamp formats times for API responses, pages and messages. Rows and event bodies have their own time
// formats, because they need a higher precision.
package timestamp

import "time"

// Of formats a time as RFC 3339 in UTC with a precision of one second (docs/openapi.yaml, date-time). It returns "" for
// the zero time, so that omitempty omits the field.
func Of(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
