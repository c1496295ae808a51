package iam

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Supported condition operators and condition keys. Keys are in lower case for comparison. The template uses no other
// operators or keys.
const (
	leadingKeys    = "dynamodb:leadingkeys"
	contextPrefix  = "kms:encryptioncontext:" // prefix of a name in the encryption context
	viaServiceKey  = "kms:viaservice"
	prefixKey      = "s3:prefix"
	setOfAll       = "ForAllValues:"
	operatorEquals = "StringEquals"
	operatorLike   = "StringLike"
)

var (
	errVariable = errors.New("policy variables are not understood")
	errNoValue  = errors.New("a condition needs a value")
)

// condition is one operator and key in a statement's Condition.
type condition struct {
	all      bool   // true if the operator has the prefix ForAllValues
	operator string // operatorEquals or operatorLike
	key      string
	values   []string
}

// conditions parses a statement's Condition. An unsupported condition is an error, because ignoring it would grant more
// permissions than AWS grants.
func conditions(declared map[string]map[string][]string) ([]condition, error) {
	var all []condition
	for _, operator := range slices.Sorted(maps.Keys(declared)) {
		for _, key := range slices.Sorted(maps.Keys(declared[operator])) {
			c := condition{key: strings.ToLower(key), values: declared[operator][key]}
			c.operator, c.all = strings.CutPrefix(operator, setOfAll)
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("condition %s on %s: %w", operator, key, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (c condition) check() error {
	several, understood := isSet(c.key)
	switch {
	case !understood:
		return errors.New("this key is not understood")
	case !slices.Contains([]string{operatorEquals, operatorLike}, c.operator):
		return errors.New("this operator is not understood")
	case several != c.all:
		return errors.New("ForAllValues goes with keys that have several values, and only with them")
	case len(c.values) == 0:
		return errNoValue
	}
	for _, value := range c.values {
		if strings.Contains(value, "${") {
			return errVariable
		}
	}
	return nil
}

// isSet reports whether key can have several values in a request, and whether it is supported.
func isSet(key string) (several, understood bool) {
	switch key {
	case leadingKeys:
		return true, true
	case viaServiceKey, prefixKey:
		return false, true
	}
	return false, strings.HasPrefix(key, contextPrefix) && key != contextPrefix
}

// holds evaluates the condition against the request's values for the condition's key. If the request lacks the key,
// only ForAllValues conditions are satisfied, as in IAM.
func (c condition) holds(request map[string][]string) bool {
	got, present := request[c.key]
	if c.all {
		return !slices.ContainsFunc(got, func(v string) bool { return !c.accepts(v) })
	}
	return present && slices.ContainsFunc(got, c.accepts)
}

func (c condition) accepts(value string) bool {
	if c.operator == operatorLike {
		return slices.ContainsFunc(c.values, func(pattern string) bool { return matches(pattern, value) })
	}
	return slices.Contains(c.values, value)
}
