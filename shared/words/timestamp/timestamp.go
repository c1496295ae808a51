// Package timestamp formats times for API responses, pages and messages. Rows and event bodies use a higher precision
// and format their own times.
package timestamp

import "time"

// Of formats a time as RFC 3339 in UTC, to the second (docs/openapi.yaml, date-time). The zero time gives an empty
// string, which omitempty omits.
func Of(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
