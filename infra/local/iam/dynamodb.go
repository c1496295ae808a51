package iam

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"recordbridge/infra/local/aws/itemjson"
	"recordbridge/infra/local/aws/wire"
)

// tableRequest holds the parts of a request that determine the required permissions. Keys and items are decoded only if
// a condition needs them.
type tableRequest struct {
	TableName                 string
	IndexName                 string
	ResourceArn               string
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues json.RawMessage
	Key, Item                 json.RawMessage
	// Each element has a single key: "Put", "Update", "Delete" or "ConditionCheck".
	TransactItems []map[string]tableRequest
	RequestItems  map[string]json.RawMessage
}

// tableNeeds returns the permissions that a DynamoDB request requires. A transaction requires the permissions of each
// of its operations. A batch requires the batch operation's permission for each of its tables.
func (a *Authority) tableNeeds(r *http.Request, c wire.Call, caller *role) ([]need, error) {
	var in tableRequest
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	switch c.Operation {
	case "TransactWriteItems":
		var needs []need
		for _, item := range in.TransactItems {
			for kind, part := range item {
				needs = append(needs, a.itemNeed(transactAction(kind), part, caller))
			}
		}
		return needs, nil
	case "BatchGetItem":
		var needs []need
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			n := need{action: "dynamodb:" + c.Operation, resource: arnOf("dynamodb", "table/", table)}
			if caller.conditional {
				n.keys = map[string][]string{leadingKeys: a.batchKeys(n.resource, in.RequestItems[table])}
			}
			needs = append(needs, n)
		}
		return needs, nil
	default:
		return []need{a.itemNeed("dynamodb:"+c.Operation, in, caller)}, nil
	}
}

// transactAction returns the permission required for a part of a transaction.
func transactAction(kind string) string {
	if kind == "ConditionCheck" {
		return "dynamodb:ConditionCheckItem"
	}
	return "dynamodb:" + kind + "Item"
}

func (a *Authority) itemNeed(action string, in tableRequest, caller *role) need {
	n := need{action: action, resource: "*"}
	switch {
	case in.TableName != "":
		n.resource = arnOf("dynamodb", "table/", in.TableName)
	case in.ResourceArn != "":
		n.resource = in.ResourceArn
	}
	if in.IndexName != "" {
		n.resource += "/index/" + in.IndexName
	}
	if !caller.conditional {
		return n
	}
	n.keys = map[string][]string{}
	hash := a.hashes[n.resource]
	for _, item := range []json.RawMessage{in.Key, in.Item} { // check both, although a request should have only one
		if item != nil {
			n.keys[leadingKeys] = append(n.keys[leadingKeys], keyOf(item, hash))
		}
	}
	if action == "dynamodb:Query" {
		n.keys[leadingKeys] = append(n.keys[leadingKeys], queryKey(in, hash))
	}
	return n
}

func (a *Authority) batchKeys(table string, part json.RawMessage) []string {
	var get struct{ Keys []json.RawMessage }
	if json.Unmarshal(part, &get) != nil {
		return []string{""} // a key that should not satisfy any condition
	}
	keys := make([]string, len(get.Keys))
	for i, key := range get.Keys {
		keys[i] = keyOf(key, a.hashes[table])
	}
	return keys
}

// keyOf returns the text of the attribute named hash in an encoded item. If the item lacks the attribute, keyOf returns
// "", which is not a valid key value.
func keyOf(item json.RawMessage, hash string) string {
	var found json.RawMessage
	if itemjson.Each(item, func(name, content []byte) {
		if string(name) == hash {
			found = content
		}
	}) {
		return textOf(found)
	}
	var attributes map[string]json.RawMessage
	if json.Unmarshal(item, &attributes) != nil {
		return ""
	}
	return textOf(attributes[hash])
}

// textOf returns the text of an encoded string, number or binary value, such as {"S": "text"}.
func textOf(encoded json.RawMessage) string {
	if kind, content, ok := itemjson.Scalar(encoded); ok && string(kind) != "BOOL" && string(kind) != "NULL" {
		return string(content)
	}
	var value map[string]string
	if json.Unmarshal(encoded, &value) != nil || len(value) != 1 {
		return ""
	}
	for _, text := range value {
		return text
	}
	return ""
}

// queryKey returns the value of the attribute named hash in a Query's key condition.
func queryKey(in tableRequest, hash string) string {
	var values map[string]json.RawMessage
	if in.ExpressionAttributeValues != nil && json.Unmarshal(in.ExpressionAttributeValues, &values) != nil {
		return ""
	}
	words := keyConditionWords(in.KeyConditionExpression)
	for i := 0; i+2 < len(words); i++ {
		name := words[i]
		if full, ok := in.ExpressionAttributeNames[name]; ok {
			name = full
		}
		if name == hash && words[i+1] == "=" {
			return textOf(values[words[i+2]])
		}
	}
	return ""
}

// keyConditionWords splits a key condition into names, values and operators. Parentheses and commas are treated as
// separators, because they can't affect the only equality that the grammar allows for a partition key.
func keyConditionWords(expression string) []string {
	spaced := strings.ReplaceAll(expression, "=", " = ")
	return strings.FieldsFunc(spaced, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == ')' || r == ',' })
}
