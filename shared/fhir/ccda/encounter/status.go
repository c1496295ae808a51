package encounter

import (
	"cmp"
	"time"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// statusOf returns an encounter's status as of the document's time. The status is derived from ActStatus or, failing
// that, from the encounter's time (C-CDA on FHIR, "Encounters", rows statusCode and effectiveTime). An encounter that
// has ended is never in progress. A past encounter without an end has an unknown status, because the document doesn't
// state that the encounter continued. hasLeft is true if the patient was discharged.
func statusOf(c *statement.Context, n *cda.Node, hasLeft bool) string {
	when := n.At("effectiveTime")
	start, end := cmp.Or(when.At("low"), when), cmp.Or(when.At("high"), when)
	_, hasEnd := cda.ReadStamp(end.Attr("value"))
	isOver := hasLeft || hasEnd && !c.Document.IsLater(end)
	isAhead := c.Document.IsLater(start)
	status := statuses.Of(cda.StatusOf(n))
	switch {
	case status == "in-progress" && hasLeft, status == "in-progress" && isOver && when.At("high") != nil:
		return "finished"
	case status == "in-progress" && (isOver || isAhead) && !isSameDay(c, when):
		return "unknown"
	case status == "finished" && isAhead:
		return "unknown"
	case status != "":
		return status
	}
	switch mood := n.Attr("moodCode"); {
	case mood != "" && mood != "EVN":
		return "planned"
	case !cda.HasNoStatus(n) || isAhead: // The status has no meaning, or the encounter has not begun.
		return "unknown"
	case isOver:
		return "finished"
	case isDuring(c, n, when):
		return "in-progress"
	}
	return "unknown"
}

// isDuring reports whether the document was written during the given encounter. The encounter must be the document's
// own encounter or end in the future.
func isDuring(c *statement.Context, n, when *cda.Node) bool {
	if _, dated := cda.ReadStamp(when.At("low").Attr("value")); !dated {
		return false
	}
	return c.Document.IsLater(when.At("high")) ||
		n.Name == "encompassingEncounter" && isRecent(c, when.At("low"), encounterClass(n.At("code")).Code)
}

// isRecent reports whether an encounter with the given start may still have been in progress when the document was
// written. A visit may last until the next day, and a possible inpatient stay may last a year.
func isRecent(c *statement.Context, start *cda.Node, class string) bool {
	const visit, stay = 1, 365
	s, _ := cda.ReadStamp(start.Attr("value"))
	if len(s.Digits) < day || len(c.Document.Written) < day {
		return false
	}
	from, errFrom := time.Parse("20060102", s.Digits[:day])
	written, errWritten := time.Parse("20060102", c.Document.Written[:day])
	limit := stay
	if cda.IsOneOf(class, "AMB", "EMER", "FLD", "HH", "VR") {
		limit = visit
	}
	return errFrom == nil && errWritten == nil && !written.After(from.AddDate(0, 0, limit))
}

// isSameDay reports whether a one-day encounter took place on the document's day.
func isSameDay(c *statement.Context, when *cda.Node) bool {
	s, ok := cda.ReadStamp(when.Attr("value"))
	return ok && len(s.Digits) >= day && len(c.Document.Written) >= day && s.Digits[:day] == c.Document.Written[:day]
}

const day = len("20060102")
