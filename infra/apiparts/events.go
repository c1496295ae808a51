package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// addEvents replaces the schema Event with one variant per event type, from the messages of the AsyncAPI document. The
// type of an event is the discriminator.
func (d document) addEvents(source []byte) error {
	var file yaml.Node
	if err := yaml.Unmarshal(source, &file); err != nil {
		return fmt.Errorf("read the events' description: %w", err)
	}
	described := get(file.Content[0], "components", "schemas")
	schemas := get(d.root, "components", "schemas")
	envelope := get(described, "Envelope")
	variants, byType := &yaml.Node{Kind: yaml.SequenceNode}, mapping()
	for _, message := range values(get(file.Content[0], "components", "messages")) {
		data := get(message, "payload", "allOf").Content[1]
		name := strings.TrimPrefix(text(data, "properties", "data", "$ref"), schemasPrefix)
		event := clone(envelope)
		set(event, "description", clone(get(message, "summary")))
		set(get(event, "properties"), "type", constant(text(message, "name")))
		set(get(event, "properties"), "data", reference(name+"Data"))
		set(schemas, name+"Event", event)
		set(schemas, name+"Data", plain(clone(get(described, name))))
		variants.Content = append(variants.Content, reference(name+"Event"))
		set(byType, text(message, "name"), scalar(schemasPrefix+name+"Event"))
	}
	set(schemas, "Event", mapping(
		scalar("description"), scalar("An event, as webhooks receive it."),
		scalar("oneOf"), variants,
		scalar("discriminator"), mapping(scalar("propertyName"), scalar("type"), scalar("mapping"), byType),
	))
	return nil
}

// plain rewrites the keywords of JSON Schema that OpenAPI 3.0 lacks, and returns the schema.
func plain(schema *yaml.Node) *yaml.Node {
	if schema.Kind == yaml.MappingNode {
		remove(schema, "if", "then", "else")
		if value := get(schema, "const"); value != nil {
			remove(schema, "const")
			set(schema, "enum", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}})
		}
	}
	for _, child := range schema.Content {
		plain(child)
	}
	return schema
}

func constant(value string) *yaml.Node {
	return mapping(scalar("type"), scalar("string"),
		scalar("enum"), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{scalar(value)}})
}
