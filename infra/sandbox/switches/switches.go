// Package switches defines the sandbox's simulated faults. It holds the table of all switches and parses those in a
// FHIR base URL's path, such as /sandbox/with/outcome-entry,access:5s/fhir.
//
// The package defines only the switches' names and values. Packages oauth and sandbox implement the switches' effects
// on responses.
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
	errUnknown = errors.New("unknown switch")
	errValue   = errors.New("invalid value for the switch")
	errTwice   = errors.New("a switch is repeated")
)

// Kinds of switch values. Any other Switch.Value lists the accepted words, separated by "|".
const (
	number   = "<number>"   // an integer of at least 1
	duration = "<duration>" // a Go duration of at least one second, such as 5s or 48h
	types    = "<types>"    // resource types joined by "+", or * for every type
	text     = "<text>"     // letters, digits, dots, dashes and underscores
	keySet   = "<jwks>"     // a JWKS in base64url without padding
)

// maxNumber is the maximum value of a numeric switch. The limit keeps counters and lifetimes within a reasonable range.
const maxNumber = 1_000_000_000

// maxText is the maximum length of a text or JWKS value, in characters. The limit allows for a JWKS in the path and is
// below API Gateway's limit.
const maxText = 6000

var (
	plainText = regexp.MustCompile(`^[A-Za-z0-9._=-]+$`)
	typeList  = regexp.MustCompile(`^(\*|[A-Z][A-Za-z]{1,63}(\+[A-Z][A-Za-z]{1,63})*)$`)
)

// Switch describes a simulated fault.
type Switch struct {
	Name string `json:"name"`
	// Value specifies the value that follows the colon: either one of the kinds above, or the accepted words, separated
	// by "|". Value is empty if the switch takes no value.
	Value string `json:"value,omitempty"`
	// About describes a portal's behaviour when the switch is enabled.
	About string `json:"about"`
	// Platform names the platform that exhibits the behaviour, or the rule that the behaviour violates.
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

// Set holds the enabled switches and their values. The zero value enables no switches.
type Set struct{ values map[string]string }

// Parse parses comma-separated switches, each written as name or name:value. Error messages are safe to show to the
// URL's author.
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
			return Set{}, fmt.Errorf("%s accepts %q: %w", name, row.Value, errValue)
		}
		if _, twice := set.values[name]; twice {
			return Set{}, fmt.Errorf("%s: %w", name, errTwice)
		}
		set.values[name] = value
	}

	return set, nil
}

// Empty reports whether no switch is enabled.
func (s Set) Empty() bool { return len(s.values) == 0 }

// Has reports whether the switch is enabled.
func (s Set) Has(name string) bool {
	_, on := s.values[name]

	return on
}

// Is reports whether the switch is enabled with the given value.
func (s Set) Is(name, value string) bool { return s.Has(name) && s.values[name] == value }

// Text returns a switch's value, or "" if the switch is not enabled.
func (s Set) Text(name string) string { return s.values[name] }

// Number returns the value of a numeric switch, or 0 if the switch is not enabled.
func (s Set) Number(name string) int64 {
	n, err := strconv.ParseInt(s.values[name], 10, 64)
	if err != nil {
		return 0
	}

	return n
}

// Duration returns the value of a duration switch, or fallback if the switch is not enabled.
func (s Set) Duration(name string, fallback time.Duration) time.Duration {
	d, err := time.ParseDuration(s.values[name])
	if err != nil {
		return fallback
	}

	return d
}

// Keys returns the value of a JWKS switch, or an empty set if the switch is not enabled.
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

// Types returns the resource types named in the switch's value. The result is empty if the switch is not enabled or
// applies to every type.
func (s Set) Types(name string) []string {
	value := s.values[name]
	if value == "" || value == "*" {
		return nil
	}

	return strings.Split(value, "+")
}

// Covers reports whether the named switch is enabled for resourceType.
func (s Set) Covers(name, resourceType string) bool {
	return s.values[name] == "*" || slices.Contains(s.Types(name), resourceType)
}

// Table returns all supported switches.
func Table() []Switch { return slices.Concat(fhirTable(), recordTable(), oauthTable()) }
