// Package template reads template.yaml, the SAM template that is the only description of the system. The package
// resolves the template's parameters, conditions, Globals, intrinsic functions and physical names for one stack. The
// package is strict, so that a local stack can't silently differ from the deployed one. An unsupported resource type,
// property, event type or function is an error that states the line.
//
// The package only describes resources; provision, gateway and the runner create and run them. The package does not
// check the project's own rules (infra/test/policy). The package rejects only templates that AWS would refuse to deploy
// or that a local stack would silently treat differently.
package template

import (
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Options holds the inputs of a deployment, apart from the template file.
type Options struct {
	// Parameters overrides the defaults in the Parameters section. A CommaDelimitedList has the form "a,b". Load
	// returns an error for an undeclared parameter.
	Parameters map[string]string
	// BaseURL is the URL of the embedded AWS, such as http://127.0.0.1:4566. Queue URLs start with BaseURL.
	BaseURL string
	// StackName is the value of AWS::StackName and the prefix of most physical names.
	StackName string
}

// Load reads a template file and resolves it. If the template contains an error or anything unsupported, Load returns
// the first such error, in the form "<file>:<line>: <logical id>: <what>".
func Load(file string, o Options) (*Template, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the file is named by whoever starts the runner
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := load(text, o)
	if refusal, ok := errors.AsType[*lineError](err); ok {
		return nil, fmt.Errorf("%s:%d: %w", file, refusal.line, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func load(text []byte, o Options) (*Template, error) {
	d, err := parse(text, serverless)
	if err != nil {
		return nil, err
	}
	values, err := newResolver(d, o)
	if err != nil {
		return nil, err
	}
	present, err := presentResources(d, values, understoodType)
	if err != nil {
		return nil, err
	}
	b := builder{
		values: values, template: &Template{Outputs: map[string]string{}}, roles: map[string]role{},
		gateway: map[string]role{},
	}
	for _, r := range present {
		if err := b.add(r); err != nil {
			return nil, in(r.id, err)
		}
	}
	if err := b.link(); err != nil {
		return nil, err
	}
	return b.template, b.outputs(d.outputs)
}

func newResolver(d *document, o Options) (*resolver, error) {
	parameters, err := parameterValues(d.parameters, o)
	if err != nil {
		return nil, err
	}
	values := &resolver{
		stack: o.StackName, baseURL: o.BaseURL, parameters: parameters, conditions: d.conditions, decided: map[string]bool{},
	}
	return values, values.decideAll()
}

// presentResources returns the resources whose Condition is true, with Globals merged in. Only these resources are
// added to values, so references to any other resource are rejected.
func presentResources(d *document, values *resolver, understood func(kind string) bool) ([]resource, error) {
	var present []resource
	declared := map[string]string{}
	for _, r := range d.resources {
		if !understood(r.kind) {
			return nil, in(r.id, refuse(r.line, "the resource type %s is not understood", r.kind))
		}
		if r.condition != nil {
			holds, err := values.holds(r.condition)
			if err != nil {
				return nil, in(r.id, err)
			}
			if !holds {
				continue
			}
		}
		declared[r.id] = r.kind
		r.properties = withGlobals(d.globals, r.kind, r.properties)
		present = append(present, r)
	}
	values.resources = declared
	return present, values.readChosen(present)
}

// outputs resolves the Outputs section, except outputs whose Condition is false.
func (b *builder) outputs(section []entry) error {
	for _, e := range section {
		o := read(e.value, e.line)
		o.ignore("Description")
		condition := o.take("Condition")
		value := o.take("Value")
		if err := o.end(); err != nil {
			return in(e.key, err)
		}
		if condition != nil {
			holds, err := b.values.holds(condition)
			if err != nil {
				return in(e.key, err)
			}
			if !holds {
				continue
			}
		}
		if value == nil {
			return in(e.key, refuse(e.value.Line, "Value is missing"))
		}
		text, err := b.values.text(value)
		if err != nil {
			return in(e.key, err)
		}
		b.template.Outputs[e.key] = text
	}
	return nil
}

// lineError is an error at a line of the template, with the resource's logical ID if it concerns one.
type lineError struct {
	line     int
	id, text string
}

// Error omits the line number, which Load adds after the file name.
func (e *lineError) Error() string {
	if e.id == "" {
		return e.text
	}
	return e.id + ": " + e.text
}

func refuse(line int, format string, args ...any) error {
	return &lineError{line: line, text: fmt.Sprintf(format, args...)}
}

// in adds the logical ID to a lineError that lacks one.
func in(id string, err error) error {
	if refusal, ok := errors.AsType[*lineError](err); ok && refusal.id == "" {
		return &lineError{line: refusal.line, id: id, text: refusal.text}
	}
	return err
}

type entry struct {
	key   string
	line  int
	value *yaml.Node
}

// entries returns a mapping's entries in file order, or nil if n is nil.
func entries(n *yaml.Node) []entry {
	if n == nil {
		return nil
	}
	var all []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		all = append(all, entry{n.Content[i].Value, n.Content[i].Line, n.Content[i+1]})
	}
	return all
}
