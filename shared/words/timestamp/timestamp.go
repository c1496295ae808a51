// Package timestamp formats times for API responses, pages and messages. Rows and event bodies use a higher precision
// and therefore have their own formats.
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
