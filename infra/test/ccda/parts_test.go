package ccdatest_test

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timesOf lists the times in a statement's effectiveTime, including a medication's dosing frequency.
func timesOf(s *element, about []coding) []fact {
	var facts []fact
	for _, when := range s.all("effectiveTime") {
		for _, point := range append([]*element{when}, when.children...) {
			if point == when && len(when.all("low"))+len(when.all("high")) > 0 {
				continue // low and high already specify the time
			}
			if value := point.attrs["value"]; isTime(value) &&
				slices.Contains([]string{"effectiveTime", "low", "high", "center"}, point.name) {
				facts = append(facts, fact{measure: ofTime, about: about, want: []string{value}})
			}
		}
		for _, period := range append(when.all("period"), when.all("period", "*")...) {
			if value := period.attrs["value"]; every(value, "1", period.attrs["unit"]) != "" {
				facts = append(facts, fact{
					measure: ofValue, about: about,
					want: []string{quantity(period), every(value, "1", period.attrs["unit"])},
				})
			}
		}
		if event := when.first("event").attrs["code"]; event != "" {
			facts = append(facts, fact{measure: ofValue, about: about, want: []string{event}})
		}
	}
	return facts
}

// placeholder matches dates that senders use in place of unknown dates (docs/reference/ccda.md, "Placeholders").
var placeholder = regexp.MustCompile(`^(0001|9999|16010101|17530101|18401231|18991230|18991231|19000101)`)

// isTime reports whether text is an HL7 timestamp (TS) other than a placeholder.
func isTime(text string) bool {
	if i := strings.IndexAny(text, "+-."); i > 0 {
		text = text[:i]
	}
	layout := "20060102150405"
	if len(text) > len(layout) || len(text) < len("2006") || placeholder.MatchString(text) {
		return false
	}
	_, err := time.Parse(layout[:len(text)], text)
	return err == nil
}

// every formats the interval between repetitions in hours, such as "every 12". It returns "" if the interval is
// invalid.
func every(period, frequency, unit string) string {
	hours := map[string]int64{
		"min": 1, "h": 60, "d": 24 * 60, "wk": 7 * 24 * 60, "mo": 30 * 24 * 60,
		"a": 365 * 24 * 60,
	}[unit]
	all, ok := new(big.Rat).SetString(period)
	times, also := new(big.Rat).SetString(frequency)
	if !ok || !also || times.Sign() == 0 || hours == 0 {
		return ""
	}
	return "every " + all.Quo(all.Mul(all, big.NewRat(hours, 60)), times).RatString()
}

// valuesOf lists a statement's values, such as results and doses, and their reference ranges.
func valuesOf(s *element, about []coding) []fact {
	var facts []fact
	for _, e := range slices.Concat(s.all("value"), s.all("doseQuantity"), s.all("rateQuantity"), s.all("quantity"),
		s.all("repeatNumber"), s.all("maxDoseQuantity")) {
		kind := ofValue
		if strings.HasSuffix(e.attrs["type"], "TS") {
			kind = ofTime
		}
		for _, value := range amounts(e) {
			want := []string{value}
			if n, err := strconv.Atoi(value); err == nil && e.name == "repeatNumber" {
				if n <= 0 && s.name == "substanceAdministration" {
					continue // the repeat count belongs to a medication that was not administered
				}
				if n >= 999 && strings.Trim(value, "9") == "" {
					continue // unknown frequency
				}
				want = append(want, strconv.Itoa(max(n-1, 0))) // FHIR's count excludes the first dispense
			}
			facts = append(facts, fact{measure: kind, about: about, want: want})
		}
	}
	for _, observed := range s.all("referenceRange", "observationRange") {
		limits := observed.all("value", "*")
		for _, limit := range limits {
			if limit.attrs["value"] != "" {
				facts = append(facts, fact{measure: ofRange, about: about, want: []string{quantity(limit)}})
			}
		}
		if text := observed.first("text"); len(limits) == 0 && text.words() != "" {
			facts = append(facts, fact{measure: ofRange, about: about, want: []string{text.words()}})
		}
	}
	return facts
}

// amounts lists the quantities in an element: its own value, or its bounds or components. Coded values are not
// quantities.
func amounts(e *element) []string {
	var all []string
	switch kind := e.attrs["type"]; {
	case e.attrs["nullFlavor"] != "" || e.attrs["code"] != "" || strings.HasSuffix(kind, "CD") ||
		strings.HasSuffix(kind, "CE"):
	case e.attrs["value"] != "":
		all = append(all, quantity(e))
	case strings.HasSuffix(kind, "ST") || strings.HasSuffix(kind, "ED"):
		if text := e.words(); text != "" {
			all = append(all, text)
		}
	default:
		for _, part := range slices.Concat(e.all("low"), e.all("high"), e.all("numerator"), e.all("denominator")) {
			if part.attrs["value"] != "" {
				all = append(all, quantity(part))
			}
		}
	}
	return all
}

// quantity returns a value with its unit. The UCUM unit "1" is omitted.
func quantity(e *element) string {
	return strings.TrimSpace(number(strings.TrimSpace(e.attrs["value"])) + " " +
		strings.TrimSpace(strings.TrimSuffix(e.attrs["unit"], "1")))
}

// participationsOf lists a statement's authors and performers, by name or identifier, and the times at which the
// authors wrote it.
func participationsOf(s *element, about []coding) []fact {
	var facts []fact
	for _, author := range s.all("author") {
		if names := identities(author.first("assignedAuthor")); len(names) > 0 {
			facts = append(facts, fact{measure: ofAuthor, about: about, want: names})
		}
		if at := author.first("time").attrs["value"]; isTime(at) {
			facts = append(facts, fact{measure: ofWriting, about: about, want: []string{at}})
		}
	}
	for _, performer := range s.all("performer") {
		if names := identities(performer.first("assignedEntity")); len(names) > 0 {
			facts = append(facts, fact{measure: ofPerformer, about: about, want: names})
		}
	}
	return facts
}

// identities lists the identifiers and names of a person, a device or an organisation.
func identities(role *element) []string {
	var all []string
	for _, id := range slices.Concat(role.all("id"), role.all("representedOrganization", "id")) {
		// Only identifiers whose root is an OID or a UUID are compared.
		root := strings.ToLower(id.attrs["root"])
		if id.attrs["nullFlavor"] == "" && root != "" && strings.Trim(root, "0123456789.-abcdef") == "" {
			all = append(all, identifier(id.attrs["root"], id.attrs["extension"]))
		}
	}
	for _, name := range slices.Concat(
		role.all("assignedPerson", "name", "family"), role.all("representedOrganization", "name"),
		role.all("assignedAuthoringDevice", "softwareName"),
	) {
		if text := name.words(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// identifier formats an HL7 instance identifier (II) as a single lower-case word.
func identifier(root, extension string) string {
	if extension == "" {
		return strings.ToLower(root)
	}
	return strings.ToLower(root + "|" + strings.TrimSpace(extension))
}
