package ccda_test

import (
	"fmt"
	"slices"
	"strings"
)

// said holds the properties of a statement that determine its status.
type said struct {
	isNull     bool
	isOpen     bool   // whether the statement or an enclosing statement has a nullFlavor
	isDenied   bool   // whether the statement or an enclosing statement is negated
	status     string // statusCode; "none" if missing, "?" if it has a nullFlavor or is not an ActStatus
	concern    string // statusCode of the enclosing act, if that act is a concern
	observed   string // code in the status observation
	hasStart   bool   // whether the statement has a start that is not after the document's time
	hasEnd     bool   // whether the statement has an end that is not after the document's time
	endsToday  bool   // whether the end is on the document's day, in which case either status is correct
	mayHaveEnd bool   // whether the end has the null flavor UNK
	isAhead    bool   // whether the start is after the document's time
	isPoint    bool   // whether the statement's time is a single point
	lasts      bool   // whether the end is after the document's time
	discharged bool
}

// judge returns the facts that resources assert although the statements negate them or leave them open. judge reads
// only the document, and matches resources to statements by identifier.
func judge(document *element, statements []*element, resources []map[string]any) []string {
	byNumber := map[string]*element{}
	for _, s := range statements {
		byNumber[s.number] = s
	}
	written := document.child("effectiveTime").attr("value")
	var faults []string
	for _, r := range resources {
		sources, things := sourcesOf(r, byNumber)
		for _, s := range things {
			if what := readSaid(s, written); what.isNull || what.isDenied {
				faults = append(faults, fmt.Sprintf("%s of a statement that is null or denied", r["resourceType"]))
			}
		}
		if len(sources) != 1 { // A resource that represents several statements may assert what any of them states.
			continue
		}
		what := readSaid(sources[0], written)
		for _, fault := range faultsOf(r, what) {
			faults = append(faults, fmt.Sprintf(
				"%s of statement %s: %s (%+v)", r["resourceType"], sources[0].number, fault, what,
			))
		}
	}
	return append(faults, linkFaults(resources)...)
}

// linkFaults returns refuted Conditions that encounters reference as diagnoses or that procedures reference as
// complications.
func linkFaults(resources []map[string]any) []string {
	refuted := map[any]bool{}
	for _, r := range resources {
		if codeIn(r["verificationStatus"]) == "refuted" {
			refuted[fmt.Sprintf("%s/%s", r["resourceType"], r["id"])] = true
		}
	}
	var faults []string
	for _, r := range resources {
		diagnoses, _ := r["diagnosis"].([]any)
		complications, _ := r["complicationDetail"].([]any)
		for _, one := range append(diagnoses, complications...) {
			link, _ := one.(map[string]any)
			if condition, is := link["condition"].(map[string]any); is {
				link = condition
			}
			if refuted[link["reference"]] {
				faults = append(faults, fmt.Sprintf("%s with a refuted %s", r["resourceType"], link["reference"]))
			}
		}
	}
	return faults
}

// sourcesOf returns the statements that a resource's identifiers name, and the statements whose device or specimen the
// resource is.
func sourcesOf(r map[string]any, byNumber map[string]*element) (statements, things []*element) {
	list, _ := r["identifier"].([]any)
	for _, one := range list {
		id, _ := one.(map[string]any)
		value, _ := id["value"].(string)
		kind, number, _ := strings.Cut(value, "-")
		switch s := byNumber[number]; {
		case s == nil:
		case kind == "fuzz":
			statements = append(statements, s)
		case kind == "device" || kind == "specimen":
			things = append(things, s)
		}
	}
	return statements, things
}

func readSaid(s *element, written string) said {
	var what said
	what.isNull = s.attr("nullFlavor") != ""
	isReason := false // A reason is asserted even if the statement that it explains is negated.
	for at := s; at != nil; at = at.parent {
		if at.isStatement() {
			what.isOpen = what.isOpen || at.attr("nullFlavor") != ""
			what.isDenied = what.isDenied || !isReason && isTrue(at.attr("negationInd"))
			isReason = isReason || at.parent.attr("typeCode") == "RSON" && at.name == "observation" && !hasTemplate(at, "143")
		}
	}
	what.status = statusOf(s)
	if act := around(s); act != nil && (act.child("code").attr("code") == "CONC" || hasTemplate(act, "132") ||
		hasTemplate(act, "3") || hasTemplate(act, "136")) {
		what.concern = statusOf(act)
	}
	if o := statusObservation(s); o != nil && o.attr("nullFlavor") == "" {
		what.observed = o.child("value").attr("code")
		if isTrue(o.attr("negationInd")) {
			what.observed = "not " + what.observed
		}
	}
	when := s.child("effectiveTime")
	if when.attr("xsi:type") == "EIVL_TS" { // relative to an event, without bounds (HL7 V3 data types, EIVL)
		when = nil
	}
	low, high, point := when.child("low").attr("value"), when.child("high").attr("value"), when.attr("value")
	what.isPoint = point != ""
	what.hasStart = low != "" && !later(low, written) || point != "" && !later(point, written)
	what.isAhead = later(low, written) || later(point, written)
	what.hasEnd, what.lasts = high != "" && !later(high, written), later(high, written)
	what.endsToday = what.hasEnd && !later(written, high)
	what.mayHaveEnd = when.child("high").attr("nullFlavor") == "UNK"
	what.discharged = s.child("sdtc:dischargeDispositionCode") != nil
	return what
}

func isTrue(text string) bool { return text == "1" || strings.EqualFold(text, "true") }

func later(at, written string) bool {
	n := min(len(at), len(written), len("20060102"))
	return at[:n] > written[:n]
}

func around(s *element) *element {
	for up := s.parent; up != nil; up = up.parent {
		if up.isStatement() {
			return up
		}
	}
	return nil
}

func hasTemplate(s *element, last string) bool {
	return slices.ContainsFunc(s.children, func(c *element) bool {
		return c.name == "templateId" && c.attr("root") == "2.16.840.1.113883.10.20.22.4."+last
	})
}

// statusOf returns a statement's ActStatus. A statement with a nullFlavor has an unknown status.
func statusOf(s *element) string {
	status := s.child("statusCode")
	switch code := status.attr("code"); {
	case s.attr("nullFlavor") != "" || status.attr("nullFlavor") != "":
		return "?"
	case status == nil:
		return "none"
	case slices.Contains([]string{
		"new", "active", "held", "completed", "suspended", "aborted", "cancelled", "nullified", "obsolete",
	}, code):
		return code
	}
	return "?"
}

func faultsOf(r map[string]any, what said) []string {
	var faults []string
	fault := func(is bool, text string) {
		if is {
			faults = append(faults, text)
		}
	}
	kind, _ := r["resourceType"].(string)
	if kind == "Condition" || kind == "AllergyIntolerance" {
		return clinicalFaults(r, kind, what)
	}
	if kind == "Observation" || kind == "DiagnosticReport" {
		return observationFaults(r, what)
	}
	status, _ := r["status"].(string)
	if kind == "Goal" {
		status, _ = r["lifecycleStatus"].(string)
	}
	asserts := slices.Contains([]string{"active", "completed", "final", "finished", "in-progress", "available"}, status)
	fault(what.isNull, "of a null statement")
	fault(asserts && what.isOpen, "it is open, and "+status)
	fault(asserts && what.isDenied && r["doNotPerform"] != true, "it is denied, and "+status)
	fault(asserts && !says(kind, status, what), "nothing says that it is "+status)
	hasTime := what.hasStart || what.hasEnd || what.isAhead || what.lasts
	if about := subject(kind, r); about != nil && (kind != "Immunization" || !hasTime) {
		fault(asserts && isUnnamed(about), "it has no name, and "+status)
	}
	return faults
}

// subject returns a resource's main concept, or nil if the type has none.
func subject(kind string, r map[string]any) any {
	switch kind {
	case "Immunization":
		return r["vaccineCode"]
	case "DeviceRequest":
		return r["codeCodeableConcept"]
	case "MedicationRequest", "MedicationAdministration", "MedicationDispense":
		return r["medicationCodeableConcept"]
	case "Procedure", "ServiceRequest":
		return r["code"]
	}
	return nil
}

// isUnnamed reports whether a concept states only that it is unknown.
func isUnnamed(concept any) bool {
	c, _ := concept.(map[string]any)
	list, _ := c["coding"].([]any)
	for _, one := range list {
		const absent = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
		if coding, _ := one.(map[string]any); coding["system"] != absent && coding["display"] != "Unknown" {
			return false
		}
	}
	text, _ := c["text"].(string)
	return slices.Contains([]string{
		"", "Unknown", "No data recorded", "unsupported", "No Allergies Indicated", "Unknown/unsupported",
		"No known procedures", "No known medications", "No immunization data",
	}, text)
}

// says reports whether a statement asserts that a fact is active, completed or in progress.
func says(kind, status string, what said) bool {
	stated := func(codes ...string) bool { return slices.Contains(codes, what.status) }
	switch kind + " " + status {
	case "Procedure completed", "ServiceRequest completed", "DeviceRequest completed", "Communication completed",
		"SupplyDelivery completed", "Goal completed":
		return stated("completed")
	case "ServiceRequest active", "DeviceRequest active", "Goal active":
		return stated("active")
	case "Procedure in-progress", "Communication in-progress":
		return stated("active")
	case "SupplyDelivery in-progress":
		return stated("active", "held", "suspended")
	case "Immunization completed":
		return stated("completed", "none") || stated("?", "active") && what.hasStart
	case "MedicationRequest active":
		return what.observed == "55561003" || stated("active") && (!what.hasEnd || what.endsToday)
	case "MedicationRequest completed", "MedicationAdministration completed", "MedicationDispense completed":
		return what.observed == "392521001" || stated("completed") || stated("active") && what.hasEnd
	case "MedicationAdministration in-progress", "MedicationDispense in-progress":
		return what.observed == "55561003" || stated("active") && (!what.hasEnd || what.endsToday)
	case "Consent active", "Coverage active":
		return stated("active", "completed", "none") && !what.hasEnd
	case "CareTeam active":
		return stated("active") && !what.hasEnd
	case "FamilyMemberHistory completed":
		return stated("completed", "none")
	case "Encounter finished":
		return stated("completed") && !what.isAhead || what.discharged || stated("active") && what.hasEnd ||
			stated("none") && (what.hasEnd || what.isPoint && !what.isAhead)
	case "Encounter in-progress":
		return !what.hasEnd && !what.discharged && !what.isAhead && (stated("active") || stated("none") && what.lasts)
	case "DocumentReference current", "CarePlan active", "ImagingStudy available":
		return true
	}
	return false
}

func clinicalFaults(r map[string]any, kind string, what said) []string {
	var faults []string
	fault := func(is bool, text string) {
		if is {
			faults = append(faults, text)
		}
	}
	clinical, verified := codeIn(r["clinicalStatus"]), codeIn(r["verificationStatus"])
	isActive := slices.Contains([]string{"active", "recurrence", "relapse"}, clinical)
	saysNone := slices.Contains([]string{
		"160245001", "716186003", "409137002", "429625007", "428607008", "1003774007",
	}, codeIn(r["code"]))
	fault(what.isNull, "of a null statement")
	fault(what.isOpen && verified == "confirmed", "it is open, and confirmed")
	fault(what.isDenied && verified != "refuted" && !saysNone, "it is denied, and "+verified)
	fault(verified == "refuted" && isActive, "it is refuted, and active")
	fault(verified == "confirmed" && isUnnamed(r["code"]), "it has no name, and is confirmed")
	if what.isOpen || what.isDenied {
		return faults
	}
	isAllergy, isProblem := kind == "AllergyIntolerance", kind == "Condition"
	isOver := slices.Contains([]string{"completed", "aborted", "suspended", "cancelled", "held"}, what.concern)
	switch what.observed {
	case "55561003", "246455001":
		fault(clinical == "resolved", "its observation says active")
		fault(isAllergy && what.observed == "55561003" && clinical != "active", "its observation says active")
		fault(isProblem && !isActive && !what.hasEnd, "its observation says active")
	case "73425007", "413322009", "277022003", "not 55561003":
		fault(isActive && (isProblem || what.observed != "277022003"), "its observation does not say active")
	default:
		fault(isActive && isOver, "its concern is "+what.concern)
		fault(isActive && isProblem && what.concern != "active" && what.status != "active", "nothing says active")
		fault(isActive && (what.hasEnd || what.mayHaveEnd), "it has ended")
		fault(clinical == "resolved", "nothing says that it is resolved")
	}
	return faults
}

func observationFaults(r map[string]any, what said) []string {
	var faults []string
	fault := func(is bool, text string) {
		if is {
			faults = append(faults, text)
		}
	}
	values := valuesOf(r)
	components, _ := r["component"].([]any)
	for _, one := range components {
		component, _ := one.(map[string]any)
		values = append(values, valuesOf(component)...)
	}
	hasValue := len(values) > 0
	if what.isDenied { // The value false, like a code for absence, may state the negated fact.
		hasValue = slices.ContainsFunc(values, func(v any) bool { return v != false && codeIn(v) != "60001007" })
	}
	fault(what.isNull && hasValue, "of a null statement, with a value")
	fault(what.isDenied && hasValue, "it is denied, and has a value")
	isFinal := r["status"] == "final" && (hasValue || r["resourceType"] == "DiagnosticReport")
	fault(isFinal && what.isOpen, "it is open, and final")
	fault(isFinal && what.status != "completed" && what.status != "none", "nothing says that it is final")
	return faults
}

func valuesOf(r map[string]any) []any {
	var values []any
	for name, value := range r {
		if strings.HasPrefix(name, "value") {
			values = append(values, value)
		}
	}
	return values
}

func codeIn(concept any) string {
	c, _ := concept.(map[string]any)
	list, _ := c["coding"].([]any)
	if len(list) == 0 {
		return ""
	}
	coding, _ := list[0].(map[string]any)
	code, _ := coding["code"].(string)
	return code
}
