package ddb_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sample has one attribute of every type.
func sample() item {
	return item{
		"pk": str("a"), "sk": str("1"),
		"n": num("5"), "s": str("text"), "b": blob("\x00\xff"), "t": yes(true), "z": null(),
		"l":  list(num("0"), num("1"), num("2")),
		"m":  fields(item{"x": str("deep"), "l": list(fields(item{"y": num("1")}))}),
		"ss": strs("p", "q"), "ns": nums("1", "2"),
	}
}

func with(base item, changes item) item {
	for name, v := range changes {
		if base[name] = v; v == nil {
			delete(base, name)
		}
	}
	return base
}

type updateCase struct {
	expression string
	names      map[string]string
	values     item
	change     item   // against sample; a nil value is a removed attribute
	refused    string // part of the ValidationException's message
}

func TestUpdateExpressionsChangeWhatTheyName(t *testing.T) {
	t.Parallel()
	tests := map[string]updateCase{
		"set a new and an old attribute": {
			expression: "SET s = :s, fresh = :f", values: item{":s": str("new"), ":f": yes(false)},
			change: item{"s": str("new"), "fresh": yes(false)},
		},
		"arithmetic": {
			expression: "SET n = n + :one, m2 = :ten - n", values: item{":one": num("1"), ":ten": num("10")},
			change: item{"n": num("6"), "m2": num("5")},
		},
		"arithmetic keeps 38 digits": {
			expression: "SET n = n + :v", values: item{":v": num("12345678901234567890123456789012345678")},
			change: item{"n": num("12345678901234567890123456789012345683")},
		},
		"decimal fractions are exact": {
			expression: "SET n = :a + :b", values: item{":a": num("0.1"), ":b": num("0.2")},
			change: item{"n": num("0.3")},
		},
		"if_not_exists uses the old value": {
			expression: "SET n = if_not_exists(n, :zero) + :one", values: item{":zero": num("0"), ":one": num("1")},
			change: item{"n": num("6")},
		},
		"if_not_exists falls back": {
			expression: "SET hits = if_not_exists(hits, :zero) + :one", values: item{":zero": num("0"), ":one": num("1")},
			change: item{"hits": num("1")},
		},
		"list_append to an absent list": {
			expression: "SET trail = list_append(if_not_exists(trail, :none), :more)", values: item{":none": list(), ":more": list(str("x"))},
			change: item{"trail": list(str("x"))},
		},
		"a list element": {
			expression: "SET l[1] = :v", values: item{":v": str("one")},
			change: item{"l": list(num("0"), str("one"), num("2"))},
		},
		"elements beyond the end are appended in order": {
			expression: "SET l[9] = :nine, l[7] = :seven", values: item{":nine": num("9"), ":seven": num("7")},
			change: item{"l": list(num("0"), num("1"), num("2"), num("7"), num("9"))},
		},
		"nested names with placeholders": {
			expression: "SET #m.#l[0].#y = :v, #m.plain = :v", names: map[string]string{"#m": "m", "#l": "l", "#y": "y"}, values: item{":v": num("7")},
			change: item{"m": fields(item{"x": str("deep"), "plain": num("7"), "l": list(fields(item{"y": num("7")}))})},
		},
		"every clause sees the old item": {
			expression: "SET s = n, n = s", change: item{"s": num("5"), "n": str("text")},
		},
		"remove attributes and elements by their old positions": {
			expression: "REMOVE n, l[0], l[2], m.x, absent",
			change:     item{"n": nil, "l": list(num("1")), "m": fields(item{"l": list(fields(item{"y": num("1")}))})},
		},
		"add to a number and a set, create both": {
			expression: "ADD n :n, ss :set, fresh :n, freshset :set", values: item{":n": num("-2"), ":set": strs("q", "r")},
			change: item{"n": num("3"), "ss": strs("p", "q", "r"), "fresh": num("-2"), "freshset": strs("q", "r")},
		},
		"delete from a set, and the last member with it": {
			expression: "DELETE ss :p, ns :both, absent :p", values: item{":p": strs("p"), ":both": nums("1", "2")},
			change: item{"ss": strs("q"), "ns": nil},
		},
		"all sections, in any case": {
			expression: "remove z set s = :s Add n :n delete ss :p", values: item{":s": str("x"), ":n": num("1"), ":p": strs("p")},
			change: item{"z": nil, "s": str("x"), "n": num("6"), "ss": strs("q")},
		},
		"set with an absent attribute":       {expression: "SET s = absent", refused: "refers to an attribute that does not exist in the item"},
		"set below a missing map":            {expression: "SET absent.x = :v", values: item{":v": num("1")}, refused: "document path provided in the update expression is invalid"},
		"remove below a missing map":         {expression: "REMOVE absent.x", refused: "document path provided in the update expression is invalid"},
		"set a name in a list":               {expression: "SET l.x = :v", values: item{":v": num("1")}, refused: "document path provided in the update expression is invalid"},
		"add a number to a string":           {expression: "ADD s :v", values: item{":v": num("1")}, refused: "operand in the update expression has an incorrect data type"},
		"add text":                           {expression: "ADD n :v", values: item{":v": str("1")}, refused: "Incorrect operand type for operator or function; operator: ADD, operand type: STRING"},
		"delete a number":                    {expression: "DELETE n :v", values: item{":v": num("1")}, refused: "Incorrect operand type for operator or function; operator: DELETE"},
		"sum of texts":                       {expression: "SET s = s + :v", values: item{":v": num("1")}, refused: "operand in the update expression has an incorrect data type"},
		"sum with a literal text":            {expression: "SET n = n + :v", values: item{":v": str("1")}, refused: "operator or function: +, operand type: S"},
		"list_append of no list":             {expression: "SET l = list_append(l, :v)", values: item{":v": num("1")}, refused: "operator or function: list_append, operand type: N"},
		"if_not_exists without a path":       {expression: "SET n = if_not_exists(:v, :v)", values: item{":v": num("1")}, refused: "requires a document path"},
		"a condition's function":             {expression: "SET n = size(l)", refused: "function is not allowed in an update expression; function: size"},
		"an unknown function":                {expression: "SET n = twice(n)", refused: "Invalid function name; function: twice"},
		"overlapping paths":                  {expression: "SET m = :v, m.x = :v", values: item{":v": num("1")}, refused: "Two document paths overlap"},
		"conflicting paths":                  {expression: "SET m.x = :v, m[1] = :v", values: item{":v": num("1")}, refused: "Two document paths conflict"},
		"a section twice":                    {expression: "SET n = :v SET s = :v", values: item{":v": num("1")}, refused: "section can only be used once"},
		"a key attribute":                    {expression: "SET sk = :v", values: item{":v": str("1")}, refused: "Cannot update attribute sk. This attribute is part of the key"},
		"an index key of the wrong type":     {expression: "SET due = :v", values: item{":v": str("soon")}, refused: "Type mismatch for Index Key due Expected: N Actual: S"},
		"an empty index key":                 {expression: "SET org = :v", values: item{":v": str("")}, refused: "cannot contain an empty string value"},
		"an item that grows beyond 400 KB":   {expression: "SET s = :v", values: item{":v": str(longText(400 << 10))}, refused: "Item size to update has exceeded"},
		"an overflow":                        {expression: "SET n = :v + :v", values: item{":v": num("9E125")}, refused: "Number overflow"},
		"more than 38 digits":                {expression: "SET n = n + :v", values: item{":v": num("1E-38")}, refused: "38"},
		"a reserved word":                    {expression: "SET status = :v", values: item{":v": num("1")}, refused: "reserved keyword: status"},
		"an undefined value":                 {expression: "SET n = :w", values: item{":v": num("1")}, refused: "expression attribute value used in expression is not defined; attribute value: :w"},
		"an undefined name":                  {expression: "SET #n = :v", values: item{":v": num("1")}, refused: "expression attribute name used in the document path is not defined; attribute name: #n"},
		"an unused value":                    {expression: "SET n = :v", values: item{":v": num("1"), ":w": num("1")}, refused: "ExpressionAttributeValues unused in expressions: keys: {:w}"},
		"an unused name":                     {expression: "SET n = :v", names: map[string]string{"#x": "x"}, values: item{":v": num("1")}, refused: "ExpressionAttributeNames unused in expressions: keys: {#x}"},
		"a malformed placeholder":            {expression: "SET n = :v", names: map[string]string{"x": "x"}, values: item{":v": num("1")}, refused: "ExpressionAttributeNames contains invalid key"},
		"a missing operand":                  {expression: "SET n =", refused: "Syntax error; token: \"<EOF>\""},
		"a stray character":                  {expression: "SET n = @v", refused: "Syntax error; token: \"@\""},
		"a name with an underscore in front": {expression: "SET _n = :v", values: item{":v": num("1")}, refused: "Syntax error"},
		"an expression beyond 4 KB":          {expression: "SET n = " + longText(4096), refused: "Expression size has exceeded the maximum allowed size"},
		"only blanks":                        {expression: " ", refused: "Syntax error; token: \"<EOF>\""},
		"nothing":                            {expression: "", refused: "The expression can not be empty"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkUpdate(t, test)
		})
	}
}

func checkUpdate(t *testing.T, test updateCase) {
	t.Helper()
	client := newTable(t)
	put(t, client, sample())
	out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key("a", "1"), UpdateExpression: &test.expression,
		ExpressionAttributeNames: test.names, ExpressionAttributeValues: test.values, ReturnValues: types.ReturnValueAllNew,
	})
	if test.refused != "" {
		wantRefusal(t, err, "ValidationException", test.refused)
		wantItem(t, get(t, client, key("a", "1")), sample())
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := with(sample(), test.change)
	wantItem(t, out.Attributes, want)
	wantItem(t, get(t, client, key("a", "1")), want)
}

func TestAnUpdateOfNoItemCreatesOne(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key("a", "1"), UpdateExpression: aws.String("ADD n :v"),
		ExpressionAttributeValues: item{":v": num("1")},
	}); err != nil {
		t.Fatal(err)
	}
	wantItem(t, get(t, client, key("a", "1")), item{"pk": str("a"), "sk": str("1"), "n": num("1")})
}

func TestReturnValuesShowWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	tests := map[types.ReturnValue]item{
		types.ReturnValueNone:       nil,
		types.ReturnValueAllOld:     sample(),
		types.ReturnValueAllNew:     with(sample(), item{"n": num("6"), "z": nil, "m": fields(item{"x": num("5"), "l": list(fields(item{"y": num("1")}))})}),
		types.ReturnValueUpdatedOld: {"n": num("5"), "z": null(), "m": fields(item{"x": str("deep")})},
		types.ReturnValueUpdatedNew: {"n": num("6"), "m": fields(item{"x": num("5")})},
	}
	for returnValues, want := range tests {
		t.Run(string(returnValues), func(t *testing.T) {
			t.Parallel()
			client := newTable(t)
			put(t, client, sample())
			out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String(table), Key: key("a", "1"), UpdateExpression: aws.String("SET n = n + :one, m.x = n REMOVE z"),
				ExpressionAttributeValues: item{":one": num("1")}, ReturnValues: returnValues,
			})
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, out.Attributes, want)
		})
	}
}
