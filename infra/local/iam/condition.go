package iam

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The condition keys that are understood, in lower case as their names are compared.
const (
	leadingKeys       = "dynamodb:leadingkeys"
	selectKey         = "dynamodb:select"
	contextKeys       = "kms:encryptioncontextkeys"
	contextPrefix     = "kms:encryptioncontext:" // and the name of the pair
	viaServiceKey     = "kms:viaservice"
	prefixKey         = "s3:prefix"
	secureTransport   = "aws:securetransport"
	setOfAll          = "ForAllValues:"
	setOfAny          = "ForAnyValue:"
	operatorEquals    = "StringEquals"
	operatorNotEquals = "StringNotEquals"
	operatorLike      = "StringLike"
	operatorBool      = "Bool"
	operatorNull      = "Null"
)

var (
	errVariable = errors.New("policy variables are not understood")
	errNoValue  = errors.New("a condition needs a value")
	errTruth    = errors.New("the value is true or false")
)

// condition is one key under one operator of a statement.
type condition struct {
	set      string // setOfAll, setOfAny or ""
	operator string
	key      string
	values   []string
}

// conditions reads the Condition of a statement. What it does not understand it refuses, since a condition that is
// passed over would grant more than AWS does.
func conditions(declared map[string]map[string][]string) ([]condition, error) {
	var all []condition
	for _, operator := range slices.Sorted(maps.Keys(declared)) {
		for _, key := range slices.Sorted(maps.Keys(declared[operator])) {
			c := condition{operator: operator, key: strings.ToLower(key), values: declared[operator][key]}
			for _, set := range []string{setOfAll, setOfAny} {
				if rest, found := strings.CutPrefix(operator, set); found {
					c.set, c.operator = set, rest
				}
			}
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
	case !slices.Contains([]string{operatorEquals, operatorNotEquals, operatorLike, operatorBool, operatorNull}, c.operator):
		return errors.New("this operator is not understood")
	case c.operator == operatorNull || c.operator == operatorBool:
		if c.set != "" || !slices.Equal(c.values, []string{"true"}) && !slices.Equal(c.values, []string{"false"}) {
			return errTruth
		}
		return nil
	case several != (c.set != ""):
		return errors.New("ForAllValues and ForAnyValue go with keys that have several values, and only with them")
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

// isSet tells whether a key has several values in one request, and whether it is understood at all.
func isSet(key string) (several, understood bool) {
	switch key {
	case leadingKeys, contextKeys:
		return true, true
	case selectKey, viaServiceKey, prefixKey, secureTransport:
		return false, true
	}
	return false, strings.HasPrefix(key, contextPrefix) && key != contextPrefix
}

// holds decides by the values that a request has for the keys. A key that the request does not have satisfies
// ForAllValues and StringNotEquals, as in IAM, and nothing else.
func (c condition) holds(request map[string][]string) bool {
	got, present := request[c.key]
	if c.key == secureTransport {
		got, present = []string{"true"}, true // plain HTTP is the point of a laptop
	}
	switch {
	case c.operator == operatorNull:
		return (c.values[0] == "true") != present
	case !present:
		return c.set == setOfAll || c.operator == operatorNotEquals && c.set == ""
	case c.set == setOfAll:
		return !slices.ContainsFunc(got, func(v string) bool { return !c.accepts(v) })
	default:
		return slices.ContainsFunc(got, c.accepts)
	}
}

// accepts compares one value of the request.
func (c condition) accepts(value string) bool {
	switch c.operator {
	case operatorLike:
		return slices.ContainsFunc(c.values, func(pattern string) bool { return matches(pattern, value) })
	case operatorNotEquals:
		return !slices.Contains(c.values, value)
	default:
		return slices.Contains(c.values, value)
	}
}
