package main

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/webhook"
)

const source = "../../docs"

// written returns the documents by name.
func written(t *testing.T) map[string]map[string]any {
	t.Helper()
	described, err := readDescription(source)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]map[string]any{}
	for _, p := range parts() {
		document, err := p.document(described)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		documents[p.name] = read(t, document)
	}
	return documents
}

func read(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func TestDocumentsHaveEveryOperationOnce(t *testing.T) {
	t.Parallel()
	var found []string
	documents := written(t)
	for _, document := range documents {
		for _, o := range operations(document) {
			found = append(found, o.id)
		}
	}
	described, err := readDescription(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operations(read(t, described.api)) {
		want := 1
		if slices.Contains([]any{"widget", "sandbox"}, o.tag) { // pages, files and the simulated portal
			want = 0
		}
		got := len(slices.DeleteFunc(slices.Clone(found), func(id string) bool { return id != o.id }))
		if got != want {
			t.Errorf("%s is in %d documents, want %d", o.id, got, want)
		}
	}
	if n := len(operations(documents["backend"])); n < 9 || n > 15 {
		t.Errorf("the backend's document has %d operations", n)
	}
}

func TestDocumentsNameEveryObject(t *testing.T) {
	t.Parallel()
	for name, document := range written(t) {
		schemas := dig(document, "components", "schemas")
		var visit func(at string, value any, named bool)
		visit = func(at string, value any, named bool) {
			switch value := value.(type) {
			case map[string]any:
				if !named && value["properties"] != nil {
					t.Errorf("%s: %s has no name", name, at)
				}
				if value["allOf"] != nil || value["anyOf"] != nil || value["not"] != nil {
					t.Errorf("%s: %s is combined of several schemas", name, at)
				}
				for key, part := range value {
					if key != "example" && key != "examples" {
						visit(at+"/"+key, part, false)
					}
				}
			case []any:
				for _, part := range value {
					visit(at, part, false)
				}
			}
		}
		for schema, value := range schemas {
			visit(schema, value, true)
		}
		visit("paths", document["paths"], false)
		visit("responses", dig(document, "components")["responses"], false)
	}
}

func TestDocumentsHaveNoDanglingOrUnusedComponent(t *testing.T) {
	t.Parallel()
	for name, document := range written(t) {
		used := map[string]bool{}
		var visit func(value any)
		visit = func(value any) {
			switch value := value.(type) {
			case map[string]any:
				if to, isReference := value["$ref"].(string); isReference {
					used[to] = true
				}
				for _, part := range value {
					visit(part)
				}
			case []any:
				for _, part := range value {
					visit(part)
				}
			}
		}
		visit(document)
		for kind, members := range dig(document, "components") {
			for member := range members.(map[string]any) {
				at := "#/components/" + kind + "/" + member
				if kind != "securitySchemes" && !used[at] {
					t.Errorf("%s: nothing refers to %s", name, at)
				}
				delete(used, at)
			}
		}
		for at := range used {
			t.Errorf("%s: %s doesn't exist", name, at)
		}
	}
}

func TestConnectionHasDiscriminatedVariants(t *testing.T) {
	t.Parallel()
	schemas := dig(written(t)["backend"], "components", "schemas")
	connection := dig(schemas, "Connection")
	if got := dig(connection, "discriminator")["propertyName"]; got != "kind" {
		t.Errorf("the discriminator is %v", got)
	}
	variants, _ := connection["oneOf"].([]any)
	for _, variant := range variants {
		name := strings.TrimPrefix(variant.(map[string]any)["$ref"].(string), "#/components/schemas/")
		properties := dig(schemas, name, "properties")
		if properties["org_connection_id"] == nil || dig(properties, "kind")["enum"] == nil {
			t.Errorf("%s lacks the fields of a connection", name)
		}
	}
	if len(variants) != 2 {
		t.Errorf("%d variants", len(variants))
	}
}

func TestEventHasVariantForEachType(t *testing.T) {
	t.Parallel()
	schemas := dig(written(t)["backend"], "components", "schemas")
	byType := dig(schemas, "Event", "discriminator", "mapping")
	for _, kind := range webhook.Catalogue() {
		to, _ := byType[string(kind.Type)].(string)
		properties := dig(schemas, strings.TrimPrefix(to, "#/components/schemas/"), "properties")
		if !slices.Equal(dig(properties, "type")["enum"].([]any), []any{string(kind.Type)}) {
			t.Errorf("%s has no variant", kind.Type)
		}
		data := strings.TrimPrefix(dig(properties, "data")["$ref"].(string), "#/components/schemas/")
		if dig(schemas, data, "properties") == nil {
			t.Errorf("%s: the data has no properties", kind.Type)
		}
	}
}

type operation struct {
	id  string
	tag any
}

// operations returns the document's operations, with the first tag of each.
func operations(document map[string]any) []operation {
	var all []operation
	for _, item := range dig(document, "paths") {
		for _, o := range item.(map[string]any) {
			if described, isOperation := o.(map[string]any); isOperation && described["operationId"] != nil {
				all = append(all, operation{described["operationId"].(string), described["tags"].([]any)[0]})
			}
		}
	}
	return all
}

func dig(value map[string]any, path ...string) map[string]any {
	for _, key := range path {
		value, _ = value[key].(map[string]any)
	}
	return value
}
