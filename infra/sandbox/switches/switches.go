// Package switches owns the vocabulary of the sandbox's misbehaviours: the table of every switch, and the sets of them
// in the path of a FHIR base URL, as in /sandbox/with/outcome-entry,access:5s/fhir.
//
// It defines the valid words and the meanings of their values. Packages oauth and sandbox implement the effects of a
// switch on a response.
package switches

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/sandbox/jose"
)

var (
	errUnknown = errors.New("there is no such switch")
	errValue   = errors.New("the value does not fit the switch")
	errTwice   = errors.New("a switch is set twice")
)

// Kinds of values. Any other text in Switch.Value is the list of accepted words, separated by "|".
const (
	number   = "<number>"   // an integer from 1
	duration = "<duration>" // a Go duration of at least one second, such as 5s or 48h
	types    = "<types>"    // resource types joined by "+", or * for all
	text     = "<text>"     // letters, digits, dot, dash, underscore
	keySet   = "<jwks>"     // a JWKS in base64url without padding
)

// maxNumber keeps counters and lifetimes in a sensible range.
const maxNumber = 1_000_000_000

// maxText allows a key set in a path that is shorter than API Gateway's limit.
const maxText = 6000

var (
	plainText = regexp.MustCompile(`^[A-Za-z0-9._=-]+$`)
	typeList  = regexp.MustCompile(`^(\*|[A-Z][A-Za-z]{1,63}(\+[A-Z][A-Za-z]{1,63})*)$`)
)

// Switch is one row of the table.
type Switch struct {
	Name string `json:"name"`
	// Value is the kind of value after the colon: one of the kinds above, the accepted words separated by "|", or empty if
	// there is none.
	Value string `json:"value,omitempty"`
	// About describes the portal's behaviour with the switch.
	About string `json:"about"`
	// Platform is the platform on which this was observed, or the rule that it breaks.
	Platform string `json:"platform"`
}

func (s Switch) accepts(value string) bool {
	switch s.Value {
	case "":
		return value == ""
	case number:
		n, err := strconv.Atoi(value)

		return err == nil && n > 0 && n <= maxNumber
	case duration:
		d, err := time.ParseDuration(value)

		return err == nil && d >= time.Second
	case types:
		return typeList.MatchString(value)
	case text:
		return len(value) <= maxText && plainText.MatchString(value)
	case keySet:
		_, err := parseKeys(value)

		return err == nil
	default:
		return slices.Contains(strings.Split(s.Value, "|"), value)
	}
}

// Set holds the enabled switches with their values. The zero value is a portal without misbehaviours.
type Set struct{ values map[string]string }

// Parse parses switches separated by commas, each name or name:value. Its error may be shown to the author of the URL.
func Parse(spec string) (Set, error) {
	known := map[string]Switch{}
	for _, one := range Table() {
		known[one.Name] = one
	}
	set := Set{values: map[string]string{}}
	for part := range strings.SplitSeq(spec, ",") {
		name, value, _ := strings.Cut(part, ":")
		row, exists := known[name]
		if !exists {
			return Set{}, fmt.Errorf("%.60q: %w", name, errUnknown)
		}
		if !row.accepts(value) {
			return Set{}, fmt.Errorf("%s takes %q: %w", name, row.Value, errValue)
		}
		if _, twice := set.values[name]; twice {
			return Set{}, fmt.Errorf("%s: %w", name, errTwice)
		}
		set.values[name] = value
	}

	return set, nil
}

// Empty reports whether no switch is on.
func (s Set) Empty() bool { return len(s.values) == 0 }

// Has reports whether the switch is on.
func (s Set) Has(name string) bool {
	_, on := s.values[name]

	return on
}

// Is reports whether the switch is on with this value.
func (s Set) Is(name, value string) bool { return s.Has(name) && s.values[name] == value }

// Text returns the value of a switch, or "" if it is off.
func (s Set) Text(name string) string { return s.values[name] }

// Number returns the value of a switch that takes a number, or 0 if it is off.
func (s Set) Number(name string) int64 {
	n, err := strconv.ParseInt(s.values[name], 10, 64)
	if err != nil {
		return 0
	}

	return n
}

// Duration returns the value of a switch that takes a duration, or the fallback if it is off.
func (s Set) Duration(name string, fallback time.Duration) time.Duration {
	d, err := time.ParseDuration(s.values[name])
	if err != nil {
		return fallback
	}

	return d
}

// Keys returns the value of a switch that takes a JWKS, or an empty set if it is off.
func (s Set) Keys(name string) jose.KeySet {
	keys, err := parseKeys(s.values[name])
	if err != nil {
		return jose.KeySet{}
	}

	return keys
}

func parseKeys(value string) (jose.KeySet, error) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(value) > maxText {
		return jose.KeySet{}, errValue
	}

	return jose.ParseKeySet(raw)
}

// Types returns the resource types that a switch names, or none if it is off or set to all types.
func (s Set) Types(name string) []string {
	value := s.values[name]
	if value == "" || value == "*" {
		return nil
	}

	return strings.Split(value, "+")
}

// Covers reports whether a switch that takes resource types is on for this one.
func (s Set) Covers(name, resourceType string) bool {
	return s.values[name] == "*" || slices.Contains(s.Types(name), resourceType)
}

// Table returns every switch.
func Table() []Switch { return slices.Concat(fhirTable(), recordTable(), oauthTable()) }
