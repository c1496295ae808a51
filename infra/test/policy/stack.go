package policy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
)

// Stack is the complete template.yaml, including parts that template.Load omits because the runner does not need them.
// Only the template's Globals are resolved, because the rules check its text regardless of a deployment's parameters.
type Stack struct {
	Resources  []Resource        // in file order
	Parameters []string          // parameter names
	Defaults   map[string]string // default values by parameter name
}

// Resource is an entry in the Resources section. Values are strings (even for numbers and booleans), []any and
// map[string]any. An intrinsic function is a map whose single key is the function's long name.
type Resource struct {
	ID, Type, Condition string
	Properties          map[string]any
}

const (
	kindFunction   = "AWS::Serverless::Function"
	kindRole       = "AWS::IAM::Role"
	kindPermission = "AWS::Lambda::Permission"
	kindQueue      = "AWS::SQS::Queue"
	kindBucket     = "AWS::S3::Bucket"
	kindTable      = "AWS::DynamoDB::Table"
	kindKey        = "AWS::KMS::Key"
	kindAPI        = "AWS::Serverless::Api"
	kindParameter  = "AWS::SSM::Parameter"
	kindAlarm      = "AWS::CloudWatch::Alarm"
	kindDashboard  = "AWS::CloudWatch::Dashboard"
)

// ParseStack parses a template.
func ParseStack(text []byte) (*Stack, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, errors.New("the template is empty")
	}
	root := document.Content[0]
	globals := fields(at(plain(root), "Globals", "Function"))
	s := &Stack{}
	for id, n := range pairs(child(root, "Parameters")) {
		s.Parameters = append(s.Parameters, id)
		if s.Defaults == nil {
			s.Defaults = map[string]string{}
		}
		s.Defaults[id] = scalar(at(plain(n), "Default"))
	}
	for id, n := range pairs(child(root, "Resources")) {
		v := plain(n)
		r := Resource{
			ID: id, Type: scalar(at(v, "Type")), Condition: scalar(at(v, "Condition")),
		}
		r.Properties = maps.Clone(fields(at(v, "Properties")))
		if r.Type == kindFunction {
			r.Properties = maps.Clone(globals)
			maps.Copy(r.Properties, fields(at(v, "Properties")))
		}
		s.Resources = append(s.Resources, r)
	}
	return s, nil
}

// pairs iterates over a YAML mapping in file order.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// child returns the value of key in a YAML mapping, or nil if the key is missing.
func child(n *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(n) {
		if k == key {
			return v
		}
	}
	return nil
}

// plain converts a YAML node to strings, lists and maps, with intrinsic functions in long form.
func plain(n *yaml.Node) any {
	var value any
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(n.Content[0])
	case yaml.AliasNode:
		return plain(n.Alias)
	case yaml.SequenceNode:
		items := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			items = append(items, plain(c))
		}
		value = items
	case yaml.MappingNode:
		keys := map[string]any{}
		for k, v := range pairs(n) {
			keys[k] = plain(v)
		}
		value = keys
	case yaml.ScalarNode:
		value = n.Value
	}
	name, short := strings.CutPrefix(n.Tag, "!")
	switch {
	case !short || strings.HasPrefix(name, "!"):
		return value
	case name == "Ref" || name == "Condition":
		return map[string]any{name: value}
	}
	return map[string]any{"Fn::" + name: value}
}

func (s *Stack) of(kind string) []Resource {
	return slices.DeleteFunc(slices.Clone(s.Resources), func(r Resource) bool { return r.Type != kind })
}

// at returns the value at a path of keys, or nil if the path does not exist.
func at(v any, keys ...string) any {
	for _, k := range keys {
		v = fields(v)[k]
	}
	return v
}

// functions returns the functions in the template, before or after SAM's transform.
func (s *Stack) functions() []Resource {
	return append(s.of(kindFunction), s.of("AWS::Lambda::Function")...)
}

// fields returns v as a mapping, or an empty mapping if v is not a mapping.
func fields(v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return m
}

// scalar returns v as a string, or "" if v is not a string.
func scalar(v any) string {
	s, _ := v.(string)
	return s
}

// list returns v's items if v is a list, no items if v is nil, and v as the only item otherwise.
func list(v any) []any {
	if v == nil {
		return nil
	}
	if items, ok := v.([]any); ok {
		return items
	}
	return []any{v}
}

// short formats a value on a single line, as in Fn::Sub: ${Table.Arn}, ${Table}, or the text itself.
func short(v any) string {
	m := fields(v)
	switch {
	case m["Ref"] != nil:
		return "${" + scalar(m["Ref"]) + "}"
	case m["Fn::GetAtt"] != nil:
		parts := make([]string, 0, 2)
		for _, p := range list(m["Fn::GetAtt"]) {
			parts = append(parts, scalar(p))
		}
		return "${" + strings.Join(parts, ".") + "}"
	case m["Fn::Sub"] != nil:
		return scalar(list(m["Fn::Sub"])[0])
	case len(m) > 0:
		return fmt.Sprint(v)
	}
	return scalar(v)
}

// shorts applies short to every item and to both alternatives of an Fn::If.
func shorts(v any) []string {
	all := make([]string, 0, len(list(v)))
	for _, item := range list(v) {
		if choice := list(at(item, "Fn::If")); len(choice) == 3 {
			all = append(all, shorts(choice[1:])...)
		} else if at(item, "Ref") != "AWS::NoValue" {
			all = append(all, short(item))
		}
	}
	return all
}

var substitution = regexp.MustCompile(`\$\{([A-Za-z0-9:]+)[^}]*\}`)

// references returns the logical IDs and parameter names that a value references, at any depth.
func references(v any) []string {
	var ids []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			ids = append(ids, references(item)...)
		}
	case map[string]any:
		for _, m := range substitution.FindAllStringSubmatch(short(v), -1) {
			ids = append(ids, m[1])
		}
		for _, item := range v {
			ids = append(ids, references(item)...)
		}
	}
	return ids
}

// Transformed reports differences between the template's permissions and the permissions after SAM's transform, which
// are the deployed permissions. file contains the transformed template.
func Transformed(functions []template.Function, file string, o template.Options) ([]Finding, error) {
	allowed, err := template.Permissions(file, o)
	if err != nil {
		return nil, fmt.Errorf("read what functions may do: %w", err)
	}
	var found findings
	for _, f := range functions {
		if got, known := allowed[f.LogicalID]; !known || !reflect.DeepEqual(got, f.Statements) {
			found.addf(f.LogicalID, "may do something else after SAM's transform: %v", got)
		}
		delete(allowed, f.LogicalID)
	}
	for id := range allowed {
		found.addf(id, "is a function that SAM adds")
	}
	return found.sorted(), nil
}
