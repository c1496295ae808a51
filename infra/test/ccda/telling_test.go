package ccdatest_test

import (
	"cmp"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// content holds a resource's content in a form that can be compared with facts.
type content struct {
	kind    string
	codes   map[string]bool // system|code
	nearby  map[string]bool // codes of referenced and referencing resources
	times   []string        // FHIR dates and times
	amounts map[string]bool // numbers, with and without units, and strings
	ranges  map[string]bool // quantities in reference ranges
	status  []string
	refs    []string        // references, as Type/id
	targets []string        // a Provenance's targets
	names   map[string]bool // identifiers and names, including those in referenced resources
}

func newTelling() *content {
	return &content{
		codes: map[string]bool{}, nearby: map[string]bool{}, amounts: map[string]bool{},
		ranges: map[string]bool{}, names: map[string]bool{},
	}
}

// contentOf parses NDJSON and merges the content of related resources into each resource. The added content includes
// the codes of the medication, device, specimen and location, the names of referenced resources, and the times and
// references of Provenances.
func contentOf(t *testing.T, ndjson []byte) []*content {
	t.Helper()
	byRef := map[string]*content{}
	var all []*content
	of := func(refs []string) []*content {
		var found []*content
		for _, ref := range refs {
			if other := byRef[ref]; other != nil {
				found = append(found, other)
			}
		}
		return found
	}
	for line := range strings.Lines(string(ndjson)) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var resource map[string]any
		if err := decoder.Decode(&resource); err != nil {
			t.Fatalf("not a resource: %v", err)
		}
		told := newTelling()
		told.kind, _ = resource["resourceType"].(string)
		if targets, ok := resource["target"].([]any); ok && told.kind == "Provenance" {
			delete(resource, "target")
			about := newTelling()
			about.read("", targets, false)
			told.targets = about.refs
		}
		told.read("", resource, false)
		id, _ := resource["id"].(string)
		byRef[told.kind+"/"+id] = told
		all = append(all, told)
	}
	for _, told := range all {
		for _, target := range of(told.targets) {
			target.times = append(target.times, told.times...)
			target.refs = append(target.refs, told.refs...)
		}
	}
	for _, told := range all {
		for _, other := range of(told.refs) {
			if other.kind == "PractitionerRole" {
				told.refs = append(told.refs, other.refs...)
			}
		}
	}
	for _, told := range all {
		for _, other := range of(told.refs) {
			add(told.names, other.names)
			add(told.nearby, other.codes)
			add(other.nearby, told.codes)
			if slices.Contains([]string{"Medication", "Device", "Specimen", "Location"}, other.kind) {
				add(told.codes, other.codes)
			}
		}
	}
	return all
}

func add(to, from map[string]bool) {
	for key := range from {
		to[key] = true
	}
}

var fhirTime = regexp.MustCompile(`^\d{4}(-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)?)?$`)

// read records a member's value. within reports whether the member is inside a reference range.
func (told *content) read(name string, value any, within bool) {
	switch value := value.(type) {
	case map[string]any:
		told.readObject(value, within || name == "referenceRange")
	case []any:
		for _, v := range value {
			told.read(name, v, within)
		}
	case json.Number:
		told.amount(number(value.String()), within)
	case string:
		told.amount(strings.Join(strings.Fields(value), " "), within)
		if fhirTime.MatchString(value) {
			told.times = append(told.times, value)
		}
		told.readSchedule(value, within)
		switch name {
		case "reference":
			told.refs = append(told.refs, value)
		case "status", "lifecycleStatus":
			told.status = append(told.status, value)
		case "family", "name":
			told.names[value] = true
		}
		for _, c := range equivalents[name+" "+value] {
			add(told.codes, map[string]bool{namesOf(c)[0]: true})
		}
	}
}

// schedule matches a note that states how often a medication was given, because R4's MedicationAdministration has no
// element for the frequency.
var schedule = regexp.MustCompile(
	`^Given (?:(?:(\d+) times )?every ([\d.]+)(?: to ([\d.]+))? (s|min|h|d|wk|mo|a))?(?: ?at ([A-Z, ]+))?`)

func (told *content) readSchedule(text string, within bool) {
	found := schedule.FindStringSubmatch(text)
	if found == nil {
		return
	}
	for _, period := range found[2:4] {
		if period != "" {
			told.amount(number(period)+" "+found[4], within)
			told.amount(every(period, cmp.Or(found[1], "1"), found[4]), within)
		}
	}
	for event := range strings.SplitSeq(found[5], ", ") {
		told.amount(event, within)
	}
}

func (told *content) readObject(object map[string]any, within bool) {
	system, _ := object["system"].(string)
	if code, ok := object["code"].(string); ok {
		told.codes["*|"+code] = true
		told.codes[system+"|"+code] = true
		if strings.HasSuffix(system, "-clinical") || strings.HasSuffix(system, "/condition-ver-status") {
			told.status = append(told.status, code)
		}
	}
	if value, ok := object["value"].(json.Number); ok {
		for _, unit := range []string{"unit", "code"} {
			if u, ok := object[unit].(string); ok {
				told.amount(number(value.String())+" "+u, within)
			}
		}
	}
	unit, _ := object["periodUnit"].(string)
	frequency, ok := object["frequency"].(json.Number)
	if !ok {
		frequency = "1"
	}
	for _, period := range []string{"period", "periodMax"} {
		if value, ok := object[period].(json.Number); ok {
			told.amount(number(value.String())+" "+unit, within)
			told.amount(every(value.String(), frequency.String(), unit), within)
		}
	}
	if value, ok := object["value"].(string); ok && system != "" {
		told.names[fromIdentifier(system, value)] = true
	}
	for key, value := range object {
		told.read(key, value, within)
	}
}

func (told *content) amount(text string, inRange bool) {
	told.amounts[text] = true
	if inRange {
		told.ranges[text] = true
	}
}

// fromIdentifier formats a FHIR Identifier as identifier formats an II.
func fromIdentifier(system, value string) string {
	switch system {
	case "urn:ietf:rfc:3986":
		return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(value, "urn:uuid:"), "urn:oid:"))
	case "http://hl7.org/fhir/sid/us-npi":
		return identifier("2.16.840.1.113883.4.6", value)
	case "http://hl7.org/fhir/sid/us-ssn":
		return identifier("2.16.840.1.113883.4.1", value)
	}
	return identifier(strings.TrimPrefix(strings.TrimPrefix(system, "urn:oid:"), "urn:uuid:"), value)
}

// number formats a decimal in its shortest form.
func number(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	short, exact := r.FloatPrec()
	if !exact {
		return text
	}
	return r.FloatString(short)
}

// sameTime reports whether a FHIR time matches an HL7 time. If the HL7 time has no time zone, the converter may have
// dropped the time of day or assumed a zone.
func sameTime(hl7, fhir string) bool {
	body, zone := hl7, ""
	if i := strings.IndexAny(hl7, "+-"); i > 0 {
		body, zone = hl7[:i], hl7[i:]
	}
	body, _, _ = strings.Cut(body, ".")
	digits := strings.NewReplacer("-", "", "T", "", ":", "").Replace(fhir[:min(len(fhir), len("2006-01-02T15:04:05"))])
	if !strings.Contains(fhir, "T") {
		return digits == body || len(body) > len("20060102") && zone == "" && digits == body[:len("20060102")]
	}
	told, err := time.Parse(time.RFC3339, fhir)
	if err != nil || len(body)%2 != 0 || len(body) < len("2006010215") {
		return false
	}
	if zone == "" {
		return strings.HasPrefix(digits, body)
	}
	meant, err := time.Parse("20060102150405-0700", body+strings.Repeat("0", max(0, 14-len(body)))+zone)
	return err == nil && meant.Equal(told.Truncate(time.Second))
}
