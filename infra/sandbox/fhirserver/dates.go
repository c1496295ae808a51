package fhirserver

import (
	"errors"
	"slices"
	"time"
)

var errBadDate = errors.New("a date must be YYYY, YYYY-MM, YYYY-MM-DD or an instant, after eq, ge, gt, le or lt")

// moment is the value of a date parameter: a comparison with a period as long as the date's precision
// (https://hl7.org/fhir/R4/search.html#date).
type moment struct {
	prefix      string
	start, past time.Time // past is the first instant after the period
}

// parseMoment parses a date value. If value has no comparison prefix, fallback is used.
func parseMoment(value, fallback string) (moment, error) {
	prefix := fallback
	if len(value) > 2 && slices.Contains([]string{"eq", "ge", "gt", "le", "lt"}, value[:2]) {
		prefix, value = value[:2], value[2:]
	}
	for _, precision := range []struct {
		layout              string
		years, months, days int
		rest                time.Duration
	}{
		{time.RFC3339Nano, 0, 0, 0, time.Second},
		{time.DateOnly, 0, 0, 1, 0},
		{"2006-01", 0, 1, 0, 0},
		{"2006", 1, 0, 0, 0},
	} {
		start, err := time.Parse(precision.layout, value)
		if err == nil {
			past := start.AddDate(precision.years, precision.months, precision.days).Add(precision.rest)

			return moment{prefix, start, past}, nil
		}
	}

	return moment{}, errBadDate
}

// holds reports whether updated satisfies the comparison. A resource without an update time always matches, so clients
// that request changes never miss it.
func (m moment) holds(updated time.Time) bool {
	if updated.IsZero() {
		return true
	}
	switch m.prefix {
	case "ge":
		return !updated.Before(m.start)
	case "gt":
		return !updated.Before(m.past)
	case "le":
		return updated.Before(m.past)
	case "lt":
		return updated.Before(m.start)
	default:
		return !updated.Before(m.start) && updated.Before(m.past)
	}
}
