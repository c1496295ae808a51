package emit

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// noMember is the reason for dropping a part that no element of any resource can hold.
const noMember = "no rule converts this value"

// CountMisread counts a document's unreadable characters and the characters whose encoding was guessed.
func (e *tally) CountMisread(d cda.Parsed) {
	if d.Replaced > 0 {
		e.drop(Dropped{What: "character", Reason: "not one of the document's encoding", Count: d.Replaced})
	}
	if d.Guessed > 0 {
		e.drop(Dropped{What: "character", Reason: "not in the declared encoding; read as windows-1252", Count: d.Guessed})
	}
}

// CountUnread counts the times in a document that no rule has read. Call it after all rules have run. If the document
// exceeds its budget, CountUnread does nothing, because omitted statements are counted instead.
func (e *Emitter) CountUnread(document *cda.Node) {
	if e.budget.isFull {
		return
	}
	born := document.At("recordTarget", "patientRole", "patient", "birthTime").Attr("value")
	for n := range document.Descendants() {
		what, value := timeOf(n), n.Attr("value")
		if what == "" || value == "" || n.Attr("nullFlavor") != "" || e.IsTaken(n) ||
			value == n.At("low").Attr("value") || value == n.At("high").Attr("value") ||
			what == "birthTime" && value == born { // repeated for a member of an insurance plan
			continue
		}
		e.Drop(what, noMember)
	}
}

// timeOf returns the name of the time that an element states or bounds. It returns "" for any other element (CDA R2:
// TS, IVL_TS, PIVL_TS).
func timeOf(n *cda.Node) string {
	switch n.Name {
	case "low", "high", "center":
		if n.Parent != nil {
			return timeOf(n.Parent)
		}
	case "width":
		if n.Parent != nil && timeOf(n.Parent) != "" {
			return "width"
		}
	case "phase", "time":
		return n.Name
	case "comp":
		if n.Parent != nil {
			return timeOf(n.Parent)
		}
	default:
		if strings.HasSuffix(n.Name, "Time") {
			return n.Name
		}
	}
	return ""
}
