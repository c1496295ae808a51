package ihe

import "time"

// moment reads a time of HL7 v2, to the day or finer, or of ISO 8601, which some gateways write. Without a zone it is UTC (IHE ITI TF-3, table
// 4.2.3.1.7-2). It is zero if it cannot be read.
func moment(text string) time.Time {
	for _, layout := range []string{
		"20060102150405", "20060102150405Z0700", "200601021504", "200601021504Z0700", "20060102",
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", time.DateOnly,
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// day is the date of a time of HL7 v3, or of ISO 8601, as it stands there (YYYY-MM-DD); empty if it is not to the day.
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
