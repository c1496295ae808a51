package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// attribute is an attribute value in DynamoDB's wire format. Exactly one field is set.
type attribute struct {
	S, N       *string
	B          []byte
	BOOL, NULL *bool
	L          []json.RawMessage
	M          map[string]json.RawMessage
	SS, NS     []string
	BS         [][]byte
}

// folded converts a table row to plain JSON. Typed values are replaced with their content, and text that is itself JSON
// is expanded. Only the length of binary values and secrets is shown.
func folded(item map[string]json.RawMessage) map[string]any {
	plain := make(map[string]any, len(item))
	for name, value := range item {
		plain[name] = fold(value, isSecret(name))
	}
	return plain
}

func fold(raw json.RawMessage, secret bool) any {
	var a attribute
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil
	}
	switch {
	case a.S != nil:
		return foldText(*a.S, secret)
	case a.N != nil:
		return json.Number(*a.N)
	case a.B != nil:
		return binary(a.B)
	case a.BOOL != nil:
		return *a.BOOL
	case a.L != nil:
		return foldAll(a.L, func(element json.RawMessage) any { return fold(element, secret) })
	case a.M != nil:
		plain := make(map[string]any, len(a.M))
		for name, value := range a.M {
			plain[name] = fold(value, secret || isSecret(name))
		}
		return plain
	case a.SS != nil:
		return foldAll(a.SS, func(member string) any { return foldText(member, secret) })
	case a.NS != nil:
		return foldAll(a.NS, func(member string) any { return json.Number(member) })
	case a.BS != nil:
		return foldAll(a.BS, binary)
	default: // NULL value
		return nil
	}
}

func foldAll[T any](all []T, one func(T) any) []any {
	plain := make([]any, len(all))
	for i, element := range all {
		plain[i] = one(element)
	}
	return plain
}

// foldText expands text that is a JSON object or array, such as the lists that the service stores as text.
func foldText(text string, secret bool) any {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		var inner any
		if decoder.Decode(&inner) == nil && !decoder.More() {
			return cleaned(inner, secret)
		}
	}
	return shown(text, secret)
}

// cleaned hides secrets in decoded JSON.
func cleaned(value any, secret bool) any {
	switch value := value.(type) {
	case string:
		return shown(value, secret)
	case []any:
		return foldAll(value, func(element any) any { return cleaned(element, secret) })
	case map[string]any:
		for name, inner := range value {
			value[name] = cleaned(inner, secret || isSecret(name))
		}
		return value
	default:
		return value
	}
}

func shown(text string, secret bool) any {
	if secret {
		return map[string]string{"hidden": strconv.Itoa(utf8.RuneCountInString(text)) + " characters"}
	}
	return mask(text)
}

func binary(value []byte) any {
	return map[string]string{"binary": strconv.Itoa(len(value)) + " bytes"}
}
