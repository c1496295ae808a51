package ddb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func longText(length int) string { return strings.Repeat("x", length) }

// conditionValues are all the values that the tests of conditions use; each request sends those that it names.
func conditionValues() item {
	return item{
		":0": num("0"), ":1": num("1"), ":2": num("2"), ":3": num("3"), ":5": num("5"), ":9": num("9"),
		":te": str("te"), ":text": str("text"), ":zz": str("zz"), ":a": str("a"), ":p": str("p"), ":deep": str("deep"),
		":S": str("S"), ":M": str("M"), ":BAD": str("STRING"), ":true": yes(true), ":list": list(num("0"), num("1"), num("2")),
		":qp": strs("q", "p"),
	}
}

func TestConditionsHoldAsOnAWS(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"attribute_exists(pk)":         true,
		"attribute_exists(absent)":     false,
		"attribute_exists(m.l[0].y)":   true,
		"attribute_exists(m.l[1])":     false,
		"attribute_not_exists(absent)": true,
		"attribute_not_exists(l[2])":   false,
		"attribute_type(s, :S)":        true,
		"attribute_type(m, :S)":        false,
		"attribute_type(m, :M)":        true,
		"begins_with(s, :te)":          true,
		"begins_with(s, :zz)":          false,
		"begins_with(n, :te)":          false,
		"contains(s, :te)":             true,
		"contains(ss, :p)":             true,
		"contains(ss, :zz)":            false,
		"contains(ns, :2)":             true,
		"contains(ns, :p)":             false,
		"contains(l, :2)":              true,
		"contains(l, :9)":              false,
		"size(s) > :3":                 true,
		"size(l) = :3":                 true,
		"size(m) = :2":                 true,
		"size(ss) = :2":                true,
		"size(b) = :2":                 true,
		"size(n) > :0":                 false,
		"size(absent) = :0":            false,
		"n = :5":                       true,
		"n = :text":                    false,
		"n <> :5":                      false,
		"n <> :text":                   true,
		"absent <> :5":                 true,
		"absent = :5":                  false,
		"absent < :5":                  false,
		"n < :9 AND n > :1":            true,
		"n <= :5 AND n >= :5":          true,
		"s < :zz":                      true,
		"n < :zz":                      false,
		":9 > n":                       true,
		"n BETWEEN :1 AND :5":          true,
		"n BETWEEN :1 AND :2":          false,
		"s BETWEEN :a AND :zz AND n BETWEEN :1 AND :9": true,
		"n IN (:1, :5)":                    true,
		"n IN (:1, :2)":                    false,
		"absent IN (:1)":                   false,
		"m.x = :deep":                      true,
		"m.l[0].y = l[1]":                  true,
		"t = :true":                        true,
		"l = :list":                        true,
		"ss = :qp":                         true,
		"NOT n = :5":                       false,
		"NOT (n = :5 AND s = :zz)":         true,
		"n = :1 OR n = :5 AND s = :zz":     false,
		"(n = :5 OR n = :1) AND s = :text": true,
		"n = :5 OR n = :1 AND s = :zz":     true,
		"(n) = (:5)":                       true,
		"not attribute_exists(absent) and (s = :text or n = :1)": true,
	}
	client := newTable(t)
	put(t, client, sample())
	for expression, want := range tests {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			err := check(t, client, expression)
			if want && err != nil {
				t.Fatalf("got %v, want the condition to hold", err)
			}
			if !want {
				wantRefusal(t, err, "ConditionalCheckFailedException", "The conditional request failed")
			}
		})
	}
}

func TestMalformedConditionsAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"n":                                    "Syntax error; token: \"<EOF>\"",
		"n = ":                                 "Syntax error",
		"n = :5 AND":                           "Syntax error",
		"AND n = :5":                           "Invalid ConditionExpression",
		"n = :5 :5":                            "Syntax error",
		"n == :5":                              "Syntax error",
		"(n = :5":                              "Syntax error",
		"((n = :5))":                           "The expression has redundant parentheses",
		"NOT n":                                "Syntax error",
		"n AND s":                              "Syntax error",
		"(n = :5) = :5":                        "Syntax error",
		"n.1 = :5":                             "Syntax error",
		"l[x] = :5":                            "Syntax error",
		"l[] = :5":                             "Syntax error",
		"name = :5":                            "reserved keyword: name",
		"m.Values = :5":                        "reserved keyword: Values",
		"n = n":                                "The first operand must be distinct from the remaining operands",
		"n BETWEEN :5 AND :1":                  "requires upper bound to be greater than or equal to lower bound",
		"n BETWEEN :1 AND :zz":                 "requires same data type for lower and upper bounds",
		"n < :true":                            "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
		"n IN ()":                              "Syntax error",
		"attribute_exists(:5)":                 "Operator or function requires a document path; operator or function: attribute_exists",
		"attribute_exists(n, s)":               "Incorrect number of operands",
		"begins_with(s)":                       "Incorrect number of operands",
		"begins_with(s, :5)":                   "operator or function: begins_with, operand type: N",
		"attribute_type(s, :BAD)":              "Invalid attribute type name found; type: STRING",
		"attribute_type(s, :5)":                "operator or function: attribute_type, operand type: N",
		"ATTRIBUTE_EXISTS(n)":                  "Invalid function name; function: ATTRIBUTE_EXISTS",
		"list_append(l, :list)":                "function is not allowed in a condition expression",
		"size(n)":                              "Invalid ConditionExpression",
		"attribute_exists(n) = :true":          "Invalid ConditionExpression",
		strings.Repeat("NOT ", 301) + "n = :5": "too many operators",
		strings.Repeat("(n = :5 AND ", 100):    "Syntax error",
		"n IN (" + strings.Repeat(":5,", 100) + ":5)": "too many operands",
	}
	client := newTable(t)
	put(t, client, sample())
	for expression, message := range tests {
		t.Run(expression[:min(len(expression), 40)], func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, check(t, client, expression), "ValidationException", message)
		})
	}
}

// check makes an update that changes nothing on a condition about sample.
func check(t *testing.T, client *dynamodb.Client, expression string) error {
	t.Helper()
	values := item{}
	for name, v := range conditionValues() {
		for _, end := range []string{" ", ")", ","} {
			if strings.Contains(expression+" ", name+end) {
				values[name] = v
			}
		}
	}
	if len(values) == 0 {
		values = nil
	}
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key("a", "1"), ConditionExpression: &expression, ExpressionAttributeValues: values,
	})
	return err
}

func TestAFailedConditionShowsTheOldItemWhenAsked(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, sample())
	for asked, want := range map[types.ReturnValuesOnConditionCheckFailure]item{
		types.ReturnValuesOnConditionCheckFailureAllOld: sample(),
		types.ReturnValuesOnConditionCheckFailureNone:   nil,
	} {
		t.Run(string(asked), func(t *testing.T) {
			t.Parallel()
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String(table), Item: key("a", "1"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
				ReturnValuesOnConditionCheckFailure: asked,
			})
			wantRefusal(t, err, "ConditionalCheckFailedException", "The conditional request failed")
			wantItem(t, failedItem(t, err), want)
		})
	}
}

func failedItem(t *testing.T, err error) item {
	t.Helper()
	failure, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		t.Fatalf("got %v, want a failed condition", err)
	}
	return failure.Item
}
