package template

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Permissions reads a template that SAM has already transformed and returns the policy statements of each function's
// role, keyed by the function's logical ID. Permissions checks roles as strictly as Load does, but reads other
// resources only to resolve references.
func Permissions(file string, o Options) (map[string][]Statement, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the file is named by whoever runs the tests
	if err != nil {
		return nil, fmt.Errorf("read the transformed template: %w", err)
	}
	d, err := parse(text, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all, err := permissions(d, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

func permissions(d *document, o Options) (map[string][]Statement, error) {
	values, err := newResolver(d, o)
	if err != nil {
		return nil, err
	}
	present, err := presentResources(d, values, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	b := builder{values: values, template: &Template{}, roles: map[string]role{}, gateway: map[string]role{}}
	for _, r := range present {
		if r.kind != kindRole {
			continue
		}
		if err := b.add(r); err != nil {
			return nil, in(r.id, err)
		}
	}
	all := map[string][]Statement{}
	for _, r := range present {
		if r.kind != kindTransformed {
			continue
		}
		role, err := values.text(valueOf(r.properties, "Role"))
		if err != nil {
			return nil, in(r.id, err)
		}
		allowed, ok := b.roles[role]
		if !ok {
			return nil, in(r.id, refuse(r.line, "Role %q is not a role for Lambda of the template", role))
		}
		all[r.id] = allowed.statements
	}
	return all, nil
}

// valueOf returns a key's value in a mapping, or an empty scalar if the key is missing.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for _, e := range entries(n) {
		if e.key == key {
			return e.value
		}
	}
	return scalar("", 0)
}
