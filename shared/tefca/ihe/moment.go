package ihe

import "time"

// moment parses an HL7 v2 or ISO 8601 time that is precise to at least a day. A time without a zone is in UTC (IHE ITI
// TF-3, table 4.2.3.1.7-2). It returns the zero time for any other text.
func moment(text string) time.Time {
	for _, layout := range []string{
		"20060102150405", "20060102150405Z0700", "200601021504", "200601021504Z0700", "20060102",
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
		time.DateOnly,
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// day returns the date of an HL7 v3 or ISO 8601 time as YYYY-MM-DD. It returns "" if the time is less precise than a
// day.
func day(text string) string {
	if len(text) >= len(time.DateOnly) && text[4] == '-' && text[7] == '-' {
		text = text[:4] + text[5:7] + text[8:10]
	}
	at, err := time.Parse("20060102", text[:min(len(text), len("YYYYMMDD"))])
	if err != nil {
		return ""
	}
	return at.Format(time.DateOnly)
}
