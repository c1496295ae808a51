package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	recordText = regexp.MustCompile(`(?ms)^export interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}`)
	memberText = regexp.MustCompile(`(?m)^  (\w+)\??:`)
)

// Records reports members of the dashboard's TypeScript interfaces that are missing from the API description. An
// interface is compared with the schema of the same name. If an interface has no such schema, one object in the
// description must contain all of its members.
func Records(interfaces, description []byte) []Finding {
	const where = "shared/ui/dashboard/api/records.ts"
	var found findings
	var api objects
	if err := yaml.Unmarshal(description, &api.document); err != nil {
		found.addf(where, "read the API's description: %v", err)
		return found
	}
	api.collect(api.document)
	read := map[string][]string{}
	for _, record := range recordText.FindAllStringSubmatch(string(interfaces), -1) {
		name, parent, body := record[1], record[2], record[3]
		members := slices.Clone(read[parent])
		for _, member := range memberText.FindAllStringSubmatch(body, -1) {
			members = append(members, member[1])
		}
		read[name] = members
		candidates := api.all
		if schema := api.at("components", "schemas", name); schema != nil {
			candidates = [][]string{slices.Collect(maps.Keys(api.members(schema)))}
		}
		if lacks := fewestMissing(members, candidates); len(lacks) > 0 {
			found.addf(where, "%s has %q, which the API does not answer", name, lacks)
		}
	}
	if len(read) == 0 {
		found.addf(where, "there is no interface")
	}
	return found.sorted()
}

// objects holds the objects in an API description.
type objects struct {
	document map[string]any
	all      [][]string // each object's member names
}

// at returns the value at a path of keys in the description, or nil if the path does not exist.
func (o *objects) at(path ...string) map[string]any {
	found := o.document
	for _, key := range path {
		found, _ = found[key].(map[string]any)
	}
	return found
}

// members returns an object's properties by name, each with every schema that describes the property. members resolves
// references, allOf parts and array items.
func (o *objects) members(schemas ...map[string]any) map[string][]map[string]any {
	all := map[string][]map[string]any{}
	for _, schema := range schemas {
		schema = o.element(schema)
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			inner, _ := property.(map[string]any)
			all[name] = append(all[name], inner)
		}
		parts, _ := schema["allOf"].([]any)
		for _, part := range parts {
			inner, _ := part.(map[string]any)
			for name, found := range o.members(inner) {
				all[name] = append(all[name], found...)
			}
		}
	}
	return all
}

// element returns the object schema that a schema resolves to through references and array items.
func (o *objects) element(schema map[string]any) map[string]any {
	for {
		items, isArray := schema["items"].(map[string]any)
		ref, isElsewhere := schema["$ref"].(string)
		switch {
		case isArray:
			schema = items
		case isElsewhere:
			schema = o.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		default:
			return schema
		}
	}
}

// collect appends the member names of every object in value, at any depth, to o.all.
func (o *objects) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		o.gather(o.members(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			o.collect(value[key])
		}
	case []any:
		for _, one := range value {
			o.collect(one)
		}
	}
}

// gather adds an object and every nested object that several schemas describe.
func (o *objects) gather(members map[string][]map[string]any) {
	names := slices.Sorted(maps.Keys(members))
	o.all = append(o.all, names)
	for _, name := range names {
		if len(members[name]) > 1 {
			o.gather(o.members(members[name]...))
		}
	}
}

// fewestMissing returns the members that the best-matching candidate lacks.
func fewestMissing(members []string, candidates [][]string) []string {
	best := members
	for _, candidate := range candidates {
		lacks := slices.DeleteFunc(slices.Clone(members), func(one string) bool { return slices.Contains(candidate, one) })
		if len(lacks) < len(best) {
			best = lacks
		}
	}
	return best
}
