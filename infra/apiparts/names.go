package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nameSchemas moves every object that is declared within another schema, a request or a response to a component of its
// own, so generators don't invent names. The name is that of the operation or schema, followed by the property's.
func (d document) nameSchemas() error {
	schemas := get(d.root, "components", "schemas")
	for _, name := range keys(schemas) {
		if err := d.nameParts(get(schemas, name), name); err != nil {
			return err
		}
	}
	return d.eachContent(func(media *yaml.Node, name string) error {
		moved, err := d.move(get(media, "schema"), name)
		if err == nil && moved != nil {
			set(media, "schema", moved)
		}
		return err
	})
}

// nameParts names the objects among a schema's properties, items and values.
func (d document) nameParts(schema *yaml.Node, name string) error {
	properties := get(schema, "properties")
	for _, property := range keys(properties) {
		moved, err := d.move(get(properties, property), name+camel(property))
		if err != nil {
			return err
		}
		if moved != nil {
			set(properties, property, moved)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		moved, err := d.move(get(schema, keyword), singular(name))
		if err != nil {
			return err
		}
		if moved != nil {
			set(schema, keyword, moved)
		}
	}
	return nil
}

// move makes an object schema a component and returns a reference to it. It returns nil for any other schema, whose
// parts it names.
func (d document) move(schema *yaml.Node, name string) (*yaml.Node, error) {
	if schema == nil || schema.Kind != yaml.MappingNode || get(schema, "$ref") != nil {
		return nil, nil
	}
	if err := d.nameParts(schema, name); err != nil {
		return nil, err
	}
	if get(schema, "properties") == nil && get(schema, "oneOf") == nil {
		return nil, nil
	}
	schemas := get(d.root, "components", "schemas")
	if get(schemas, name) != nil {
		return nil, fmt.Errorf("two schemas are named %s", name)
	}
	set(schemas, name, schema)
	return reference(name), nil
}

func camel(property string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(property, "_") {
		if word != "" {
			name.WriteString(capital(word))
		}
	}
	return name.String()
}

// singular returns the name of a list's element.
func singular(list string) string {
	switch {
	case strings.HasSuffix(list, "ies"):
		return strings.TrimSuffix(list, "ies") + "y"
	case strings.HasSuffix(list, "s") && !strings.HasSuffix(list, "ss"):
		return strings.TrimSuffix(list, "s")
	}
	return list + "Item"
}
