// Package timestamp writes times for API responses, pages and messages. Rows and the bodies of events keep more digits,
// and write times themselves.
package timestamp

import "time"

// Of returns a time as RFC 3339 in UTC, to the second (docs/openapi.yaml, date-time). The zero time is empty, which
// omitempty leaves out.
func Of(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
