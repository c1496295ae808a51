package ccda

import (
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fhir/ccda/r4"
)

// stamp is a TS of the source in parts: as many digits as it has, and its zone.
type stamp struct {
	digits string // YYYYMMDDhhmmss, from the left; 4 or more, an even number
	frac   string // of the second, with its point
	zone   string // ±hh:mm or Z, or empty
}

// readStamp reads a TS (HL7 V3 data types, 2.24) or, as some senders write, an ISO 8601 time. ok is false when it is no time
// that exists.
func readStamp(value string) (s stamp, ok bool) {
	value = strings.TrimSpace(value)
	if len(value) >= 7 && value[4] == '-' { // ISO 8601: the first two hyphens are no zone's
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
	s.digits = value[:min(end, 14)]
	rest := value[end:]
	if strings.HasPrefix(rest, ".") {
		end = strings.IndexAny(rest, "+-Z")
		if end < 0 {
			end = len(rest)
		}
		s.frac, rest = rest[:end], rest[end:]
	}
	if len(s.digits)%2 == 1 { // a digit too few or too many says nothing
		s.digits = s.digits[:len(s.digits)-1]
	}
	s.zone, ok = readZone(strings.TrimSpace(rest))
	if !ok || len(s.frac) == 1 || strings.Trim(s.frac, ".0123456789") != "" {
		s.frac = ""
	}
	for len(s.digits) > 4 && !s.exists() { // 20130230 or 20130000: what is left of it is true
		s.digits = s.digits[:len(s.digits)-2]
	}
	return s, s.exists()
}

// readZone reads ±hhmm, ±hh or Z.
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

func (s stamp) exists() bool {
	if len(s.digits) < 4 || s.digits[:4] == "0000" {
		return false
	}
	_, err := time.Parse("20060102150405"[:len(s.digits)], s.digits)
	return err == nil
}

// dateTime writes a TS as FHIR's dateTime with the precision that it has (C-CDA on FHIR, "Mapping Guidance": times). A time of
// day needs a zone in FHIR: it gets that of the document when it has none, and is left out when the document has none either.
func (c *converter) dateTime(n *node) string { return c.moment(n.attr("value")) }

func (c *converter) moment(value string) string {
	s, ok := readStamp(value)
	if !ok {
		if strings.TrimSpace(value) != "" {
			c.drop("time", "no time that exists")
		}
		return ""
	}
	d := s.digits
	switch {
	case len(d) == 4:
		return d
	case len(d) == 6:
		return d[:4] + "-" + d[4:6]
	}
	date := d[:4] + "-" + d[4:6] + "-" + d[6:8]
	zone := s.zone
	if zone == "" {
		zone = c.zone
	}
	if len(d) == 8 || zone == "" {
		return date
	}
	return date + "T" + clock(d[8:]) + s.frac + zone
}

// clock writes hours, minutes and seconds, as far as they are there, as hh:mm:ss.
func clock(digits string) string {
	digits = (digits + "000000")[:6]
	return digits[:2] + ":" + digits[2:4] + ":" + digits[4:]
}

// date is dateTime without a time of day, for FHIR's date.
func (c *converter) date(n *node) string {
	t := c.dateTime(n)
	return t[:min(len(t), len("2006-01-02"))]
}

// instant is dateTime to the second, which FHIR's instant asks for: the start of a day in the zone of the document, or in UTC.
func (c *converter) instant(n *node) string {
	t := c.dateTime(n)
	switch {
	case len(t) > len("2006-01-02"):
		return t
	case len(t) < len("2006-01-02"):
		return ""
	case c.zone == "":
		return t + "T00:00:00Z"
	}
	return t + "T00:00:00" + c.zone
}

// issued is instant for a time that has to have been written to the minute: a day alone does not say when something was known.
func (c *converter) issued(n *node) string {
	if t := c.dateTime(n); len(t) > len("2006-01-02") {
		return t
	}
	return ""
}

// period reads an IVL_TS. A single value is a period of that time alone; a width counts from low. It is nil when
// nothing is known.
func (c *converter) period(n *node) *r4.Period {
	start, end := c.dateTime(n.at("low")), c.dateTime(n.at("high"))
	if start == "" && end == "" {
		start = c.dateTime(n)
		end = start
	} else if value := n.attr("value"); value != "" && value != n.at("low").attr("value") && value != n.at("high").attr("value") {
		c.drop("time", "a point in time beside the bounds of an interval")
	}
	if start == "" && end == "" {
		start = c.dateTime(n.at("center"))
	}
	if start == "" && end == "" {
		return nil
	}
	if end == "" && n.at("width") != nil {
		end = after(start, n.at("width"))
	}
	if end != "" && start > end && len(start) == len(end) && sameZone(start, end) {
		c.drop("time", "ends before it starts")
		end = ""
	}
	return &r4.Period{Start: start, End: end}
}

// after gives the day that is a duration after a start, or "" where either is not known to the day.
func after(start string, width *node) string {
	count, err := strconv.Atoi(width.attr("value"))
	day := start[:min(len(start), len(time.DateOnly))]
	from, errOfDay := time.Parse(time.DateOnly, day)
	if err != nil || errOfDay != nil || count < 0 || count > 1e6 {
		return ""
	}
	switch _, unit := periodOf(width); unit {
	case "d":
		from = from.AddDate(0, 0, count)
	case "wk":
		from = from.AddDate(0, 0, 7*count)
	case "mo":
		from = from.AddDate(0, count, 0)
	case "a":
		from = from.AddDate(count, 0, 0)
	default:
		return ""
	}
	if from.Year() > 9999 {
		return ""
	}
	return from.Format(time.DateOnly)
}

func sameZone(a, b string) bool { return len(a) <= 10 || a[19:] == b[19:] }

// start gives the one time that a fact began at: low, the value itself, center, or else high.
func (c *converter) start(n *node) string {
	for _, at := range []*node{n.at("low"), n, n.at("center"), n.at("high")} {
		if t := c.dateTime(at); t != "" {
			return t
		}
	}
	return ""
}

// effective reads a time that FHIR takes as a dateTime or a Period: a Period when it has a start and another end.
func (c *converter) effective(n *node) (moment string, period *r4.Period) {
	p := c.period(n)
	switch {
	case p == nil:
		return "", nil
	case p.Start == p.End, p.End == "" && n.at("high") == nil:
		return p.Start, nil
	}
	return "", p
}

// lasting gives what effective has read of what goes on until it is said to have ended: without an end it is a Period that is
// open (FHIR MedicationStatement.effective[x]), and not something of its first day alone.
func lasting(n *node, moment string, period *r4.Period) (string, *r4.Period) {
	if moment != "" && n.at("low").attr("value") != "" && n.at("high") == nil {
		return "", &r4.Period{Start: moment}
	}
	return moment, period
}
