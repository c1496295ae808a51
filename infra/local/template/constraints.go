package template

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// constraints holds CloudFormation's constraints on a parameter's value, or on each element of a list parameter.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
type constraints struct {
	allowed          []string       // allowed values; nil allows any value
	pattern          *regexp.Regexp // must match the complete value; nil allows any value
	lowest, highest  string         // bounds of a number; empty if unbounded
	shortest, widest int            // minimum and maximum length in characters
	description      string
}

// unlimited is CloudFormation's maximum length of a parameter value.
const unlimited = 4096

func readConstraints(d *object) constraints {
	c := constraints{
		allowed: d.texts("AllowedValues"), lowest: d.text("MinValue"), highest: d.text("MaxValue"),
		shortest: d.number("MinLength", 0, unlimited, 0), widest: d.number("MaxLength", 0, unlimited, unlimited),
		description: d.text("ConstraintDescription"),
	}
	if text := d.text("AllowedPattern"); text != "" {
		var err error
		if c.pattern, err = regexp.Compile("^(?:" + text + ")$"); err != nil {
			d.failf(d.line(), "AllowedPattern: %v", err)
		}
	}
	for _, bound := range []string{c.lowest, c.highest} {
		if _, err := strconv.ParseFloat(bound, 64); bound != "" && err != nil {
			d.failf(d.line(), "MinValue and MaxValue are numbers, not %q", bound)
		}
	}
	return c
}

// reject returns the reason why value is not allowed, or "" if it is allowed.
func (c constraints) reject(value string, number bool) string {
	switch {
	case c.allowed != nil && !slices.Contains(c.allowed, value):
		return fmt.Sprintf("the value %q is not one of its AllowedValues", value)
	case c.pattern != nil && !c.pattern.MatchString(value):
		return fmt.Sprintf("the value %q does not match its AllowedPattern: %s", value, c.description)
	case len(value) < c.shortest || len(value) > c.widest:
		return fmt.Sprintf("the value %q is shorter than its MinLength or longer than its MaxLength", value)
	case !number:
		return ""
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Sprintf("the value %q is not a number", value)
	}
	if !between(v, c.lowest, c.highest) {
		return fmt.Sprintf("the value %q is below its MinValue or above its MaxValue", value)
	}
	return ""
}

// between reports whether v is within both bounds. An empty bound is not checked.
func between(v float64, lowest, highest string) bool {
	low, errLow := strconv.ParseFloat(lowest, 64)
	high, errHigh := strconv.ParseFloat(highest, 64)
	return (errLow != nil || v >= low) && (errHigh != nil || v <= high)
}
