package cda

import (
	"strings"
	"time"
)

// Stamp holds the parts of a TS: the digits at the stated precision, the fraction and the zone.
type Stamp struct {
	Digits string // YYYYMMDDhhmmss, possibly truncated; an even number of digits, at least 4
	Frac   string // fraction of a second, including the decimal point
	Zone   string // ±hh:mm or Z; may be empty
}

// IsPlaceholder reports whether a value represents an unknown time. Placeholders are dates that senders' software uses
// as its minimum, maximum or epoch: days without clinical events on which no living patient was born
// (docs/reference/ccda.md, "Placeholders").
func IsPlaceholder(value string) bool {
	digits := strings.ReplaceAll(strings.TrimSpace(value), "-", "")
	if len(digits) < len("2006") {
		return false
	}
	switch digits[:4] {
	case "0001", "9999":
		return true
	}
	return len(digits) >= len("20060102") && IsOneOf(digits[:8],
		"16010101", "17530101", "18401231", "18991230", "18991231", "19000101")
}

// ReadStamp parses a TS (HL7 V3 data types, 2.24) or the ISO 8601 time that some senders write instead. ok is false if
// the time is invalid or a placeholder.
func ReadStamp(value string) (s Stamp, ok bool) {
	value = strings.TrimSpace(value)
	if len(value) >= 7 && value[4] == '-' { // In ISO 8601, the first two hyphens don't begin a zone.
		date, rest := value, ""
		if len(value) > 10 {
			date, rest = value[:10], strings.TrimLeft(value[10:], "T ")
		}
		value = strings.ReplaceAll(date, "-", "") + rest
	}
	value = strings.ReplaceAll(value, ":", "")
	end := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(value)
	}
	s.Digits = value[:min(end, 14)]
	rest := value[end:]
	if strings.HasPrefix(rest, ".") {
		end = strings.IndexAny(rest, "+-Z")
		if end < 0 {
			end = len(rest)
		}
		s.Frac, rest = rest[:end], rest[end:]
	}
	if len(s.Digits)%2 == 1 { // A final odd digit has no meaning.
		s.Digits = s.Digits[:len(s.Digits)-1]
	}
	s.Zone, ok = readZone(strings.TrimSpace(rest))
	if !ok || len(s.Frac) == 1 || strings.Trim(s.Frac, ".0123456789") != "" {
		s.Frac = ""
	}
	for len(s.Digits) > 4 && !s.exists() { // such as 20130230 or 20130000, whose leading digits are valid
		s.Digits = s.Digits[:len(s.Digits)-2]
	}
	return s, s.exists() && !IsPlaceholder(s.Digits)
}

// readZone parses a zone in the form ±hhmm, ±hh or Z.
func readZone(text string) (zone string, ok bool) {
	switch {
	case text == "" || text == "Z":
		return text, true
	case text[0] != '+' && text[0] != '-' || strings.Trim(text[1:], "0123456789") != "":
		return "", false
	case len(text) == 3:
		text += "00"
	}
	if len(text) != 5 || text[1:3] > "14" || text[3:] > "59" || text[1:3] == "14" && text[3:] != "00" {
		return "", false
	}
	return text[:3] + ":" + text[3:], true
}

func (s Stamp) exists() bool {
	if len(s.Digits) < 4 || s.Digits[:4] == "0000" {
		return false
	}
	_, err := time.Parse("20060102150405"[:len(s.Digits)], s.Digits)
	return err == nil
}
