// Package template reads template.yaml, the SAM template that is the only description of the system, and resolves it
// for one stack: parameters, conditions, Globals, intrinsic functions and physical names. It is strict: a resource
// type, property, event type or function that it does not understand is an error with its line, so that what runs on a
// laptop cannot silently differ from what is deployed.
//
// It creates nothing and runs nothing: provision, gateway and the runner do that from the data given here. It does not
// check the house rules either (infra/test/policy), only what AWS itself would refuse at deployment and what the laptop
// would do differently without a word.
package template

import (
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Options are what a deployment passes beside the file.
type Options struct {
	// Parameters override the defaults of the Parameters section. A CommaDelimitedList is given as "a,b". A name
	// that the template does not declare is an error.
	Parameters map[string]string
	// BaseURL is the address of the embedded AWS, such as http://127.0.0.1:4566. Queue URLs start with it.
	BaseURL string
	// StackName is AWS::StackName and the first part of every physical name.
	StackName string
}

// Load reads the template in file and resolves it. Everything it does not understand is an error of the form
// "<file>:<line>: <logical id>: <what>"; the first one found is returned.
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

// load does the work of Load: each step needs what the one before has found.
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

// newResolver knows the parameters and conditions of a document.
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

// presentResources gives the resources whose Condition holds, with Globals merged in, and makes their names known to
// values, so that references to anything else are refused.
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

// outputs resolves the Outputs section; an output whose Condition does not hold is left out.
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

// lineError is a refusal: the line of the template, the logical id it belongs to (if any) and what is wrong.
type lineError struct {
	line     int
	id, text string
}

// Error leaves the line to Load, which puts it behind the file name.
func (e *lineError) Error() string {
	if e.id == "" {
		return e.text
	}
	return e.id + ": " + e.text
}

// refuse makes a lineError.
func refuse(line int, format string, args ...any) error {
	return &lineError{line: line, text: fmt.Sprintf(format, args...)}
}

// in adds the logical id to a refusal that does not have one yet.
func in(id string, err error) error {
	if refusal, ok := errors.AsType[*lineError](err); ok && refusal.id == "" {
		return &lineError{line: refusal.line, id: id, text: refusal.text}
	}
	return err
}

// entry is one key of a section with its value, in the order of the file.
type entry struct {
	key   string
	line  int
	value *yaml.Node
}

// entries lists the keys of a mapping; a nil node has none.
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
