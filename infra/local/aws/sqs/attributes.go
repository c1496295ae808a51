package sqs

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxAttributes    = 10
	maxAttributeName = 256
	maxAttributeType = 256
	maxNumberDigits  = 38
	largestNumber    = 1e126
	smallestNumber   = 1e-128
)

var (
	attributeName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reservedName  = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
	numberValue   = regexp.MustCompile(`^[+-]?([0-9]+)(?:\.([0-9]*))?(?:[eE][+-]?[0-9]+)?$`)
)

// attribute is a MessageAttributeValue of the API.
type attribute struct {
	DataType    string  `json:"DataType"`
	StringValue *string `json:"StringValue,omitempty"`
	BinaryValue []byte  `json:"BinaryValue,omitempty"`
}

// checkMessageAttributes holds message attributes against the rules of ReceiveMessage (for names) and of the developer guide's
// "Amazon SQS message metadata" (for types and values).
func checkMessageAttributes(attributes map[string]attribute) error {
	if len(attributes) > maxAttributes {
		return wire.Fail("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [%d].", len(attributes), maxAttributes)
	}
	for name, value := range attributes {
		switch {
		case len(name) > maxAttributeName:
			return wire.Fail("InvalidParameterValue", "Message (user) attribute names must be shorter than 256 Bytes")
		case !attributeName.MatchString(name):
			return wire.Fail("InvalidParameterValue", "Message (user) attributes name can only contain upper and lower score characters, digits, periods, hyphens and underscores.")
		case reservedName.MatchString(name):
			return wire.Fail("InvalidParameterValue", "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. These strings are reserved for internal use.")
		}
		if err := value.check(name); err != nil {
			return err
		}
	}
	return nil
}

func (a attribute) check(name string) error {
	kind, _, _ := strings.Cut(a.DataType, ".")
	if len(a.DataType) > maxAttributeType || (kind != "String" && kind != "Number" && kind != "Binary") {
		return wire.Fail("InvalidParameterValue", "The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
	}
	if kind == "Binary" {
		if len(a.BinaryValue) == 0 || a.StringValue != nil {
			return a.noValue(name)
		}
		return nil
	}
	if a.StringValue == nil || *a.StringValue == "" || a.BinaryValue != nil {
		return a.noValue(name)
	}
	if strings.ContainsFunc(*a.StringValue, forbidden) {
		return wire.Fail("InvalidParameterValue", "%s", invalidCharacters)
	}
	if kind == "Number" && !isNumber(*a.StringValue) {
		return wire.Fail("InvalidParameterValue", "Can't cast the value of message (user) attribute '%s' to a number.", name)
	}
	return nil
}

func (a attribute) noValue(name string) error {
	return wire.Fail("InvalidParameterValue", "Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, a.DataType)
}

func isNumber(text string) bool {
	parts := numberValue.FindStringSubmatch(text)
	if parts == nil || len(strings.Trim(parts[1]+parts[2], "0")) > maxNumberDigits {
		return false
	}
	value, err := strconv.ParseFloat(text, 64)
	value = math.Abs(value)
	return err == nil && (value == 0 || (value >= smallestNumber && value <= largestNumber))
}
