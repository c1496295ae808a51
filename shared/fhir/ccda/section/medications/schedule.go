package medications

import (
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// schedule describes how often medication was given, using FHIR's codes for units and events. It returns "" if the
// document does not state the frequency.
func schedule(t *r4.Timing) string {
	if t == nil || t.Repeat == nil {
		return ""
	}
	r := t.Repeat
	var words []string
	if r.Frequency > 1 {
		words = append(words, strconv.Itoa(r.Frequency)+" times every")
	} else if r.Period != "" {
		words = append(words, "every")
	}
	if r.Period != "" {
		period := string(r.Period)
		if r.PeriodMax != "" {
			period += " to " + string(r.PeriodMax)
		}
		words = append(words, period+" "+r.PeriodUnit)
	}
	if len(r.When) > 0 {
		words = append(words, "at "+strings.Join(r.When, ", "))
	}
	if r.Offset > 0 {
		words = append(words, "by "+strconv.Itoa(r.Offset)+" min")
	}
	if r.Count > 0 {
		words = append(words, strconv.Itoa(r.Count)+" times in all")
	}
	if words == nil {
		return ""
	}
	return "Given " + strings.Join(words, " ")
}
