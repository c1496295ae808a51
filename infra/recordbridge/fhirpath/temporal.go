package fhirpath

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	dateTime = regexp.MustCompile(
		`^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))?(Z|[+-]\d{2}:\d{2})?)?)?)?$`)
	timeOfDay = regexp.MustCompile(`^(\d{2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))?$`)
)

// compareTimes compares two dates, dateTimes, instants or times component by component (FHIRPath 2.0.0, 6.2). known is
// false if one is less precise than the other and all earlier components are equal. isTime is false if a text is not of
// such a type, or if the texts aren't of the same type.
func compareTimes(left, right string) (order int, known, isTime bool) {
	for _, pattern := range []*regexp.Regexp{dateTime, timeOfDay} {
		l, r := pattern.FindStringSubmatch(left), pattern.FindStringSubmatch(right)
		if l == nil || r == nil {
			continue
		}
		order, known := compareParts(parts(l[1:]), parts(r[1:]))
		return order, known, true
	}
	return 0, false, false
}

func compareParts(left, right []string) (order int, known bool) {
	for i := range max(len(left), len(right)) {
		if i >= len(left) || i >= len(right) {
			return 0, false
		}
		if order := cmp.Compare(left[i], right[i]); order != 0 {
			return order, true
		}
	}
	return 0, true
}

// parts returns the components of a time that are present, in UTC if the time has an offset. Seconds have nine digits.
func parts(components []string) []string {
	if offset := components[len(components)-1]; len(components) == 7 && offset != "" {
		text := components[0] + "-" + components[1] + "-" + components[2] + "T" + components[3] + ":" + components[4]
		layout := "2006-01-02T15:04Z07:00"
		at, err := time.Parse(layout, text+offset)
		if err == nil {
			moved := dateTime.FindStringSubmatch(at.UTC().Format("2006-01-02T15:04"))
			components = slices.Concat(moved[1:6], components[5:6])
		}
	} else if len(components) == 7 {
		components = components[:6]
	}
	var present []string
	for i, component := range components {
		if component == "" {
			break
		}
		if i == len(components)-1 {
			whole, fraction, _ := strings.Cut(component, ".")
			component = whole + "." + (fraction + "000000000")[:9]
		}
		present = append(present, component)
	}
	return present
}
