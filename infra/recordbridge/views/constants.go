package views

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"recordbridge/infra/recordbridge/fhirpath"
)

// constantTypes maps the names of a constant's value to FHIR types.
var constantTypes = map[string]string{
	"valueBase64Binary": "base64Binary", "valueBoolean": "boolean", "valueCanonical": "canonical", "valueCode": "code",
	"valueDate": "date", "valueDateTime": "dateTime", "valueDecimal": "decimal", "valueId": "id",
	"valueInstant": "instant", "valueInteger": "integer", "valueInteger64": "integer64", "valueOid": "oid",
	"valuePositiveInt": "positiveInt", "valueString": "string", "valueTime": "time", "valueUnsignedInt": "unsignedInt",
	"valueUri": "uri", "valueUrl": "url", "valueUuid": "uuid",
}

func parseConstants(definitions []map[string]json.RawMessage) (map[string]fhirpath.Node, error) {
	constants := map[string]fhirpath.Node{}
	for i, definition := range definitions {
		name, value, err := parseConstant(definition)
		if err != nil {
			return nil, fmt.Errorf("constant[%d]: %w", i, err)
		}
		if _, ok := constants[name]; ok {
			return nil, fmt.Errorf("constant[%d]: the view already has a constant %s", i, name)
		}
		constants[name] = value
	}
	return constants, nil
}

func parseConstant(definition map[string]json.RawMessage) (name string, node fhirpath.Node, err error) {
	for key, raw := range definition {
		if key == "name" {
			if err = json.Unmarshal(raw, &name); err != nil {
				return "", node, fmt.Errorf("the name isn't a string: %w", err)
			}
			continue
		}
		kind, ok := constantTypes[key]
		if !ok || node.Value != nil {
			return "", node, fmt.Errorf("%s isn't supported, or the constant has several values", key)
		}
		if node.Value, err = primitive(raw, kind); err != nil {
			return "", node, err
		}
		node.Type = kind
	}
	if !sqlName.MatchString(name) || node.Value == nil {
		return "", node, errors.New("a constant needs a name and a value")
	}
	return name, node, nil
}

// primitive decodes a primitive value and checks its JSON type.
func primitive(raw json.RawMessage, kind string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("the value isn't valid JSON: %w", err)
	}
	var fits bool
	switch value.(type) {
	case bool:
		fits = kind == "boolean"
	case json.Number:
		fits = kind == "decimal" || strings.HasPrefix(kind, "integer") || strings.HasSuffix(kind, "Int")
	case string:
		fits = kind != "boolean" && kind != "decimal" && kind != "integer" && !strings.HasSuffix(kind, "Int")
	}
	if !fits {
		return nil, fmt.Errorf("the value isn't a JSON value of type %s", kind)
	}
	return value, nil
}
